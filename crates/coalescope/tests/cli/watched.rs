//! What was counted, beside what settings let suspect: `check`, `diagnose` and `fix --verify` with a watch.

use std::fs;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::check::folder;
use crate::common::{coalescope, is_as_its_schema_says, stderr, stdout};
use crate::watch::RECORD;

const LINKS: &str = "\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: left: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: right: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
";

const FILTER: &str = "\
table inet filter {
\tchain forward {
\t\ttype filter hook forward priority filter; policy accept;
\t\tmeta length > 2000 drop
\t}
}
";

/// The router of the record, as its commands tell of it; with a rule of its packet filter or without.
fn router(filter: &str) -> TempDir {
    let features = |name: &str| {
        format!(
            "Features for {name}:\ngeneric-receive-offload: on\nlarge-receive-offload: off [fixed]\n"
        )
    };
    let [left, right] = ["left", "right"].map(features);
    let host = folder(&[
        (
            "uname",
            "Linux router 6.12.0-1-amd64 #1 SMP Debian x86_64 GNU/Linux\n",
        ),
        ("links", LINKS),
        ("k0", &left),
        ("k1", &right),
        (
            "sysctl",
            "net.ipv4.ip_forward = 1\nnet.ipv4.tcp_reordering = 3\n",
        ),
        ("nft", filter),
    ]);
    fs::write(host.path().with_extension("jsonl"), RECORD).unwrap();
    host
}

fn asked(command: &str, host: &TempDir, arguments: &[&str]) -> Output {
    let record = host.path().with_extension("jsonl");
    let mut asked = coalescope();
    asked.arg(command).arg("--from").arg(host.path());
    asked.arg("--watched").arg(&record).args(arguments);
    let output = asked.output().unwrap();
    fs::remove_file(record).unwrap();
    output
}

#[test]
fn a_watch_raises_what_settings_let_suspect() {
    let output = asked("check", &router(FILTER), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    insta::assert_snapshot!("filter_that_was_watched", stdout(&output));
    for command in ["check", "diagnose"] {
        let output = asked(command, &router(FILTER), &["--format", "json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        is_as_its_schema_says(command, &document);
        let findings = document["findings"].as_array().unwrap();
        let of_left = findings.iter().filter(|one| one["interface"] == "left");
        let of_left: Vec<_> = of_left.map(|one| (&one["id"], &one["proof"])).collect();
        assert_eq!(
            of_left,
            [(&"length-filter-drops-merged".into(), &"observed".into())]
        );
        assert_eq!(document["watched"][0]["host"], "router");
    }
}

#[test]
fn what_no_setting_explains_stands_by_itself() {
    let output = asked("check", &router(""), &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["findings"][0]["id"], "merged-frames-dropped");
    assert_eq!(document["findings"][0]["proof"], "observed");
}

#[test]
fn a_page_shows_what_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let output = asked("check", &router(FILTER), &["--report", page]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("What was counted"));
}

#[test]
fn a_record_that_is_none_is_named() {
    let host = router(FILTER);
    let record = host.path().with_extension("jsonl");
    fs::write(&record, "{}").unwrap();
    let output = asked("check", &host, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("line 1 is no look"),
        "{}",
        stderr(&output)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn what_holds_is_watched_as_well() {
    let state = tempfile::tempdir().unwrap();
    let mut command = coalescope();
    command.env("COALESCOPE_STATE", state.path());
    command.args(["fix", "--verify", "--watch", "200ms", "--format", "json"]);
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("fix", &document);
    let took = document["watched"]["watched"]["took_s"].as_f64().unwrap();
    assert!(took >= 0.2, "{took}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_check_of_this_host_counts_for_as_long_as_asked() {
    let mut command = coalescope();
    command.args(["check", "--watch", "200ms", "--format", "json"]);
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("check", &document);
    assert_eq!(document["watched"].as_array().unwrap().len(), 1);
}
