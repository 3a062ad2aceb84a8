//! Reports made by hand, of what no simulated story has: very long names, very large numbers, and
//! names that try to speak to the terminal.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use coalescope_capture::facts::{
    Connection, Direction, Endpoint, Hop, Outcomes, Point, Slot, Strip, Trace,
};
use coalescope_knowledge::{
    ConnectionRef, Diagnosis, Evidence, Finding, HopRef, Id, Merging, Proof, Subject, Verdict,
};
use coalescope_report::{Document, Report, TextOptions, WIDTH};

const ADDRESS: &str = "2001:db8:1111:2222:3333:4444:5555:6666";
/// As long as IPv4 in IPv6 can get; as an address it is printed shorter.
const LONGEST: &str = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255";

fn endpoint(address: &str) -> Endpoint {
    Endpoint {
        address: address.parse().unwrap(),
        port: 65_535,
    }
}

fn large_direction() -> Direction {
    Direction {
        unique_bytes: 987_654_321_000,
        segment_size_bytes: Some(65_483),
        merge_factor_mean: Some(123.456),
        merge_factor_max: Some(362),
        tso_frames: 1,
        retransmitted_frames: 99_999,
        out_of_order_frames: 99_999,
        late_frames: 99_999,
        throughput_bps: Some(98_765_432_100.0),
        rtt_min_s: Some(0.000_123_4),
        effective_window_segments: Some(12_345.6),
        ..Direction::default()
    }
}

fn connection(id: u64) -> Connection {
    Connection {
        id,
        client: endpoint(LONGEST),
        server: endpoint(ADDRESS),
        tunnel: Some("gre, vxlan 16777215, geneve 16777215, erspan 1023".to_owned()),
        vlans: vec![4094, 4093],
        to_client: large_direction(),
        ..Connection::default()
    }
}

fn outcomes(n: u64) -> Outcomes {
    Outcomes {
        seen: n,
        arrived: n,
        lost: n - 1,
        resplit: n,
        merged_further: n,
        fragmented: n,
        partly_lost: n,
        missed: n,
        not_judged: n,
    }
}

fn name(i: usize) -> String {
    format!("a-point-with-a-name-that-is-as-long-as-the-path-of-a-capture-can-be-{i}")
}

fn hop(i: usize) -> Hop {
    Hop {
        from: name(i),
        to: name(i + 1),
        connections_matched: 1_000_000,
        clock_offset_s: Some(-123.456),
        clock_drift_ppm: Some(-123.4),
        delay_min_s: Some(0.1),
        delay_median_s: Some(0.2),
        reordered: 1_000_000,
        merged: outcomes(99_999),
        tso: outcomes(123_456_789),
        single: outcomes(987_654_321_987),
        odds_ratio: Some(1234.5),
        p_value: Some(0.0),
        strip: strip(256, 123.456),
        ..Hop::default()
    }
}

/// Each sort of slot in turn, four slots of each.
fn strip(slots: usize, slot_s: f64) -> Strip {
    let slot = |[merged_lost, other_lost, merged_arrived, single_arrived]: [u32; 4]| Slot {
        merged_lost,
        other_lost,
        merged_arrived,
        single_arrived,
    };
    let sorts = [
        [1, 0, 1, 1],
        [u32::MAX, u32::MAX, 0, 0],
        [1, 0, 2, 0],
        [0, 1, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [0; 4],
    ];
    let each = sorts.into_iter().flat_map(|sort| [slot(sort); 4]);
    Strip {
        slot_s,
        slots: each.cycle().take(slots).collect(),
    }
}

fn finding() -> Finding {
    Finding {
        id: Id::MergedFramesLost,
        proof: Proof::Observed,
        reason: None,
        subject: Subject::Plain,
        note: false,
        share: None,
        title: format!("merged frames are lost between {} and {}", name(0), name(1)),
        connection: Some(ConnectionRef {
            point: name(0),
            id: 7,
            client: format!("[{LONGEST}]:65535"),
            server: format!("[{ADDRESS}]:65535"),
        }),
        hop: Some(HopRef {
            from: name(0),
            to: name(1),
        }),
        evidence: vec![Evidence {
            text: "all of them".to_owned(),
            point: Some(name(0)),
            frames: (1_000_000..1_000_020).collect(),
        }],
        next: "switch merging off, and nothing else ".repeat(5),
    }
}

fn report(points: usize, connections: u64) -> Report {
    let point = |i| Point {
        name: name(i),
        frames: 123_456_789,
        warnings: vec!["this was left out ".repeat(10)],
        connections: (0..connections).map(connection).collect(),
        ..Point::default()
    };
    let trace = Trace {
        points: (0..points).map(point).collect(),
        hops: (0..points.saturating_sub(1)).map(hop).collect(),
        ..Trace::default()
    };
    Report::new(trace, diagnosis())
}

fn diagnosis() -> Diagnosis {
    let verdict = Verdict {
        merging: Merging::Harms,
        impact: None,
        text: "Merged frames are lost. ".repeat(8),
    };
    Diagnosis {
        verdict,
        findings: vec![finding()],
        limits: Vec::new(),
    }
}

fn text(report: &Report, connections: Option<usize>, colour: bool) -> String {
    let options = TextOptions {
        connections,
        colour,
        ..TextOptions::default()
    };
    let mut out = Vec::new();
    report.write_text(&mut out, &options).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn nothing_is_wider_than_the_page() {
    let text = text(&report(3, 2), None, false);
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}\nin:\n{text}");
    }
}

#[test]
fn long_names_and_large_numbers() {
    insta::assert_snapshot!(text(&report(2, 1), None, false));
}

/// The line that begins with a bar.
fn drawn(hop: Hop, colour: bool) -> Option<String> {
    let trace = Trace {
        points: Vec::new(),
        hops: vec![hop],
        ..Trace::default()
    };
    let text = text(&Report::new(trace, diagnosis()), None, colour);
    let line = text.lines().find(|line| line.starts_with("    |"));
    line.map(str::to_owned)
}

#[test]
fn a_strip_has_a_sign_for_each_sort_of_slot() {
    let few = Hop {
        strip: strip(28, 0.001),
        ..hop(0)
    };
    let line = drawn(few.clone(), false);
    let signs = "XXXXMMMMxxxxxxxx####----";
    assert_eq!(
        line.unwrap(),
        format!("    |{signs}    | 28 ms, 1 ms a column")
    );
    let red = "\u{1b}[31mXXXXMMMM\u{1b}[0mxxxxxxxx####----    ";
    assert!(
        drawn(few, true)
            .unwrap()
            .starts_with(&format!("    |{red}|"))
    );
    let many = drawn(hop(0), false).unwrap();
    assert!(
        many.starts_with("    |XMxx") && many.len() <= WIDTH,
        "{many}"
    );
}

#[test]
fn a_hop_without_loss_and_with_hardly_a_merged_frame_has_no_strip() {
    let arrived = |n| Outcomes {
        seen: n,
        arrived: n,
        ..Outcomes::default()
    };
    let hop = |merged, single| Hop {
        merged: arrived(merged),
        single,
        strip: strip(28, 0.001),
        ..Hop::default()
    };
    assert_eq!(drawn(hop(9, arrived(1000)), false), None);
    assert!(drawn(hop(10, arrived(1000)), false).is_some());
    assert!(drawn(hop(0, outcomes(2)), false).is_some());
    let none = Hop {
        strip: Strip::default(),
        ..hop(10, outcomes(2))
    };
    assert_eq!(drawn(none, false), None);
}

#[test]
fn connections_beyond_the_limit_are_counted() {
    let text = text(&report(1, 1_300), Some(20), false);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("  #")).count(),
        20
    );
    assert!(text.contains("1,280 more left out"));
}

#[test]
fn colour_is_for_harm() {
    let report = report(2, 1);
    assert!(text(&report, None, true).contains("\u{1b}[31m    merged"));
    assert!(!text(&report, None, false).contains('\u{1b}'));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let report = report(2, 1);
    let mut plain = text(&report, None, true);
    for code in [
        "\u{1b}[0m",
        "\u{1b}[1m",
        "\u{1b}[31m",
        "\u{1b}[32m",
        "\u{1b}[33m",
    ] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, text(&report, None, false));
}

#[test]
fn names_cannot_speak_to_the_terminal() {
    let point = Point {
        name: "a\u{1b}[2Jb\u{9b}c\nd".to_owned(),
        warnings: vec!["\u{7}ring".to_owned()],
        ..Point::default()
    };
    let trace = Trace {
        points: vec![point],
        hops: Vec::new(),
        ..Trace::default()
    };
    let verdict = Verdict {
        merging: Merging::NotSeen,
        impact: None,
        text: "x\u{1b}]0;y".to_owned(),
    };
    let diagnosis = Diagnosis {
        verdict,
        findings: Vec::new(),
        limits: Vec::new(),
    };
    let report = Report::new(trace, diagnosis);
    let text = text(&report, None, false);
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text:?}"
    );
}
