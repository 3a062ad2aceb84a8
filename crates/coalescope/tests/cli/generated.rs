//! Completions and manual pages.

use std::fs;
use std::process::Command;

use clap::CommandFactory;
use coalescope::Cli;

use crate::common::{coalescope, stdout};

fn completions(shell: &str) -> String {
    let output = coalescope().args(["completions", shell]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    stdout(&output)
}

/// Commands that are shown in help, and theirs.
fn commands(command: &clap::Command, name: &str, found: &mut Vec<String>) {
    found.push(name.to_owned());
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        commands(sub, &format!("{name}-{}", sub.get_name()), found);
    }
}

#[test]
fn completions_know_commands_and_options_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = completions(shell);
        for word in ["trace", "lab", "points-by-interface", "persist"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        // That of PowerShell completes no values.
        assert!(shell == "powershell" || script.contains("linux-gro"));
    }
}

#[test]
fn a_shell_takes_its_completions() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let file = folder.path().join(shell);
        fs::write(&file, completions(shell)).unwrap();
        if coalescope_needs::programs("a_shell_takes_its_completions", &[shell]) {
            let said = Command::new(shell).arg("-n").arg(&file).output().unwrap();
            assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
        }
    }
}

#[test]
fn every_command_has_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    let output = coalescope()
        .args(["man", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let mut names = Vec::new();
    commands(&Cli::command(), "coalescope", &mut names);
    assert!(
        names.len() > 20 && names.contains(&"coalescope-lab-run".to_owned()),
        "{names:?}"
    );
    for name in &names {
        let page = fs::read_to_string(out.join(format!("{name}.1"))).unwrap();
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(&name.replace('-', "\\-")),
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), names.len());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let output = coalescope()
        .args(["man", "--out", "/dev/null/man1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("cannot make the folder /dev/null/man1"),
        "{said}"
    );
}
