//! The report as JSON, read by someone who knows nothing but the issue.

use serde::Deserialize;

use crate::common::{Captures, coalescope, simulated, stderr, stdout};

/// A value that may be null but whose name has to be there.
type Nullable = serde_json::Value;

macro_rules! mirror {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(#[derive(Deserialize)]
        #[allow(dead_code, reason = "being there is what is asked of a field")]
        struct $name { $($field: $type),* })*
    };
}

mirror! {
    Document {
        schema: String,
        verdict: Verdict,
        points: Vec<Point>,
        hops: Vec<Hop>,
        findings: Vec<Finding>,
        limits: Vec<Limit>,
        comparison: Nullable,
    }
    Verdict { merging: String, text: String }
    Point {
        name: String,
        files: Vec<String>,
        link_types: Vec<String>,
        frames: u64,
        bytes: u64,
        first_s: Nullable,
        last_s: Nullable,
        unreadable_bytes: u64,
        warnings: Vec<String>,
        connections: Vec<Connection>,
    }
    Connection {
        id: u64,
        network: String,
        tunnel: Nullable,
        vlans: Vec<u16>,
        client: Endpoint,
        server: Endpoint,
        vantage: Vantage,
        mss_client_bytes: Nullable,
        mss_server_bytes: Nullable,
        handshake_rtt_s: Nullable,
        phases: Phases,
        to_server: Direction,
        to_client: Direction,
    }
    Endpoint { address: String, port: u16 }
    Phases { connect_s: Nullable, tls_s: Nullable, first_byte_s: Nullable, transfer_s: Nullable }
    Direction {
        frames: u64,
        data_frames: u64,
        payload_bytes: u64,
        unique_bytes: u64,
        segment_size_bytes: Nullable,
        merged_frames: u64,
        tso_frames: u64,
        merge_factor_mean: Nullable,
        merge_factor_max: Nullable,
        retransmitted_frames: u64,
        retransmitted_bytes: u64,
        out_of_order_frames: u64,
        duplicate_acks: u64,
        zero_windows: u64,
        acks: u64,
        segments_per_ack: Nullable,
        throughput_bps: Nullable,
        rtt_min_s: Nullable,
        rtt_median_s: Nullable,
        effective_window_segments: Nullable,
    }
    Hop {
        from: String,
        to: String,
        connections_matched: u64,
        clock_offset_s: Nullable,
        merged: Merged,
        single: Single,
        odds_ratio: Nullable,
        p_value: Nullable,
    }
    Merged { seen: u64, arrived: u64, lost: u64, resplit: u64 }
    Single { seen: u64, arrived: u64, lost: u64 }
    Finding {
        id: String,
        proof: String,
        title: String,
        connection: Nullable,
        hop: Option<Place>,
        evidence: Vec<Evidence>,
        next: String,
    }
    Place { from: String, to: String }
    Evidence { text: String, frames: Vec<u64> }
    Limit { point: String, connection: u64, direction: String, limit: String }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Vantage {
    Client,
    Server,
    Between,
    Unknown,
}

/// Names that `Option` would let be absent.
const NULLABLE: [&str; 2] = ["comparison", "hop"];

fn document(captures: &Captures, arguments: &[&str]) -> Document {
    let mut all = vec!["--format", "json"];
    all.extend(arguments);
    let output = captures.trace(&all);
    assert_eq!(stderr(&output), "");
    let text = stdout(&output);
    assert!(text.starts_with("{\"schema\":\"coalescope/trace/1\","));
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn story_e_has_all_names_and_the_finding() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let document = document(&captures, &["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"]);
    assert_eq!(document.schema, "coalescope/trace/1");
    assert_eq!(document.verdict.merging, "harms");
    let finding = &document.findings[0];
    assert_eq!(finding.id, "merged-frames-lost");
    assert_eq!(finding.proof, "observed");
    let hop = finding.hop.as_ref().unwrap();
    assert_eq!((&hop.from[..], &hop.to[..]), ("CAP-02", "VM-01"));
    assert!(!finding.evidence[0].frames.is_empty());
    let connection = &document.points[1].connections[0];
    assert!(matches!(
        connection.vantage,
        Vantage::Between | Vantage::Client
    ));
}

#[test]
fn names_that_may_be_null_are_still_there() {
    let captures = Captures::of("healthy-gro");
    let output = captures.trace(&["--format", "json", "WIRE.pcap", "CLIENT.pcap"]);
    for name in NULLABLE {
        assert!(
            stdout(&output).contains(&format!("\"{name}\":null")),
            "{name}"
        );
    }
}

#[test]
fn of_a_very_small_story() {
    let output = Captures::of("ipvs-gro-direct").trace(&["--format", "json", "CLIENT.pcap"]);
    insta::assert_snapshot!(indented(&stdout(&output)));
}

#[test]
fn a_comparison_is_in_the_document() {
    let captures = Captures::of("ipvs-gro-vip");
    captures.write("DIRECT.pcap", &simulated("ipvs-gro-direct").points[0].bytes);
    let document = document(&captures, &["--compare", "DIRECT.pcap", "VIP=CLIENT.pcap"]);
    assert_eq!(document.comparison["first"]["point"], "DIRECT");
    assert_eq!(document.comparison["second"]["point"], "VIP");
    assert_eq!(document.findings[0].id, "no-merging");
}

#[test]
fn interfaces_are_points() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    captures.write("all.pcapng", &simulated("hyperv-rsc-jumbo").combined());
    let document = document(&captures, &["--points-by-interface", "all.pcapng"]);
    let names: Vec<&str> = document
        .points
        .iter()
        .map(|point| &point.name[..])
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"CAP-02"), "{names:?}");
}

#[test]
fn threads_change_nothing() {
    let captures = Captures::of("ipvs-gro-vip");
    let files = ["DIRECTOR-IN.pcap", "DIRECTOR-OUT.pcap", "CLIENT.pcap"];
    let with = |threads| {
        let options = ["--format", "json", "--threads", threads];
        stdout(&captures.trace(&[&options[..], &files[..]].concat()))
    };
    assert_eq!(with("1"), with("2"));
}

/// Of one point connections are shared out among threads; where frames stand in the file twice, the file is read once more.
#[test]
fn many_threads_change_nothing() {
    let captures = Captures::of("ipvs-gro-vip");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("twice.pcap", &twice(&whole));
    for file in ["CLIENT.pcap", "twice.pcap"] {
        let with = |threads| {
            let options = ["--format", "json", "--threads", threads, file];
            stdout(&captures.trace(&options))
        };
        assert_eq!(with("1"), with("4"));
    }
    let options = ["--format", "json", "--threads", "4", "twice.pcap"];
    let read: Document = serde_json::from_str(&stdout(&captures.trace(&options))).unwrap();
    let warnings = read.points[0].warnings.join("\n");
    assert!(warnings.contains("captured twice"), "{warnings}");
}

/// A pcap file whose records come twice, one behind the other.
fn twice(file: &[u8]) -> Vec<u8> {
    let (mut at, mut out) = (24, file[..24].to_vec());
    while at < file.len() {
        let next = at + record_boundary(&file[at - 24..], 1) - 24;
        out.extend([&file[at..next], &file[at..next]].concat());
        at = next;
    }
    out
}

#[test]
fn rotated_captures_are_one_point() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    let half = record_boundary(&whole, 17);
    captures.write("0.pcap", &whole[..half]);
    captures.write("1.pcap", &[&whole[..24], &whole[half..]].concat());
    let document = document(&captures, &["C=0.pcap", "C=1.pcap"]);
    assert_eq!(document.points.len(), 1);
    assert_eq!(document.points[0].files, ["0.pcap", "1.pcap"]);
    assert_eq!(document.points[0].frames, 35);
}

/// Where the record after so many begins in a pcap file.
fn record_boundary(file: &[u8], records: usize) -> usize {
    let length = |at: usize| u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
    (0..records).fold(24, |at, _| at + 16 + length(at))
}

#[test]
fn warnings_are_told_and_in_the_document() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("cut.pcap", &whole[..whole.len() - 10]);
    let output = captures.trace(&["--format", "json", "cut.pcap"]);
    assert!(
        stderr(&output).starts_with("warning: cut: "),
        "{}",
        stderr(&output)
    );
    let document: Document = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(!document.points[0].warnings.is_empty());
}

#[test]
fn a_pipe_says_the_same_as_the_file() {
    let captures = Captures::of("ipvs-gro-direct");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    let mut command = coalescope();
    command.args(["trace", "--format", "json", "CLIENT=-"]);
    let piped = command.write_stdin(whole).output().unwrap();
    let file = captures.trace(&["--format", "json", "CLIENT.pcap"]);
    let expected = stdout(&file).replace("\"CLIENT.pcap\"", "\"standard input\"");
    assert_eq!(stdout(&piped), expected);
}

/// JSON of one line as `serde_json` indents it.
fn indented(line: &str) -> String {
    let (mut text, mut depth, mut quoted, mut escaped) = (String::new(), 0, false, false);
    let chars: Vec<char> = line.trim_end().chars().collect();
    for (i, &char) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map_or(' ', |i| chars[i]);
        let after = chars.get(i + 1).copied().unwrap_or(' ');
        let breaks = |depth| format!("\n{}", "  ".repeat(depth));
        if quoted || char == '"' {
            text.push(char);
            quoted = escaped || !quoted || char != '"';
            escaped = quoted && !escaped && char == '\\';
            continue;
        }
        match char {
            '{' | '[' => {
                text.push(char);
                if !matches!(after, '}' | ']') {
                    depth += 1;
                    text.push_str(&breaks(depth));
                }
            }
            '}' | ']' => {
                if !matches!(before, '{' | '[') {
                    depth -= 1;
                    text.push_str(&breaks(depth));
                }
                text.push(char);
            }
            ',' => text.push_str(&format!(",{}", breaks(depth))),
            ':' => text.push_str(": "),
            other => text.push(other),
        }
    }
    text.push('\n');
    text
}
