//! Readers of saved Linux output, on samples of each kind: whole, cut anywhere, and damaged.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

#[path = "linux_text/samples.rs"]
mod samples;

use coalescope_host::model::Unread;
use coalescope_host::text::{Reading, Text, read};
use proptest::collection::vec;
use proptest::prelude::*;
use samples::Sample;
use serde_json::{Value, json};

fn reading(sample: Sample, body: &str) -> Option<Reading> {
    read(&Text {
        origin: "sample.txt",
        command: sample.command,
        body,
    })
}

#[test]
fn what_is_read() {
    for sample in samples::all() {
        let reading = reading(sample, sample.body);
        let result =
            reading.map(|reading| json!({"kind": reading.kind, "snapshot": reading.snapshot}));
        insta::assert_json_snapshot!(sample.name, result);
    }
}

/// What was read of a body, without notes.
fn values(sample: Sample, body: &str) -> Value {
    let reading = reading(sample, body);
    let snapshot = reading.map(|reading| reading.snapshot);
    let mut values = serde_json::to_value(snapshot.unwrap_or_default()).unwrap();
    let object = values.as_object_mut().unwrap();
    object.remove("unread");
    values
}

/// Whether all that `part` says `whole` says, too.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|all| is_part(value, all))),
        (Value::Array(part), Value::Array(whole)) => part
            .iter()
            .all(|value| whole.iter().any(|all| is_part(value, all))),
        _ => part == whole,
    }
}

/// Sums over all lines: half of them cannot be told from a whole text if a line ends there.
fn is_sum(sample: Sample) -> bool {
    sample.name == "softnet_stat"
}

#[test]
fn a_cut_text_says_nothing_else_than_the_whole() {
    for sample in samples::all().filter(|sample| !is_sum(*sample)) {
        let whole = values(sample, sample.body);
        for end in (0..sample.body.len()).filter(|end| sample.body.is_char_boundary(*end)) {
            let part = values(sample, &sample.body[..end]);
            assert!(
                is_part(&part, &whole),
                "{} cut at {end}:\n{part:#}\nof\n{whole:#}",
                sample.name
            );
        }
    }
}

#[test]
fn sums_of_a_cut_text_are_left_out() {
    let sample = samples::all().find(|sample| is_sum(*sample)).unwrap();
    let lines = sample.body.len() / 2;
    for end in (0..sample.body.len()).filter(|end| end % lines != 0) {
        assert_eq!(values(sample, &sample.body[..end]).get("softnet"), None);
    }
}

/// A number that is cut is no number.
#[test]
fn a_cut_line_is_noted() {
    let sample = samples::all()
        .find(|sample| sample.name == "ip_link_cut")
        .unwrap();
    let snapshot = reading(sample, sample.body).unwrap().snapshot;
    assert_eq!(snapshot.interfaces["eth0"].mtu_bytes, Some(9000));
    assert!(!snapshot.interfaces.contains_key("eth1"));
    assert!(
        snapshot.unread[0]
            .why
            .starts_with("last line without a line end")
    );
}

#[test]
fn notes_are_bounded() {
    let mut body = String::from("Features for eth0:\n");
    let words = (0..1000).map(|word| format!("{}: what\n", "x".repeat(word % 500 + 1)));
    body.extend(words);
    let sample = samples::all().next().unwrap();
    let snapshot = reading(sample, &body).unwrap().snapshot;
    assert_eq!(snapshot.unread.len(), 20);
    assert!(
        snapshot
            .unread
            .iter()
            .any(|note| note.what.ends_with(" more"))
    );
}

/// Most lines are of no network: they are not kept.
#[test]
fn a_large_sysctl_is_read() {
    let mut body = String::from("net.ipv4.ip_forward = 1\n");
    for line in 0..100_000 {
        body.push_str(&format!("kernel.sched_domain.cpu{line}.flags = {line}\n"));
    }
    let sample = samples::all().next().unwrap();
    let snapshot = reading(sample, &body).unwrap().snapshot;
    assert_eq!(snapshot.stack.sysctls["net.ipv4.ip_forward"], "1");
    assert_eq!(snapshot.stack.sysctls.len(), 1);
}

fn plain(body: &str) -> Reading {
    let text = Text {
        origin: "saved",
        command: None,
        body,
    };
    read(&text).unwrap()
}

/// As `sysctl -p` carries it out.
#[test]
fn in_a_file_of_settings_the_last_value_applies() {
    let body = "# a router\nnet.ipv4.ip_forward = 1\nkernel.hostname=a\nnet/ipv4/ip_forward=0\n\
        kernel.hostname = b\nnet.core.somaxconn=1\nnet.core.somaxconn = 1\n";
    let Reading { kind, snapshot } = plain(body);
    assert_eq!(kind, "sysctl.conf");
    assert_eq!(snapshot.stack.sysctls["net.ipv4.ip_forward"], "0");
    assert_eq!(snapshot.name.as_deref(), Some("b"));
    let again = |note: &&Unread| note.why.contains("the last value");
    let again = snapshot.unread.iter().filter(again);
    let again: Vec<_> = again.map(|note| note.what.as_str()).collect();
    assert_eq!(
        again,
        ["saved: net.ipv4.ip_forward", "saved: kernel.hostname"]
    );
}

#[test]
fn of_what_is_in_force_the_first_value_is_kept() {
    let body =
        "net.ipv4.ip_forward = 1\nnet.ipv4.ip_local_reserved_ports =\nnet.ipv4.ip_forward = 0\n";
    let Reading { kind, snapshot } = plain(body);
    assert_eq!(kind, "sysctl -a");
    assert_eq!(snapshot.stack.sysctls["net.ipv4.ip_forward"], "1");
    assert!(snapshot.unread[0].why.contains("described twice"));
}

#[test]
fn settings_are_told_from_what_is_in_force_by_how_they_are_written() {
    for body in [
        "net.ipv4.ip_forward=1\n",
        "net/ipv4/ip_forward = 1\n",
        "-net.ipv4.ip_forward = 1\n",
        "; what a router needs\nnet.ipv4.ip_forward = 1\n",
    ] {
        assert_eq!(plain(body).kind, "sysctl.conf", "{body}");
    }
    let printed = "net.ipv4.ip_forward = 1\nkernel.core_pattern = |/bin/a --b=1\nnet.core.x=1\n";
    assert_eq!(plain(printed).kind, "sysctl -a");
}

fn sample() -> impl Strategy<Value = Sample> {
    let all: Vec<Sample> = samples::all().collect();
    proptest::sample::select(all)
}

proptest! {
    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..2000), sample in sample()) {
        reading(sample, &String::from_utf8_lossy(&bytes));
    }

    /// A sound beginning, then anything.
    #[test]
    fn any_end(sample in sample(), at in any::<prop::sample::Index>(), end in "\\PC*") {
        let at = at.index(sample.body.len());
        if sample.body.is_char_boundary(at) {
            reading(sample, &(sample.body[..at].to_owned() + &end));
        }
    }

    /// Bytes that are changed, and lines in another order.
    #[test]
    fn any_change(sample in sample(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = sample.body.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        reading(sample, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_two(first in sample(), second in sample()) {
        reading(first, &(first.body.to_owned() + second.body));
    }
}
