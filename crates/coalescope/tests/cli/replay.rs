//! `coalescope replay`.

use std::process::Output;

use crate::common::{Captures, coalescope, simulated, stderr, stdout};

fn replay(captures: &Captures, arguments: &[&str]) -> Output {
    let mut command = coalescope();
    command.current_dir(captures.path()).arg("replay");
    command.args(arguments).output().unwrap()
}

/// Runs it and gives what it complains of.
fn refused(captures: &Captures, arguments: &[&str]) -> String {
    let output = replay(captures, arguments);
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    complaint
}

#[test]
fn in_text() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let output = replay(&captures, &["CAP-01.pcap", "--profile", "linux-gro"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn of_what_was_merged_already() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let output = replay(&captures, &["CAP-02.pcap", "--profile", "freebsd-lro"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn in_json() {
    let captures = Captures::of("ipvs-gro-direct");
    let arguments = ["CLIENT.pcap", "--profile", "ndis-rsc", "--format", "json"];
    let output = replay(&captures, &arguments);
    let text = stdout(&output);
    insta::assert_snapshot!(text);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "coalescope/replay/1");
    let names = [
        "schema",
        "profile",
        "frames_in",
        "frames_out",
        "merged_frames",
        "merge_factor_mean",
        "reversible",
        "reasons",
        "connections",
    ];
    let places = names.map(|name| text.find(&format!("\n  \"{name}\": ")).unwrap());
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn no_report_is_wider_than_the_page() {
    for profile in ["linux-gro", "freebsd-lro", "wireguard"] {
        for point in &simulated("vxlan").points {
            let captures = Captures::of("ipvs-gro-direct");
            captures.write("x.pcap", &point.bytes);
            let text = stdout(&replay(&captures, &["x.pcap", "--profile", profile]));
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(100), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }
}

#[test]
fn what_was_written_merges_no_further() {
    let captures = Captures::of("healthy-gro");
    let slow = [
        "--profile",
        "linux-gro",
        "--interval-us",
        "500",
        "--format",
        "json",
    ];
    let first = [&slow[..], &["WIRE.pcap", "--write", "out.pcapng"]].concat();
    let document = |output: &Output| -> serde_json::Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let first = document(&replay(&captures, &first));
    assert!(first["merged_frames"].as_u64() > Some(100));
    let second = document(&replay(&captures, &[&slow[..], &["out.pcapng"]].concat()));
    assert_eq!(second["frames_in"], first["frames_out"]);
    assert_eq!(second["frames_out"], first["frames_out"]);
    assert_eq!(second["merged_frames"], 0);
}

#[test]
fn a_pipe_says_the_same_as_the_file() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    let mut command = coalescope();
    command.args(["replay", "-", "--profile", "linux-gro"]);
    let piped = command.write_stdin(whole).output().unwrap();
    let file = replay(&captures, &["CLIENT.pcap", "--profile", "linux-gro"]);
    assert_eq!(stdout(&piped), stdout(&file));
}

#[test]
fn the_capture_is_not_overwritten() {
    let captures = Captures::of("ipvs-gro-direct");
    let before = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    let arguments = ["CLIENT.pcap", "--profile", "linux-gro", "--write"];
    for output in ["CLIENT.pcap", "./CLIENT.pcap"] {
        let complaint = refused(&captures, &[&arguments[..], &[output]].concat());
        assert!(complaint.contains("name another file"), "{complaint}");
    }
    let after = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    assert!(before == after);
}

#[test]
fn usage_errors() {
    let captures = Captures::of("ipvs-gro-direct");
    let cases: [(&[&str], &str); 7] = [
        (&["CLIENT.pcap"], "--profile"),
        (&["CLIENT.pcap", "--profile", "atlantis"], "linux-gro-udp"),
        (&["--profile", "linux-gro"], "FILE"),
        (&["nix.pcap", "--profile", "linux-gro"], "nix.pcap"),
        (&[".", "--profile", "linux-gro"], "is a directory"),
        (
            &["CLIENT.pcap", "--profile", "linux-gro", "--write", "-"],
            "standard output",
        ),
        (
            &["CLIENT.pcap", "--profile", "linux-gro", "--write", "no/x"],
            "cannot create no/x",
        ),
    ];
    for (arguments, part) in cases {
        let complaint = refused(&captures, arguments);
        assert!(complaint.contains(part), "{arguments:?}:\n{complaint}");
    }
}

#[test]
fn what_cannot_be_read_costs_no_other_file() {
    let captures = Captures::of("ipvs-gro-direct");
    captures.write("precious", b"x");
    let arguments = ["nix.pcap", "--profile", "linux-gro", "--write", "precious"];
    refused(&captures, &arguments);
    assert_eq!(
        std::fs::read(captures.path().join("precious")).unwrap(),
        b"x"
    );
}

#[test]
fn damage_is_reported() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("cut.pcap", &whole[..whole.len() - 10]);
    let text = replay(&captures, &["cut.pcap", "--profile", "linux-gro"]);
    assert_eq!(text.status.code(), Some(0));
    assert!(stdout(&text).starts_with("warning: the file ends in the middle"));
    let json = ["cut.pcap", "--profile", "linux-gro", "--format", "json"];
    let json = replay(&captures, &json);
    assert!(stderr(&json).starts_with("warning: the file ends"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let captures = Captures::of("healthy-gro");
    let arguments = [
        "WIRE.pcap",
        "--profile",
        "linux-gro",
        "--write",
        "/dev/full",
    ];
    let complaint = refused(&captures, &arguments);
    assert!(
        complaint.contains("cannot write to /dev/full"),
        "{complaint}"
    );
}
