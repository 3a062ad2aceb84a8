//! Exit codes, and what is said when something is wrong.

use crate::common::{Captures, coalescope, stderr, stdout};

/// Runs `trace` and gives what it complains of.
fn refused(captures: &Captures, arguments: &[&str]) -> String {
    let output = captures.trace(arguments);
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    complaint
}

#[test]
fn a_healthy_capture_is_0_and_a_finding_is_1() {
    let healthy = Captures::of("healthy-gro").trace(&["WIRE.pcap", "CLIENT.pcap"]);
    assert_eq!(healthy.status.code(), Some(0));
    let hurt =
        Captures::of("hyperv-rsc-jumbo").trace(&["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"]);
    assert_eq!(hurt.status.code(), Some(1));
}

#[test]
fn every_file_that_cannot_be_opened_is_named() {
    let captures = Captures::of("ipvs-gro-direct");
    captures.write("notes.txt", b"this is not a capture");
    captures.write("empty.pcap", b"");
    let complaint = refused(
        &captures,
        &["CLIENT.pcap", "nix.pcap", "A=notes.txt", ".", "empty.pcap"],
    );
    for part in [
        "nix.pcap: ",
        "notes.txt is not a capture",
        ". is a directory",
        "empty.pcap is empty",
    ] {
        assert!(complaint.contains(part), "{part} is not in:\n{complaint}");
    }
    assert_eq!(complaint.lines().count(), 4, "{complaint}");
    assert!(complaint.lines().all(|line| line.starts_with("error: ")));
}

/// Taken at another time, or of other traffic: a table of zeros would say that nothing is lost.
#[test]
fn points_without_a_connection_in_common_are_named_before_the_verdict() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("LATER.pcap", &whole[..24]);
    let output = captures.trace(&["CLIENT.pcap", "LATER.pcap"]);
    let said = stdout(&output);
    let warning = "warning: CLIENT and LATER have no connection in common";
    assert!(said.starts_with(warning), "{said}");
    assert!(!said.contains("Hops:"), "{said}");
}

#[test]
fn a_file_that_ends_too_early_is_told_of_once() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("cut.pcap", &whole[..whole.len() - 10]);
    let said = stdout(&captures.trace(&["cut.pcap"]));
    assert!(said.starts_with("warning: "), "{said}");
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
}

#[test]
fn a_directory_is_answered_with_what_to_do() {
    let captures = Captures::of("ipvs-gro-direct");
    let complaint = refused(&captures, &["."]);
    assert!(complaint.contains("./*.pcap"), "{complaint}");
}

#[test]
fn usage_errors() {
    let captures = Captures::of("ipvs-gro-direct");
    let cases: [(&[&str], &str); 7] = [
        (&[], "required"),
        (&["-", "-"], "standard input can be read only once"),
        (&["A=", "CLIENT.pcap"], "NAME=FILE"),
        (&["--compare", "CLIENT.pcap"], "give two captures"),
        (
            &["--compare", "--points-by-interface", "CLIENT.pcap"],
            "cannot be used with",
        ),
        (&["--threads", "0", "CLIENT.pcap"], "0"),
        (
            &["--points-by-interface", "CLIENT.pcap", "CLIENT.pcap"],
            "one capture",
        ),
    ];
    for (arguments, part) in cases {
        let complaint = refused(&captures, arguments);
        assert!(complaint.contains(part), "{arguments:?}:\n{complaint}");
    }
}

#[test]
fn comparing_needs_a_transfer_in_each() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("none.pcap", &whole[..24]);
    let complaint = refused(&captures, &["--compare", "CLIENT.pcap", "none.pcap"]);
    assert!(complaint.contains("nothing to compare"), "{complaint}");
}

#[test]
fn an_unknown_story() {
    let output = coalescope().args(["demo", "atlantis"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`coalescope lab list` lists them all"));
}

#[test]
fn a_capture_without_a_connection_is_reported() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("none.pcap", &whole[..24]);
    let output = captures.trace(&["none.pcap"]);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        stderr(&output)
    );
    assert!(!output.stdout.is_empty());
}

#[test]
fn names_with_an_equals_sign_that_exist_are_files() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("run=1.pcap", &whole);
    let output = captures.trace(&["run=1.pcap"]);
    assert!(crate::common::stdout(&output).contains("run=1: 35 frames"));
}
