//! Clocks tell nothing of what happens on a hop: whatever a capture's clock shows and however fast it
//! runs, within what clocks do, hops are the same.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::{Amid, Hop, HopConnection, Lengths, Outcomes, Trace};
use coalescope_capture::{Options, PointInput, trace};
use coalescope_simulate::{Element, Format, Outcome, run, stories, story};
use common::{simulated, source};

/// A clock that is wrong: what it shows more at the capture's first frame, and what it gains.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    offset_us: i64,
    drift_ppm: i64,
}

const RIGHT: Wrong = Wrong {
    offset_us: 0,
    drift_ppm: 0,
};

/// Clocks of hosts that were never set, and crystals at the limits of what is sold.
const WRONG: [Wrong; 7] = [
    wrong(20_000_000, 0),
    wrong(-3_123_457, 50),
    wrong(1_000_000_000, 200),
    wrong(-1_000_000_000, -200),
    wrong(4_999, 200),
    wrong(-801, -200),
    wrong(86_400_000_000, 17),
];

const fn wrong(offset_us: i64, drift_ppm: i64) -> Wrong {
    Wrong {
        offset_us,
        drift_ppm,
    }
}

/// A classic capture in microseconds, by another clock.
fn retimed(bytes: &[u8], clock: Wrong) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        let word = bytes[at..at + 4].try_into().expect("four bytes");
        i64::from(u32::from_le_bytes(word))
    };
    let mut at = 24;
    let mut first = None;
    while at < bytes.len() {
        let us = word(&bytes, at) * 1_000_000 + word(&bytes, at + 4);
        let passed = us - *first.get_or_insert(us);
        let shown = us + clock.offset_us + passed * clock.drift_ppm / 1_000_000;
        let parts = [shown / 1_000_000, shown % 1_000_000];
        for (place, part) in parts.into_iter().enumerate() {
            let part = u32::try_from(part).expect("a time in this century");
            bytes[at + 4 * place..][..4].copy_from_slice(&part.to_le_bytes());
        }
        at += 16 + word(&bytes, at + 8) as usize;
    }
    bytes
}

/// What was found in some of the points, each by its own clock.
fn traced(outcome: &Outcome, points: &[(usize, Wrong)]) -> Trace {
    let input = |(point, clock): &(usize, Wrong)| {
        let point = &outcome.points[*point];
        let bytes = retimed(&point.bytes, *clock);
        PointInput {
            name: point.name.clone(),
            sources: vec![(point.name.clone(), source(&point.name, bytes))],
        }
    };
    let inputs = points.iter().map(input).collect();
    trace(inputs, &Options::default(), &mut |_| {}).expect("inputs are good")
}

/// What a hop says, but for its clocks, and with drift for `lone` and `together`, which ask a clock for gaps of a
/// millisecond, and of 0.3 ms.
fn shown(hop: &Hop, with_gaps: bool) -> String {
    let outcomes = |o: &Outcomes| format!("{o:?}");
    let connection = |c: &HopConnection| {
        let timeless = HopConnection {
            amid: Amid::default(),
            together: if with_gaps {
                c.together.clone()
            } else {
                Lengths::default()
            },
            ..c.clone()
        };
        format!(
            "{timeless:?}, passes among losses: {}",
            c.amid.shows_passes()
        )
    };
    let mut all = [&hop.merged, &hop.tso, &hop.single].map(outcomes).to_vec();
    if with_gaps {
        all.push(outcomes(&hop.lone));
    }
    let connections: Vec<_> = hop.connections.iter().map(connection).collect();
    format!(
        "{} -> {}: {} matched, {} reordered\n  {}\n  {}",
        hop.from,
        hop.to,
        hop.connections_matched,
        hop.reordered,
        all.join("\n  "),
        connections.join("\n  "),
    )
}

fn hops(trace: &Trace, clock: Wrong) -> String {
    let shown = |hop| shown(hop, clock.drift_ppm == 0);
    let hops: Vec<_> = trace.hops.iter().map(shown).collect();
    hops.join("\n")
}

/// All orders of two or three points, and all pairs of these.
fn orders(points: usize) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    for first in 0..points {
        for second in (0..points).filter(|second| *second != first) {
            orders.push(vec![first, second]);
            for third in (0..points).filter(|third| ![first, second].contains(third)) {
                orders.push(vec![first, second, third]);
            }
        }
    }
    orders
}

#[test]
fn no_clock_changes_a_hop() {
    let only = std::env::var("STORY").ok();
    let mut bad = Vec::new();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    for story in stories()
        .iter()
        .filter(|story| story.points.len() > 1 && wanted(story.name))
    {
        let outcome = simulated(story.name);
        for order in orders(story.points.len()) {
            let right: Vec<_> = order.iter().map(|point| (*point, RIGHT)).collect();
            let right_trace = traced(&outcome, &right);
            for (i, clock) in WRONG.into_iter().enumerate() {
                let mut points = right.clone();
                let place = i % points.len();
                points[place].1 = clock;
                let got = hops(&traced(&outcome, &points), clock);
                let expected = hops(&right_trace, clock);
                if got != expected {
                    let names = order.iter().map(|point| story.points[*point]);
                    let names: Vec<_> = names.collect();
                    bad.push(format!(
                        "{} {names:?} {place} {clock:?}\n{expected}\n-- by this clock\n{got}",
                        story.name
                    ));
                }
            }
        }
    }
    assert!(
        bad.is_empty(),
        "{} differences:\n{}",
        bad.len(),
        bad.join("\n\n")
    );
}

/// What was found in the interfaces of one file, whose clocks are ahead by so many seconds.
fn traced_by_interface(name: &str, ahead_s: &[i64]) -> String {
    let mut scenario = story(name).expect("a story");
    let mut clocks = ahead_s.iter();
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.format = Format::Pcapng;
            point.offset = clocks.next().map_or(0, |s| s * 1_000_000_000);
        }
    }
    let options = Options {
        points_by_interface: true,
        ..Options::default()
    };
    let input = PointInput {
        name: "all".to_owned(),
        sources: vec![("all".to_owned(), source("all", run(&scenario).combined()))],
    };
    let trace = trace(vec![input], &options, &mut |_| {}).expect("a good input");
    // Frames have other numbers in a file that is sorted by other clocks.
    let shown = |hop: &Hop| {
        format!(
            "{} -> {}: {:?} {:?} {:?}",
            hop.from, hop.to, hop.merged, hop.tso, hop.single
        )
    };
    let hops: Vec<_> = trace.hops.iter().map(shown).collect();
    hops.join("\n")
}

/// Frames of one file are in the order of their time stamps, which are by several clocks.
#[test]
fn clocks_of_interfaces_of_one_file_change_no_hop() {
    for story in stories().iter().filter(|story| story.points.len() > 2) {
        let right = traced_by_interface(story.name, &[]);
        for wrong in [[8, 0, 0], [0, 8, 0], [0, 0, 8], [900, -800, 0]] {
            let got = traced_by_interface(story.name, &wrong);
            assert_eq!(got, right, "{} {wrong:?}", story.name);
        }
    }
}

/// Several queues emptied in turns: stamps tell in which order frames came.
#[test]
fn frames_written_in_another_order_were_not_overtaken() {
    let mut scenario = story("healthy-gro").expect("a story");
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            (point.unsorted, point.format) = (200_000, Format::Pcapng);
        }
    }
    let outcome = run(&scenario);
    for point in &outcome.points {
        let input = PointInput {
            name: point.name.clone(),
            sources: vec![(point.name.clone(), source(&point.name, point.bytes.clone()))],
        };
        let trace = trace(vec![input], &Options::default(), &mut |_| {}).expect("a good input");
        let connection = trace.points[0].connections.get(0).expect("a connection");
        assert!(connection.to_client.data_frames > 100);
        assert_eq!(
            connection.to_client.out_of_order_frames, 0,
            "{}",
            point.name
        );
    }
}
