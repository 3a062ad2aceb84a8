//! Captures kept as an archive, and traced together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Captures, coalescope, stderr, stdout};

fn digest(captures: &Captures, arguments: &[&str]) -> Output {
    let mut command = coalescope();
    command.current_dir(captures.path()).arg("digest");
    command.args(arguments).output().unwrap()
}

fn json(captures: &Captures, arguments: &[&str]) -> String {
    let output = captures.trace(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.code() < Some(2), "{}", stderr(&output));
    stdout(&output)
}

/// Files with rows.
fn rows(archive: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path())
    };
    entries(archive.join("rows")).flat_map(entries).collect()
}

#[test]
fn an_archive_is_traced_as_its_captures_are() {
    for story in ["hyperv-rsc-jumbo", "openstack-gro", "healthy-gro"] {
        let captures = Captures::of(story);
        let mut files: Vec<String> = fs::read_dir(captures.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let output = digest(&captures, &[&files[..], &["--out", "archive"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert_eq!(json(&captures, &files), json(&captures, &["archive"]));
    }
}

/// As a shell sorts the files of a ring, or a ring that came round.
#[test]
fn files_of_a_point_are_digested_in_order_of_time_however_they_are_given() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let mut later = fs::read(captures.path().join("CAP-02.pcap")).unwrap();
    later[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
    captures.write("later.pcap", &later);
    for (files, warns) in [
        (["A=CAP-02.pcap", "A=later.pcap"], false),
        (["A=later.pcap", "A=CAP-02.pcap"], true),
    ] {
        let out = if warns { "turned" } else { "given" };
        let output = digest(&captures, &[&files[..], &["--out", out]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(
            stderr(&output).contains("order of time"),
            warns,
            "{}",
            stderr(&output)
        );
    }
    assert_eq!(json(&captures, &["given"]), json(&captures, &["turned"]));
}

#[test]
fn what_cannot_be_right_is_told_before_anything_is_written() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let path = |name: &str| captures.path().join(name);
    let bytes = fs::read(path("CAP-02.pcap")).unwrap();
    let mut cooked = bytes.clone();
    cooked[20] = 113;
    captures.write("cooked.pcap", &cooked);
    let refused = |files: &[&str], wanted: &[&str]| {
        let output = digest(&captures, &[files, &["--out", "archive"]].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(wanted.iter().all(|part| said.contains(part)), "{said}");
        assert_eq!(rows(&path("archive")), Vec::<PathBuf>::new());
    };
    refused(
        &["A=CAP-02.pcap", "A=cooked.pcap"],
        &["two link types", "cooked.pcap of 113"],
    );
    refused(
        &["A=CAP-02.pcap", "A=none.pcap", "A=no.pcap"],
        &["none.pcap", "no.pcap"],
    );
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let captures = Captures::of("healthy-gro");
    let output = digest(&captures, &["CAP-01.pcap", "--out", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not empty"), "{}", stderr(&output));
}

/// A digest that was stopped, or rows that were lost, make no other answer.
#[test]
fn half_an_archive_is_none() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let files = ["CAP-02.pcap", "--out", "archive", "--shards", "2"];
    assert_eq!(digest(&captures, &files).status.code(), Some(0));
    let archive = captures.path().join("archive");
    fs::remove_file(&rows(&archive)[0]).unwrap();
    let output = captures.trace(&["archive"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("frames are missing"), "{said}");
    fs::remove_file(archive.join("files.parquet")).unwrap();
    assert_eq!(captures.trace(&["archive"]).status.code(), Some(2));
}
