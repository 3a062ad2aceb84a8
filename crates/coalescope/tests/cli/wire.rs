//! `coalescope lab wire`, between veth pairs in a namespace of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use coalescope_lab::craft::{Ipv4, Segment};
use coalescope_lab::packet::{Buffers, PacketSocket};
use coalescope_lab::{Namespace, Veth};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::{coalescope, is_as_its_schema_says, stderr};

/// When nothing comes any more.
const DEADLINE: Duration = Duration::from_secs(20);

/// The namespace, or the test is skipped.
fn namespace(test: &str) -> Option<Namespace> {
    coalescope_needs::had(test, Namespace::new())
}

/// A wire between `a1` and `b0`, and the other ends of these pairs.
struct Wire {
    child: Child,
    errors: BufReader<ChildStderr>,
    /// Outside of `--in` and of `--out`, to receive and to send.
    ends: [[PacketSocket; 2]; 2],
}

impl Wire {
    /// On a thread in the namespace, as all that follows.
    fn start(arguments: &[&str]) -> Self {
        let [one, two] = [("a0", "a1"), ("b0", "b1")]
            .map(|(left, right)| Veth::new(left, right, Veth::MAX_MTU).unwrap());
        let ends = [one.left, two.right].map(|link| {
            let receiver = PacketSocket::promiscuous(&link).unwrap();
            receiver.set_timeout(DEADLINE).unwrap();
            [receiver, PacketSocket::queued_sender(&link).unwrap()]
        });
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"))
            .args(["lab", "wire", "--in", "a1", "--out", "b0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert_eq!(line, "a1 and b0 are joined; Ctrl-C ends it\n");
        Self {
            child,
            errors,
            ends,
        }
    }

    /// Sends on one end, and gives what comes out of the other.
    fn send(&self, from: usize, frames: &[Vec<u8>], back: usize) -> Vec<Vec<u8>> {
        self.ends[from][1].send(frames).unwrap();
        self.receive(1 - from, back)
    }

    fn receive(&self, at: usize, count: usize) -> Vec<Vec<u8>> {
        let (mut got, mut buffers) = (Vec::new(), Buffers::new(4));
        while got.len() < count && self.ends[at][0].receive(&mut buffers).unwrap() > 0 {
            got.extend(buffers.frames().map(|frame| frame.bytes.to_vec()));
        }
        got
    }

    /// Ends it with a signal; what it wrote to standard error is that of the output.
    fn end(&mut self, signal: Signal) -> Output {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut pipe = self.child.stdout.take().unwrap();
        pipe.read_to_end(&mut stdout).unwrap();
        self.errors.read_to_end(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        Output {
            status,
            stdout,
            stderr,
        }
    }
}

impl Drop for Wire {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Segments of 1,000 bytes, in sequence.
fn segments(count: u32) -> Vec<Vec<u8>> {
    let mut segment = Segment::v4(Ipv4::default());
    segment.payload = vec![7; 1000];
    let frames = (0..count).map(|number| {
        segment.tcp_mut().unwrap().seq = 1000 * number;
        segment.frame()
    });
    frames.collect()
}

/// A frame of a protocol that nobody knows, from one stranger to many.
fn stranger() -> Vec<u8> {
    [
        &[0x33, 0x33, 0, 0, 0, 1][..],
        &[2; 6],
        &[0x88, 0xb5, 1, 2, 3],
    ]
    .concat()
}

fn reference() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lab-wire.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_option_is_documented() {
    let output = coalescope().args(["lab", "wire", "-h"]).output().unwrap();
    let (help, reference) = (crate::common::stdout(&output), reference());
    let words = help.split(|c: char| c.is_whitespace() || c == ',');
    let options: Vec<_> = words
        .filter(|word| word.starts_with("--"))
        .filter(|word| !["--help", "--color", "--quiet", "--verbose"].contains(word))
        .collect();
    assert!(options.contains(&"--hold-us"), "{options:?}");
    for option in options {
        let stands = reference.contains(&format!("| `{option} "));
        assert!(stands, "{option} is not in docs/lab-wire.md");
    }
}

#[test]
fn merges_one_way_and_counts() {
    let Some(namespace) = namespace("merges_one_way_and_counts") else {
        return;
    };
    let (lengths, back, output) = namespace
        .enter(|| {
            let arguments = [
                "--profile",
                "linux-gro",
                "--hold-us",
                "200000",
                "--format",
                "json",
            ];
            let mut wire = Wire::start(&arguments);
            let frames = [segments(3), vec![stranger()]].concat();
            let there = wire.send(0, &frames, 2);
            let lengths: Vec<_> = there.iter().map(Vec::len).collect();
            let back = wire.send(1, &segments(2), 2);
            (lengths, back, wire.end(Signal::TERM))
        })
        .unwrap();
    assert_eq!(lengths, [17, 3054]);
    assert_eq!(back, segments(2));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("lab-wire", &report);
    assert_eq!(report["schema"], "coalescope/lab-wire/1");
    assert_eq!(
        (&report["profile"], &report["hold_us"]),
        (&json!("linux-gro"), &json!(200_000))
    );
    let wanted = json!({
        "frames_in": 4, "frames_out": 2, "refused_frames": 0,
        "already_merged_frames": 0, "offloaded_frames": 0,
        "merged_frames": 1, "segments": 3, "absorbed_frames": 0,
        "reasons": { "passed": {"not-ip": 1}, "refused": {}, "flushed": {"age": 1} },
    });
    assert_eq!(report["forward"], wanted);
    assert_eq!(
        (&report["back"]["frames_in"], &report["back"]["frames_out"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(report["warnings"], json!([]));
}

#[test]
fn what_is_held_leaves_when_it_ends() {
    let Some(namespace) = namespace("what_is_held_leaves_when_it_ends") else {
        return;
    };
    let (passed, held, output) = namespace
        .enter(|| {
            let mut wire = Wire::start(&["--profile", "linux-gro", "--hold-us", "10000000"]);
            let frames = [segments(2), vec![stranger()]].concat();
            let passed = wire.send(0, &frames, 1);
            let output = wire.end(Signal::INT);
            (passed, wire.receive(1, 1), output)
        })
        .unwrap();
    assert_eq!(passed, [stranger()]);
    assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [2054]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    insta::assert_snapshot!(text);
}

#[test]
fn wrong_interfaces() {
    let refused = |input: &str, output: &str| {
        let mut command = coalescope();
        command.args([
            "lab",
            "wire",
            "--profile",
            "linux-gro",
            "--in",
            input,
            "--out",
            output,
        ]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    let unknown = refused("lo", "nix0");
    assert!(unknown.contains("find the interface nix0"), "{unknown}");
    let same = refused("lo", "lo");
    assert!(same.contains("the same interface, lo"), "{same}");
}
