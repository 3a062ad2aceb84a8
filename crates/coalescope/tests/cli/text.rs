//! The report for people.

use crate::common::{Captures, coalescope, demo, stderr, stdout};

#[test]
fn of_story_e() {
    insta::assert_snapshot!(demo("hyperv-rsc-jumbo"));
}

#[test]
fn of_random_loss() {
    insta::assert_snapshot!(demo("random-loss"));
}

#[test]
fn of_story_d() {
    insta::assert_snapshot!(demo("ipvs-gro-vip"));
}

#[test]
fn of_merging_as_it_should_be() {
    insta::assert_snapshot!(demo("healthy-gro"));
}

#[test]
fn of_two_transfers_side_by_side() {
    let captures = Captures::of("ipvs-gro-vip");
    captures.write(
        "DIRECT.pcap",
        &crate::common::simulated("ipvs-gro-direct").points[0].bytes,
    );
    let output = captures.trace(&["--compare", "DIRECT.pcap", "VIP=CLIENT.pcap"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn no_story_is_wider_than_the_page_or_coloured() {
    for story in coalescope_simulate::stories() {
        let report = demo(story.name);
        let widest = report.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{}:\n{report}", story.name);
        assert!(!report.contains('\u{1b}'), "{}", story.name);
    }
}

#[test]
fn demo_says_what_it_made_and_keeps_it() {
    let captures = Captures::of("ipvs-gro-direct");
    let kept = captures.path().join("it's kept");
    let output = coalescope()
        .args(["demo", "--keep"])
        .arg(&kept)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("CAP-01, CAP-02, VM-01"),
        "{}",
        stderr(&output)
    );
    let command = stderr(&output);
    let command = command.lines().find(|line| line.starts_with("$ ")).unwrap();
    let order =
        ["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"].map(|name| command.find(name).unwrap());
    assert!(order.is_sorted(), "{command}");
    assert!(command.contains(r"it'\''s kept"), "{command}");
    assert!(kept.join("CAP-01.pcap").is_file());
}

#[test]
fn connections_beyond_the_limit_are_counted() {
    let captures = Captures::of("ipvs-gro-direct");
    let all = captures.trace(&["--connections", "0", "CLIENT.pcap"]);
    assert!(stdout(&all).contains("#0 192.0.2.10"));
    assert!(!stdout(&all).contains("more left out"));
}

#[test]
fn warnings_come_before_the_result_and_are_not_said_twice() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("cut.pcap", &whole[..whole.len() - 10]);
    let output = captures.trace(&["cut.pcap"]);
    assert!(
        stdout(&output).starts_with("warning: cut: cut.pcap: "),
        "{}",
        stdout(&output)
    );
    assert_eq!(stderr(&output), "");
}
