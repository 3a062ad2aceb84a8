//! What holds of each command's text: it keeps within the width, from 60 columns up, and no word is broken; colours, and more or
//! less of what is said beside it, change nothing in it; damage is told first.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use tempfile::TempDir;

use crate::check::director;
use crate::common::{coalescope, simulated, stderr, stdout};

const WIDTHS: [usize; 4] = [60, 80, 100, 140];
/// Where nothing has to be broken.
const WIDE: usize = 4000;

/// Captures, saved hosts, and a place for what is to be found again.
struct Desk {
    folder: TempDir,
    hosts: [TempDir; 2],
}

impl Desk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for story in ["hyperv-rsc-jumbo", "ipvs-gro-vip"] {
            for point in &simulated(story).points {
                let path = folder.path().join(format!("{}.pcap", point.name));
                fs::write(path, &point.bytes).unwrap();
            }
        }
        let whole = fs::read(folder.path().join("VM-01.pcap")).unwrap();
        fs::write(folder.path().join("cut.pcap"), &whole[..whole.len() - 10]).unwrap();
        fs::write(folder.path().join("watch.jsonl"), crate::watch::RECORD).unwrap();
        let hosts = [
            director("lvs1", ["on", "off"]),
            director("lvs2", ["on", "on"]),
        ];
        Self { folder, hosts }
    }

    fn at(&self, width: usize, arguments: &[&str]) -> Output {
        let mut command = coalescope();
        command.env("COLUMNS", width.to_string());
        command.env("COALESCOPE_STATE", self.folder.path().join("state"));
        command.current_dir(self.folder.path()).args(arguments);
        command.output().unwrap()
    }

    /// A line of arguments for each way in which a command prints for people.
    fn commands(&self) -> Vec<Vec<&str>> {
        let [one, two] = [0, 1].map(|n| self.hosts[n].path().to_str().unwrap());
        let points = ["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"];
        let mut commands = vec![
            [&["trace"], &points[..]].concat(),
            vec!["trace", "-v", "cut.pcap"],
            vec!["trace", "--compare", "VM-01.pcap", "VIP=CLIENT.pcap"],
            vec!["check", "--from", one],
            vec!["check", "--from", one, "--from", two],
            [&["diagnose", "--from", one], &points[..]].concat(),
            vec!["replay", "CAP-01.pcap", "--profile", "linux-gro"],
            vec!["watch", "--replay", "watch.jsonl"],
            vec!["rules", "list"],
            vec!["schema"],
            vec!["demo", "hyperv-rsc-jumbo"],
            vec!["lab", "list"],
            vec!["lab", "run", "--simulated", "openstack-gro"],
        ];
        if cfg!(target_os = "linux") {
            commands.extend([
                vec!["fix", "--from", one],
                vec!["undo"],
                vec!["undo", "--list"],
            ]);
        }
        commands
    }
}

/// What a result says, without what a width may change: drawings, and commands, which stay whole.
fn prose(text: &str) -> Vec<&str> {
    let mut is_block = false;
    let lines = text.lines().filter(|line| {
        let is_command = is_block && line.starts_with("      ");
        is_block = is_command || line.ends_with(':');
        !is_command && !line.starts_with("    |")
    });
    lines.collect()
}

/// Lines that do not fit, though they could be broken.
fn too_long<'a>(lines: &[&'a str], width: usize) -> Vec<&'a str> {
    let long = |line: &&&str| line.chars().count() > width && line.trim().contains(' ');
    lines.iter().filter(long).copied().collect()
}

/// Where a table does not fit its cells are listed, with commas.
fn words<'a>(lines: &[&'a str]) -> BTreeSet<&'a str> {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let words = words.map(|word| word.trim_end_matches([',', ';', ':']));
    words.collect()
}

/// Without the time that was measured, in the last column, which is another one in each run of the lab.
fn comparable(arguments: &[&str], text: &str) -> String {
    if !arguments.starts_with(&["lab", "run"]) {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| {
        let untimed = line.trim_end_matches(|c: char| c.is_ascii_digit() || ". mus".contains(c));
        untimed.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn results_fit_every_width_and_their_words_stay_whole() {
    let desk = Desk::new();
    for arguments in desk.commands() {
        let wide = desk.at(WIDE, &arguments);
        assert!(wide.status.code() < Some(2), "{}", stderr(&wide));
        let whole = comparable(&arguments, &stdout(&wide));
        assert!(!whole.is_empty(), "{arguments:?}");
        let whole = words(&prose(&whole));
        for width in WIDTHS {
            let narrow = desk.at(width, &arguments);
            assert_eq!(narrow.status, wide.status, "{arguments:?} at {width}");
            let said = stdout(&narrow);
            let long = too_long(&prose(&said), width);
            assert!(long.is_empty(), "{arguments:?} at {width}: {long:#?}");
            let said = comparable(&arguments, &said);
            let words = words(&prose(&said));
            let broken: Vec<_> = words.difference(&whole).collect();
            assert!(broken.is_empty(), "{arguments:?} at {width}: {broken:?}");
        }
    }
}

/// Without what switches a colour: from an escape to the next `m`.
fn uncoloured(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').unwrap().1);
    std::iter::once(first).chain(rest).collect()
}

#[test]
fn colours_and_options_of_speech_leave_the_text_as_it_is() {
    let desk = Desk::new();
    for arguments in desk.commands() {
        let with = |option: &[&str]| desk.at(100, &[&arguments[..], option].concat());
        let text = |output: &Output| comparable(&arguments, &stdout(output));
        let usual = with(&[]);
        let plain = with(&["--color", "never"]);
        assert_eq!(text(&plain), text(&usual), "{arguments:?}");
        let coloured = with(&["--color=always"]);
        assert_eq!(coloured.status, usual.status, "{arguments:?}");
        let coloured = uncoloured(&stdout(&coloured));
        assert_eq!(comparable(&arguments, &coloured), text(&usual));
        if !arguments.contains(&"-v") {
            let verbose = with(&["--verbose"]);
            assert_eq!(text(&verbose), text(&usual), "{arguments:?}");
            let quiet = with(&["--quiet"]);
            assert_eq!(quiet.status, usual.status, "{arguments:?}");
            assert_eq!(stderr(&quiet), "", "{arguments:?}");
            assert!(quiet.stdout.len() <= usual.stdout.len(), "{arguments:?}");
        }
    }
}

#[test]
fn damage_is_told_before_the_result() {
    let desk = Desk::new();
    let host = desk.hosts[0].path().to_str().unwrap();
    let commands: [&[&str]; 3] = [
        &["trace", "cut.pcap"],
        &["diagnose", "--from", host, "cut.pcap"],
        &["replay", "cut.pcap", "--profile", "linux-gro"],
    ];
    for arguments in commands {
        let said = stdout(&desk.at(100, arguments));
        let warned = said.find("ends in the middle of a record");
        assert!(said.starts_with("warning: "), "{arguments:?}: {said}");
        let before = warned.is_some() && warned < said.find("\n\n");
        assert!(before, "{arguments:?}: {said}");
    }
}
