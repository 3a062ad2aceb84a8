//! Captures kept as an archive, and traced together.

use std::fs;
use std::io::Write as _;
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
    let given = json(&captures, &["A=CAP-02.pcap", "A=later.pcap"]);
    assert_eq!(json(&captures, &["given"]), given);
    // The archive knows how its captures were given, and what is said of that.
    let turned = json(&captures, &["A=later.pcap", "A=CAP-02.pcap"]);
    assert!(turned.contains("not given in order of time"));
    assert_eq!(json(&captures, &["turned"]), turned);
}

/// The frames of a capture that is given twice would all seem to be sent again.
#[test]
fn copies_of_a_capture_are_refused_by_name() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let bytes = fs::read(captures.path().join("CAP-01.pcap")).unwrap();
    captures.write("copy.pcap", &bytes);
    captures.write("earlier.pcap", &bytes[..bytes.len() / 2]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes).unwrap();
    captures.write("copy.pcap.gz", &packed.finish().unwrap());
    for copy in [
        "CAP-01.pcap",
        "./CAP-01.pcap",
        "copy.pcap",
        "earlier.pcap",
        "copy.pcap.gz",
    ] {
        let copy = format!("A={copy}");
        let files = ["A=CAP-01.pcap", "B=CAP-02.pcap", &copy];
        let traced = captures.trace(&files);
        let digested = digest(&captures, &[&files[..], &["--out", "archive"]].concat());
        for output in [traced, digested] {
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains("A have the same frames: CAP-01.pcap and "),
                "{said}"
            );
        }
    }
    // Two points may be the same place.
    assert!(
        captures
            .trace(&["A=CAP-01.pcap", "B=copy.pcap"])
            .status
            .code()
            < Some(2)
    );
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

/// Whoever comes second is refused, and whoever came first is not disturbed.
#[test]
fn a_folder_takes_one_digest_at_a_time() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let captures = &captures;
    let files = ["CAP-01.pcap", "CAP-02.pcap"];
    let outputs = std::thread::scope(|scope| {
        let both =
            files.map(|file| scope.spawn(move || digest(captures, &[file, "--out", "archive"])));
        both.map(|output| output.join().unwrap())
    });
    let done: Vec<&str> = files
        .into_iter()
        .zip(&outputs)
        .filter(|(_, output)| output.status.success())
        .map(|(file, _)| file)
        .collect();
    let [file] = done[..] else {
        panic!("{:?}", outputs.map(|output| stderr(&output)));
    };
    assert_eq!(json(captures, &["archive"]), json(captures, &[file]));
}

#[test]
fn a_digest_that_fails_leaves_room_for_another() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    captures.write("nothing.pcap", b"no capture at all");
    let failed = digest(
        &captures,
        &["CAP-01.pcap", "nothing.pcap", "--out", "archive"],
    );
    assert_eq!(failed.status.code(), Some(2));
    let done = digest(&captures, &["CAP-01.pcap", "--out", "archive"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
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
    let named = stderr(&captures.trace(&["A=archive"]));
    assert!(named.contains("give it alone"), "{named}");
    fs::remove_file(archive.join("files.parquet")).unwrap();
    let output = captures.trace(&["archive"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("its digest did not end"), "{said}");
}
