//! The documents say what the program does: their examples run and print what they show, their
//! tables have every field, finding and threshold, their links lead somewhere.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod corpora;
mod links;
mod named;
#[cfg(unix)]
mod pages;
mod pictures;
mod snapshots;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use clap::Parser;
use coalescope_simulate::{run, story};
use serde_json::Value;
use tempfile::TempDir;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// What stands in the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == fence {
            let block = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(block.map(|line| format!("{line}\n")).collect());
        } else if line.starts_with("```") {
            lines
                .by_ref()
                .take_while(|line| *line != "```")
                .for_each(drop);
        }
    }
    blocks
}

fn coalescope() -> Command {
    let mut command = Command::cargo_bin("coalescope").unwrap();
    command.env_remove("NO_COLOR");
    command
}

/// A directory with the captures that README's examples name.
fn captures() -> TempDir {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    };
    let incident = run(&story("hyperv-rsc-jumbo").unwrap());
    for point in &incident.points {
        write(&format!("{}.pcap", point.name), &point.bytes);
    }
    write("bridge.pcapng", &incident.combined());
    let hypervisor = run(&story("openstack-gro").unwrap());
    for (point, file) in hypervisor.points.iter().zip(["UPLINK.pcap", "VM.pcap"]) {
        write(file, &point.bytes);
    }
    for (file, name) in [("direct", "ipvs-gro-direct"), ("vip", "ipvs-gro-vip")] {
        let transfer = run(&story(name).unwrap());
        write(&format!("{file}.pcap"), &transfer.points[0].bytes);
    }
    for (host, gro) in [("lb1", "off"), ("lb2", "on")] {
        write_director(&directory.path().join(host), gro);
    }
    directory
}

/// An IPVS director of story D, as a folder of what its commands printed.
fn write_director(folder: &Path, gro: &str) {
    std::fs::create_dir(folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "uname",
        "Linux lb 2.6.32-220.el6.x86_64 #1 SMP Wed Nov 9 08:03:13 EST 2011 x86_64 GNU/Linux\n",
    );
    write(
        "features",
        &format!("Features for eth0:\nrx-checksumming: on\ngeneric-receive-offload: {gro}\n"),
    );
    write(
        "services",
        "IP Virtual Server version 1.2.1 (size=4096)\n\
        Prot LocalAddress:Port Scheduler Flags\n  \
        -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\n\
        TCP  192.0.2.80:80 wlc\n  -> 10.0.0.11:80                 Masq    1      0          0\n",
    );
}

#[test]
fn the_examples_in_the_readme_run() {
    let directory = captures();
    let readme = read("README.md");
    let commands: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("coalescope "))
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let output = coalescope()
            .current_dir(directory.path())
            .args(&arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        match arguments[0] {
            "replay" => assert_eq!(code, Some(0), "{command}\n{errors}"),
            // Whatever machine this is.
            "check" if !arguments.contains(&"--from") => {
                assert!(code < Some(2), "{command}\n{errors}");
            }
            _ => assert_eq!(code, Some(1), "{command}\n{errors}"),
        }
        assert_eq!(errors, "", "{command}");
    }
}

#[test]
fn what_is_piped_in_the_readme_is_understood() {
    let readme = read("README.md");
    let piped: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.split_once("| coalescope "))
        .map(|(_, arguments)| arguments)
        .collect();
    assert!(!piped.is_empty());
    for arguments in piped {
        let words = std::iter::once("coalescope").chain(arguments.split(' '));
        assert!(
            coalescope::Cli::try_parse_from(words).is_ok(),
            "{arguments}"
        );
    }
}

#[test]
fn the_readme_counts_the_stories_and_is_short() {
    let readme = read("README.md");
    let list = coalescope().args(["demo", "list"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let n = list.lines().filter(|line| !line.starts_with(' ')).count();
    assert!(readme.contains(&format!("lists {n} incidents")), "{n}");
    assert!(readme.lines().count() <= 150);
}

/// Words of a document in backquotes, also those that several share.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

fn names(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                into.insert(name.clone());
                names(value, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, into)),
        _ => {}
    }
}

#[test]
fn every_json_field_is_documented() {
    let directory = captures();
    let mut found = BTreeSet::new();
    for arguments in [
        &["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"][..],
        &["--compare", "direct.pcap", "vip.pcap"],
    ] {
        let output = coalescope()
            .current_dir(directory.path())
            .args(["trace", "--format", "json"])
            .args(arguments)
            .output()
            .unwrap();
        names(&serde_json::from_slice(&output.stdout).unwrap(), &mut found);
    }
    let reference = read("docs/trace-json.md");
    let documented = quoted(&reference);
    let missing: Vec<_> = found
        .iter()
        .filter(|name| !documented.contains(name.as_str()))
        .collect();
    assert!(found.len() > 50, "{found:?}");
    assert!(missing.is_empty(), "not in docs/trace-json.md: {missing:?}");
}

#[test]
fn every_role_is_documented() {
    let reference = read("docs/check.md");
    let documented = quoted(&reference);
    for role in coalescope_host::roles::RoleName::ALL {
        assert!(documented.contains(role.name()), "{}", role.name());
    }
}

#[test]
fn the_example_of_a_replay_is_what_it_prints() {
    let output = coalescope()
        .current_dir(captures().path())
        .args(["replay", "CAP-01.pcap", "--profile", "linux-gro"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(blocks(&read("docs/replay.md"), "text"), [said]);
}

#[test]
fn every_profile_is_documented() {
    let reference = read("docs/replay.md");
    let documented = quoted(&reference);
    for profile in gro::Profile::ALL {
        assert!(documented.contains(profile.name), "{}", profile.name);
    }
}

/// Options that have a place of their own.
const OF_EVERY_COMMAND: [&str; 3] = ["--color", "--quiet", "--verbose"];

#[test]
fn options_of_every_command_are_documented() {
    let forms = read("docs/formats.md");
    let documented = quoted(&forms);
    for option in OF_EVERY_COMMAND {
        let mut names = documented.iter();
        assert!(names.any(|name| name.starts_with(option)), "{option}");
    }
}

#[test]
fn every_option_is_documented() {
    for (command, known, document) in [
        ("trace", "--compare", "docs/trace.md"),
        ("replay", "--interval-us", "docs/replay.md"),
        ("ab", "--set", "docs/experiments.md"),
        ("fix", "--persist", "docs/experiments.md"),
        ("undo", "--forget", "docs/experiments.md"),
        ("watch", "--for", "docs/watch.md"),
        ("export", "--listen", "docs/export.md"),
        ("web", "--folder", "docs/web.md"),
    ] {
        let output = coalescope().args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let reference = read(document);
        let options: BTreeSet<&str> = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .flat_map(|line| line.split(|c: char| c.is_whitespace() || c == ','))
            .filter(|word| word.len() > 2 && word.starts_with("--") && *word != "--help")
            .filter(|word| !OF_EVERY_COMMAND.contains(word))
            .collect();
        assert!(options.contains(known), "{options:?}");
        for option in options {
            let stands = reference.contains(&format!("| `{option}"));
            assert!(stands, "{option} is not in {document}");
        }
    }
}

#[test]
fn every_finding_has_its_section() {
    let source = read("crates/knowledge/src/finding.rs");
    let reference = read("docs/trace.md");
    let ids: Vec<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \""))
        .filter_map(|(_, rest)| rest.strip_suffix("\","))
        .filter(|id| !["suspected", "observed", "proven"].contains(id))
        .collect();
    assert!(ids.contains(&"merged-frames-lost") && ids.contains(&"healthy"));
    for id in ids {
        let heading = format!("\n### `{id}`\n");
        assert!(reference.contains(&heading), "{id} is not in docs/trace.md");
    }
}

#[test]
fn every_threshold_is_as_in_the_code() {
    let source = read("crates/knowledge/src/thresholds.rs");
    let reference = read("docs/trace.md");
    let constants: Vec<(&str, &str)> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub(crate) const "))
        .filter_map(|line| line.split_once(": "))
        .filter_map(|(name, rest)| Some((name, rest.split_once(" = ")?.1.strip_suffix(';')?)))
        .collect();
    assert!(constants.len() > 15, "{constants:?}");
    for (name, value) in constants {
        let row = format!("| `{name}` | {value} |");
        assert!(reference.contains(&row), "docs/trace.md lacks {row}");
    }
}
