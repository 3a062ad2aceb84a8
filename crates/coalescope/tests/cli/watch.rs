//! `coalescope watch`: what was recorded is told again, here and elsewhere; live, where BPF is allowed.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::common::{coalescope, is_as_its_schema_says, stderr, stdout};

/// Three looks at a router whose firewall drops packets of more than 2,000 bytes.
pub(crate) const RECORD: &str = include_str!("watch/router.jsonl");

fn replay(text: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("router.jsonl");
    fs::write(file, text).unwrap();
    let mut command = coalescope();
    command.current_dir(folder.path());
    command.args(["watch", "--replay", "router.jsonl"]);
    command.args(arguments).output().unwrap()
}

#[test]
fn a_record_in_text() {
    let output = replay(RECORD, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    insta::assert_snapshot!("looks", stderr(&output));
    insta::assert_snapshot!("record_in_text", stdout(&output));
}

#[test]
fn a_record_in_other_forms() {
    let output = replay(RECORD, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("watch", &document);
    assert_eq!(document["findings"][0]["id"], "merged-frames-dropped");
    assert_eq!(document["findings"][0]["proof"], "observed");
    let rows = stdout(&replay(RECORD, &["--format", "csv"]));
    insta::assert_snapshot!("record_as_rows", rows);
    for line in RECORD.lines() {
        is_as_its_schema_says("watch-record", &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn estimates_are_said_to_be_estimates() {
    let sampled = RECORD.replace(
        r#""drops":["#,
        r#""sampling":{"one_in":16,"took_s":4.2},"drops":["#,
    );
    let output = replay(&sampled, &[]);
    assert!(stderr(&output).contains("s: about "));
    let said = stdout(&output);
    assert!(said.starts_with("In 6.00 s about 138 frames were received"));
    let told = "For 4.20 s of 6.00 s frames came too fast";
    assert!(said.contains(told), "{said}");
    assert!(!stdout(&replay(RECORD, &[])).contains("too fast"));
    let output = replay(&sampled, &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("watch", &document);
    assert_eq!(document["sampling"]["one_in"], 16);
}

#[test]
fn only_the_interfaces_that_were_asked_for_are_told() {
    let output = replay(RECORD, &["right"]);
    assert_eq!(
        output.status.code(),
        Some(4),
        "what dies came by left, no merged frame by right"
    );
    let said = stdout(&output);
    assert!(!said.contains("  left "), "{said}");
    assert!(said.contains("  right "), "{said}");
}

/// What dies on its way out by an interface came in by another one, which says how many there were.
#[test]
fn what_died_on_its_way_to_an_interface_is_judged_there_as_well() {
    let at_right = RECORD.replace(
        r#"{"interface":"left","from":"left""#,
        r#"{"interface":"right","from":"left""#,
    );
    let output = replay(&at_right, &["right"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("received on left are dropped"));
}

#[test]
fn an_interface_that_is_not_in_a_record_is_named() {
    let output = replay(RECORD, &["rigth"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(
        said.contains("there is no interface rigth: did you mean right?"),
        "{said}"
    );
}

#[test]
fn numbers_that_no_host_counts_are_no_panic() {
    let most = u64::MAX.to_string();
    let all = with_counts(RECORD, &most);
    for format in ["text", "json", "csv"] {
        let output = replay(&all, &["--format", format]);
        let code = output.status.code();
        assert!(code.is_some_and(|code| code <= 4), "{}", stderr(&output));
    }
}

/// A record whose counts of frames and segments are all this number.
fn with_counts(record: &str, number: &str) -> String {
    let mut parts = record.split("frames\":");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let number = if rest.len() < part.len() { number } else { "" };
        format!("{all}frames\":{number}{rest}")
    })
}

#[test]
fn damage_leaves_what_was_recorded_before() {
    let cut = &RECORD[..RECORD.len() - 40];
    let output = replay(cut, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("warning: router.jsonl: line 3 is no look"),
        "{said}"
    );
    for (text, why) in [
        ("", "there is no look in it"),
        ("{}\n", "line 1 is no look"),
        ("\u{1b}[2J\n", "line 1 is no look"),
    ] {
        let output = replay(text, &[]);
        assert_eq!(output.status.code(), Some(2), "{text:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn counters_alone_decide_nothing() {
    let look = serde_json::json!({
        "schema": "coalescope/watch-record/1",
        "host": "router", "kernel": null, "begun_unix_s": 0.0, "took_s": 10.0,
        "level": "counters",
        "unseen": [{"what": "merged frames", "why": "the kernel has no BTF"}],
        "interfaces": [{
            "name": "eth0", "index": 2, "kind": null, "driver": "ice", "master": null,
            "mtu_bytes": 1500, "speed_bps": null, "roles": [], "frames": null,
            "counters": {"rx_packets": 12345},
        }],
        "stack": {}, "drops": [],
        "lost": {"frames": 0, "drops": 0, "samples": 3},
    });
    let output = replay(&look.to_string(), &[]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    insta::assert_snapshot!("counters_alone", stdout(&output));
}

#[test]
fn events_of_perf_decide_nothing() {
    let mut look: Value = serde_json::from_str(RECORD.lines().last().unwrap()).unwrap();
    look["level"] = "perf".into();
    look["unseen"] = serde_json::json!([
        {"what": "which of the dropped frames were merged", "why": "the kernel has no BTF"}
    ]);
    look["drops"] = serde_json::json!([{
        "interface": null, "from": null, "reason": "NETFILTER_DROP", "location": "nft_do_chain",
        "merged_frames": 0, "merged_segments": 0, "long_frames": 0, "single_frames": 0,
        "unknown_frames": 36, "samples": [],
    }]);
    look["events"] = serde_json::json!({"net/netif_receive_skb": 138, "skb/kfree_skb": 62});
    look["lost"]["samples"] = 20.into();
    is_as_its_schema_says("watch-record", &look);
    let look = look.to_string();
    let output = replay(&look, &[]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    insta::assert_snapshot!("events_of_perf", stdout(&output));
    let output = replay(&look, &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("watch", &document);
    assert_eq!(document["findings"], serde_json::json!([]));
}

#[test]
fn connections_are_told_the_slow_ones_first() {
    let connection = |remote: &str, window: f64, repeated: u64| {
        serde_json::json!({
            "namespace": null, "local": "192.0.2.1:80", "remote": remote, "segment_bytes": 1448,
            "acked_bytes": 90_000_000_u64 / (1 + 40 * repeated), "received_bytes": 900, "sent_segments": 62_154,
            "repeated_segments": repeated, "busy_s": 9.5, "receiver_limited_s": 0.0, "buffer_limited_s": 0.0,
            "effective_window_segments": window, "in_flight_segments": 2, "congestion_window_segments": 10,
            "delivery_rate_bps": 73_000_000, "rtt_s": 0.011, "min_rtt_s": 0.01,
        })
    };
    let mut look: Value = serde_json::from_str(RECORD.lines().last().unwrap()).unwrap();
    let fast = connection("198.51.100.9:4000", 60.0, 0);
    let slow = connection("198.51.100.8:4000", 1.7, 37);
    look["connections"] = serde_json::json!([fast, slow]);
    is_as_its_schema_says("watch-record", &look);
    let look = look.to_string();
    let said = stdout(&replay(&look, &[]));
    let (_, connections) = said.split_once("TCP connections").unwrap();
    insta::assert_snapshot!("connections", connections);
    insta::assert_snapshot!(
        "connections_as_rows",
        stdout(&replay(&look, &["--format", "csv"]))
    );
    let document = replay(&look, &["--format", "json"]).stdout;
    is_as_its_schema_says("watch", &serde_json::from_slice(&document).unwrap());
}

#[cfg(target_os = "linux")]
mod live {
    use super::*;
    use coalescope_needs as needs;

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let output = coalescope()
            .args(["watch", "l0", "--for", "1s"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("there is no interface l0"));
    }

    /// What is looked at is the same whether BPF is allowed or not: the form of it, and what is missing.
    #[test]
    fn a_look_at_this_host_is_as_its_schema_says() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("looks.jsonl");
        let mut command = coalescope();
        command.args([
            "watch", "--for", "500ms", "--every", "200ms", "--format", "json",
        ]);
        let output = command.arg("--record").arg(&record).output().unwrap();
        assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        is_as_its_schema_says("watch", &document);
        let lines = fs::read_to_string(record).unwrap();
        assert_eq!(lines.lines().count(), 3, "{lines}");
        for line in lines.lines() {
            is_as_its_schema_says("watch-record", &serde_json::from_str(line).unwrap());
        }
        if document["level"] != "bpf" {
            let why = document["unseen"][0]["why"].as_str().unwrap().to_owned();
            needs::skipped("a look at this host", why);
        }
    }

    /// What a look says of a process that setpriv(1) takes rights from; none where it cannot.
    fn told_without(rights: &[&str], test: &str) -> Option<Value> {
        if !needs::programs(test, &["setpriv"]) {
            return None;
        }
        let mut command = std::process::Command::new("setpriv");
        command.args(rights);
        command.arg(assert_cmd::cargo::cargo_bin("coalescope"));
        command.args(["watch", "--for", "200ms", "--format", "json"]);
        let output = command.output().unwrap();
        if output.status.code() != Some(4) {
            needs::skipped(test, stderr(&output));
            return None;
        }
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let why = document["unseen"][0]["why"].as_str().unwrap();
        assert!(why.contains("CAP_BPF and CAP_PERFMON"), "{why}");
        Some(document)
    }

    /// As root of a container has it that may trace and load nothing: events of perf tell, and the report says what is
    /// missing for more.
    #[test]
    fn without_the_right_to_load_programs_events_are_told() {
        let test = "watch without BPF";
        let Some(document) = told_without(&["--bounding-set=-bpf,-sys_admin"], test) else {
            return;
        };
        is_as_its_schema_says("watch", &document);
        if document["level"] == "counters" {
            return needs::skipped(test, &document["unseen"][0]["why"]);
        }
        assert_eq!(document["level"], "perf");
        assert!(document["events"]["skb/kfree_skb"].is_u64(), "{document}");
    }

    /// As an ordinary user has it: the report says what is missing, and what the counters say.
    #[test]
    fn without_rights_the_counters_are_told() {
        let rights = [
            "--reuid",
            "65534",
            "--clear-groups",
            "--bounding-set=-all",
            "--inh-caps=-all",
        ];
        if let Some(document) = told_without(&rights, "watch without rights") {
            assert_eq!(document["level"], "counters");
        }
    }
}
