//! A capture of something else among those of a path takes nothing away: no hop, no finding, no order. A connection's hops are
//! between the points that saw it.

mod common;

use coalescope_capture::facts::{Hop, Trace};
use coalescope_knowledge::judge;
use coalescope_simulate::{Outcome, run, stories, story};
use common::{input, make_classic, records, traced, word};

/// A capture that has nothing to do with the others.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stranger {
    /// Not one frame.
    Empty,
    /// UDP alone.
    Datagrams,
    /// Another connection between other hosts.
    Other,
}

const STRANGERS: [Stranger; 3] = [Stranger::Empty, Stranger::Datagrams, Stranger::Other];

/// The captures of a story, classic ones; of other hosts with other numbers, if so told.
fn simulated(name: &str, is_other: bool) -> Outcome {
    let mut scenario = story(name).expect("a story");
    scenario.ipv6 ^= is_other;
    scenario.seed += u64::from(is_other) * 1_000;
    make_classic(&mut scenario);
    run(&scenario)
}

/// Two captures of one place as one.
fn together(one: &[u8], other: &[u8]) -> Vec<u8> {
    let mut all = [records(one), records(other)].concat();
    all.sort_by_key(|record| (word(record, 0), word(record, 4)));
    [&one[..24], &all.concat()].concat()
}

/// A record with a datagram of the same time: the IPv4 header says UDP.
fn as_datagram(mut record: Vec<u8>) -> Vec<u8> {
    let protocol = 16 + 14 + 9;
    if record.get(protocol) == Some(&6) {
        record[protocol] = 17;
    }
    record
}

fn stranger(kind: Stranger, beside: &[u8]) -> Vec<u8> {
    match kind {
        Stranger::Empty => beside[..24].to_vec(),
        Stranger::Datagrams => {
            let all = records(beside).into_iter().map(as_datagram);
            [&beside[..24], &all.collect::<Vec<_>>().concat()].concat()
        }
        Stranger::Other => simulated("healthy-gro", true).points[0].bytes.clone(),
    }
}

fn traced_all(points: &[(String, Vec<u8>)]) -> Trace {
    traced(
        points
            .iter()
            .map(|(name, bytes)| input(name, bytes.clone())),
    )
}

/// What hops say, those on which no connection was found left out.
fn hops(trace: &Trace) -> Vec<String> {
    let shown = |hop: &Hop| {
        format!(
            "{} -> {}: {} {:?} {:?} {:?}",
            hop.from, hop.to, hop.connections_matched, hop.merged, hop.tso, hop.single
        )
    };
    let met = trace.hops.iter().filter(|hop| hop.connections_matched > 0);
    met.map(shown).collect()
}

/// Findings that name no stranger, with their hops.
fn findings(trace: &Trace) -> Vec<String> {
    let findings = judge(trace).findings.into_iter();
    let mine = findings.filter(|finding| {
        let about = finding.connection.as_ref();
        about.is_none_or(|about| about.point != "STRANGER")
    });
    let shown = |finding: coalescope_knowledge::Finding| {
        let hop = finding.hop.map(|hop| format!("{} -> {}", hop.from, hop.to));
        format!("{:?} {hop:?} {}", finding.id, finding.title)
    };
    mine.map(shown).collect()
}

fn named(outcome: &Outcome) -> Vec<(String, Vec<u8>)> {
    let points = outcome.points.iter();
    points
        .map(|point| (point.name.clone(), point.bytes.clone()))
        .collect()
}

#[test]
fn a_capture_of_something_else_takes_no_hop_and_no_finding_away() {
    let mut accused = 0;
    for story_of in stories().iter().filter(|story| story.points.len() > 1) {
        let points = named(&simulated(story_of.name, false));
        let alone = traced_all(&points);
        accused += u32::from(
            findings(&alone)
                .iter()
                .any(|finding| finding.contains("->")),
        );
        for kind in STRANGERS {
            for place in 0..=points.len() {
                let mut more = points.clone();
                let bytes = stranger(kind, &points[0].1);
                more.insert(place, ("STRANGER".to_owned(), bytes));
                let beside = traced_all(&more);
                let about = format!("{}: {kind:?} at {place}", story_of.name);
                assert_eq!(hops(&beside), hops(&alone), "{about}");
                if kind != Stranger::Other {
                    assert_eq!(findings(&beside), findings(&alone), "{about}");
                }
            }
        }
    }
    assert!(accused > 5, "{accused} stories with a finding on a hop");
}

/// Points in an order that is none of the path are sorted, whatever stands beside them.
#[test]
fn a_capture_of_something_else_keeps_no_path_from_being_put_in_order() {
    let mut sorted = 0;
    let three = stories().iter().filter(|story| story.points.len() > 2);
    for story_of in three {
        let mut points = named(&simulated(story_of.name, false));
        points.swap(0, 1);
        let alone = traced_all(&points);
        let is_sorted = |point: &coalescope_capture::facts::Point| point.name == points[0].0;
        sorted += u32::from(!alone.points.first().is_some_and(is_sorted));
        for kind in STRANGERS {
            for place in [1, points.len()] {
                let mut more = points.clone();
                let bytes = stranger(kind, &points[0].1);
                more.insert(place, ("STRANGER".to_owned(), bytes));
                let about = format!("{}: {kind:?} at {place}", story_of.name);
                assert_eq!(hops(&traced_all(&more)), hops(&alone), "{about}");
            }
        }
    }
    assert!(sorted > 0, "no story of three points is put in order");
}

/// A path that forks: one machine's connection passes the other machine's capture by.
#[test]
fn each_machine_behind_an_uplink_has_its_hop() {
    for name in ["healthy-gro", "openstack-gro", "random-loss"] {
        let [one, other] = [false, true].map(|is_other| named(&simulated(name, is_other)));
        let expected = [&one, &other].map(|points| hops(&traced_all(points)));
        let uplink = together(&one[0].1, &other[0].1);
        let machine =
            |points: &[(String, Vec<u8>)], name: &str| (name.to_owned(), points[1].1.clone());
        let forked = traced_all(&[
            (one[0].0.clone(), uplink),
            machine(&one, "VM1"),
            machine(&other, "VM2"),
        ]);
        let renamed = |hops: &[String], name: &str| -> Vec<String> {
            hops.iter()
                .map(|hop| hop.replace(&one[1].0, name))
                .collect()
        };
        let mut wanted = [renamed(&expected[0], "VM1"), renamed(&expected[1], "VM2")].concat();
        let mut found = hops(&forked);
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{name}");
    }
}
