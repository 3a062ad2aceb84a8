//! What the command says about itself.

use crate::common::{coalescope, stdout};

fn help(arguments: &[&str]) -> String {
    let output = coalescope().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    stdout(&output)
}

#[test]
fn of_the_command() {
    insta::assert_snapshot!(help(&["--help"]));
}

#[test]
fn of_trace() {
    insta::assert_snapshot!(help(&["trace", "--help"]));
}

#[test]
fn of_check() {
    insta::assert_snapshot!(help(&["check", "--help"]));
}

#[test]
fn of_diagnose() {
    insta::assert_snapshot!(help(&["diagnose", "--help"]));
}

#[test]
fn of_collect() {
    insta::assert_snapshot!(help(&["collect", "--help"]));
}

#[test]
fn of_rules() {
    insta::assert_snapshot!(help(&["rules", "--help"]));
}

#[test]
fn of_ab() {
    insta::assert_snapshot!(help(&["ab", "--help"]));
}

#[test]
fn of_fix() {
    insta::assert_snapshot!(help(&["fix", "--help"]));
}

#[test]
fn of_undo() {
    insta::assert_snapshot!(help(&["undo", "--help"]));
}

#[test]
fn of_replay() {
    insta::assert_snapshot!(help(&["replay", "--help"]));
}

#[test]
fn of_digest() {
    insta::assert_snapshot!(help(&["digest", "--help"]));
}

#[test]
fn of_watch() {
    insta::assert_snapshot!(help(&["watch", "--help"]));
}

#[test]
fn of_export() {
    insta::assert_snapshot!(help(&["export", "--help"]));
}

#[test]
fn of_web() {
    insta::assert_snapshot!(help(&["web", "--help"]));
}

#[test]
fn of_lab() {
    insta::assert_snapshot!(help(&["lab", "--help"]));
}

#[test]
fn of_lab_run() {
    insta::assert_snapshot!(help(&["lab", "run", "--help"]));
}

#[test]
fn of_lab_wire() {
    insta::assert_snapshot!(help(&["lab", "wire", "--help"]));
}

#[test]
fn of_demo() {
    insta::assert_snapshot!(help(&["demo", "--help"]));
}

#[test]
fn the_definition_is_sound() {
    use clap::CommandFactory;
    coalescope::Cli::command().debug_assert();
}

#[test]
fn demo_lists_every_story() {
    let list = help(&["demo", "list"]);
    assert_eq!(list, help(&["demo", "--list"]));
    assert_eq!(
        list,
        help(&["lab", "list"]),
        "demo and lab know the same names"
    );
    for story in coalescope_simulate::stories() {
        assert!(list.contains(story.name), "{} is not listed", story.name);
    }
}
