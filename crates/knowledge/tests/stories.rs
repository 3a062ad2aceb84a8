//! What is found in every simulated story, and what must not be.

#[path = "common/input.rs"]
mod given;

use coalescope_capture::facts::Trace;
use coalescope_capture::{Options, trace};
use coalescope_knowledge::{Diagnosis, Id, Merging, Proof, compare, judge};
use coalescope_simulate::{
    Cause, Element, Format, Hop, Lane, Link, Outcome, Point, Scenario, Side, Turn, run, stories,
    story,
};
use given::input;

/// The facts of some of a scenario's points; of all if none is named.
fn traced(scenario: &Scenario, only: &[&str]) -> Trace {
    traced_points(&run(scenario), only)
}

/// The same of a run.
fn traced_points(outcome: &Outcome, only: &[&str]) -> Trace {
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    let inputs = outcome
        .points
        .iter()
        .filter(|point| wanted(&point.name))
        .map(|point| input(&point.name, point.bytes.clone()));
    given::traced(inputs)
}

fn ids(diagnosis: &Diagnosis) -> Vec<&'static str> {
    diagnosis
        .findings
        .iter()
        .map(|finding| finding.id.name())
        .collect()
}

/// What all points of a story together must give; the first finding decides.
const EXPECTED: &[(&str, Merging, &str)] = &[
    ("openstack-gro", Merging::Harms, "merged-frames-lost"),
    ("openstack-gro-fixed", Merging::NotSeen, "healthy"),
    (
        "openstack-gro-neighbour",
        Merging::Harms,
        "merged-frames-lost",
    ),
    ("freebsd-bridge-lro", Merging::Harms, "merged-frames-lost"),
    ("freebsd-bridge-host", Merging::Innocent, "path-bandwidth"),
    ("ipvs-gro-direct", Merging::Innocent, "healthy"),
    ("ipvs-gro-vip", Merging::Harms, "merged-frames-lost"),
    ("hyperv-rsc-jumbo", Merging::Harms, "merged-frames-lost"),
    ("hyperv-rsc-1500", Merging::Innocent, "healthy"),
    ("frag-needed", Merging::Harms, "merged-frames-rejected"),
    ("random-loss", Merging::Innocent, "loss-not-merging"),
    ("burst-loss", Merging::Innocent, "loss-not-merging"),
    ("tso-sender", Merging::NotSeen, "loss-not-merging"),
    ("jumbo", Merging::NotSeen, "loss-not-merging"),
    ("loopback", Merging::NotSeen, "healthy"),
    ("zero-window", Merging::Innocent, "receiver-window"),
    ("idle-sender", Merging::Innocent, "sender-idle"),
    ("rate-limit", Merging::Innocent, "path-bandwidth"),
    ("policer", Merging::Innocent, "loss-not-merging"),
    ("doubled", Merging::Innocent, "healthy"),
    ("sniffer-drops", Merging::Innocent, "healthy"),
    ("reorder", Merging::Innocent, "reordered-before-merge"),
    ("small-window", Merging::Innocent, "receiver-window"),
    ("healthy-gro", Merging::Innocent, "healthy"),
    ("nat", Merging::NotSeen, "healthy"),
    ("vxlan", Merging::Innocent, "healthy"),
    ("clock-offset", Merging::Innocent, "healthy"),
    ("upload", Merging::NotSeen, "path-bandwidth"),
];

/// The first line says what it comes to: a speed, and how many frames vanish where.
#[test]
fn what_a_finding_comes_to_is_said_in_a_line() {
    let impact = |name: &str, only: &[&str]| {
        let scenario = story(name).expect("a story");
        judge(&traced(&scenario, only)).verdict.impact
    };
    let of = |name: &str| impact(name, &[]).unwrap_or_default();
    let vanish = of("openstack-gro");
    assert!(
        vanish.contains("bit/s where the path carries more: "),
        "{vanish}"
    );
    assert!(
        vanish.contains(" merged frames vanish between "),
        "{vanish}"
    );
    let lossy = of("random-loss");
    assert!(
        lossy.contains("bit/s: ") && !lossy.contains("carries more"),
        "{lossy}"
    );
    assert_eq!(impact("healthy-gro", &[]), None);
}

/// The numbers of that line are those of the sentence below it, and all who lose frames on a hop have numbers.
#[test]
fn the_line_has_the_numbers_of_its_finding() {
    let mut lines = 0;
    for one in stories() {
        let scenario = story(one.name).unwrap();
        let names: Vec<String> = run(&scenario)
            .points
            .into_iter()
            .map(|point| point.name)
            .collect();
        let pairs = names.windows(2).map(|pair| [&*pair[0], &*pair[1]].to_vec());
        for only in pairs.chain([Vec::new()]) {
            let diagnosis = judge(&traced(&scenario, &only));
            let first = &diagnosis.findings[0];
            let Some(impact) = &diagnosis.verdict.impact else {
                continue;
            };
            if first.id == Id::MergedFramesLost && first.hop.is_some() {
                let (_, what) = impact.split_once(": ").expect("what");
                let words: Vec<&str> = what.split(' ').take(3).collect();
                let said = &first.evidence[0].text;
                let is_same = said.starts_with(&words.join(" "));
                assert!(is_same, "{}: {impact} {said}", one.name);
                lines += 1;
            }
        }
    }
    assert!(lines >= 8, "{lines}");
}

#[test]
fn every_story_gives_its_finding() {
    assert_eq!(
        EXPECTED.len(),
        stories().len(),
        "a story without an expectation"
    );
    let mut wrong = Vec::new();
    for (name, merging, id) in EXPECTED {
        let diagnosis = judge(&traced(&story(name).unwrap(), &[]));
        if diagnosis.verdict.merging != *merging || ids(&diagnosis)[0] != *id {
            wrong.push(format!(
                "{name}: {:?} {:?}",
                diagnosis.verdict,
                ids(&diagnosis)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn story_e_is_lost_between_cap_02_and_vm_01() {
    let diagnosis = judge(&traced(&story("hyperv-rsc-jumbo").unwrap(), &[]));
    let finding = &diagnosis.findings[0];
    let hop = finding.hop.as_ref().unwrap();
    assert_eq!(
        (finding.id, &*hop.from, &*hop.to),
        (Id::MergedFramesLost, "CAP-02", "VM-01")
    );
    assert_eq!(finding.proof, Proof::Observed);
    assert!(!finding.evidence[0].frames.is_empty());
    assert_eq!(
        diagnosis.findings.len(),
        1,
        "one cause, one finding: {:?}",
        ids(&diagnosis)
    );
}

/// Every set of points that leaves some out: never an accusation without merged frames to show,
/// and never an acquittal of what is guilty.
#[test]
fn fewer_points_never_turn_the_verdict_around() {
    let mut wrong = Vec::new();
    for (name, merging, _) in EXPECTED {
        let points = stories().iter().find(|s| s.name == *name).unwrap().points;
        let guilty = *merging == Merging::Harms;
        for subset in 1..(1 << points.len()) - 1u32 {
            let some: Vec<&str> = (0..points.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| points[i])
                .collect();
            let diagnosis = judge(&traced(&story(name).unwrap(), &some));
            let allowed: &[Merging] = if guilty {
                &[Merging::Harms, Merging::Unclear]
            } else {
                &[Merging::Innocent, Merging::NotSeen]
            };
            if !allowed.contains(&diagnosis.verdict.merging) {
                wrong.push(format!(
                    "{name} {some:?}: {:?} {:?}",
                    diagnosis.verdict,
                    ids(&diagnosis)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The innocent stay innocent whatever the dice say.
#[test]
fn no_seed_convicts_the_innocent() {
    let mut wrong = Vec::new();
    for (name, _, _) in EXPECTED
        .iter()
        .filter(|(_, merging, _)| *merging != Merging::Harms)
    {
        for seed in 100..108 {
            let scenario = Scenario {
                seed,
                ..story(name).unwrap()
            };
            let diagnosis = judge(&traced(&scenario, &[]));
            if matches!(diagnosis.verdict.merging, Merging::Harms | Merging::Unclear) {
                wrong.push(format!("{name} seed {seed}: {:?}", diagnosis.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// And the guilty are found whatever they say.
#[test]
fn every_seed_convicts_the_guilty() {
    let mut wrong = Vec::new();
    for (name, _, id) in EXPECTED
        .iter()
        .filter(|(_, merging, _)| *merging == Merging::Harms)
    {
        for seed in 100..104 {
            let scenario = Scenario {
                seed,
                ..story(name).unwrap()
            };
            let diagnosis = judge(&traced(&scenario, &[]));
            if ids(&diagnosis)[0] != *id {
                wrong.push(format!("{name} seed {seed}: {:?}", diagnosis.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn story_d_side_by_side() {
    let mut trace = traced(&story("ipvs-gro-direct").unwrap(), &["CLIENT"]);
    trace
        .points
        .extend(traced(&story("ipvs-gro-vip").unwrap(), &["CLIENT"]).points);
    let (comparison, findings) = compare(&trace).unwrap();
    assert!(comparison.first.data_frames < 20 && comparison.second.data_frames > 60);
    assert_eq!(findings[0].id, Id::NoMerging);
}

/// A second capture in front of the fault must not take the accusation away.
#[test]
fn an_earlier_point_takes_nothing_away() {
    let trace = traced(&story("hyperv-rsc-jumbo").unwrap(), &["CAP-01", "CAP-02"]);
    assert_eq!(judge(&trace).verdict.merging, Merging::Harms);
}

/// Frames that a hop merged are not their sender's uncut ones, when no checksum tells either.
#[test]
fn merging_seen_on_a_hop_disproves_tso() {
    let mut outcome = run(&story("hyperv-rsc-jumbo").unwrap());
    for point in &mut outcome.points {
        zero_checksums(&mut point.bytes);
    }
    let trace = traced_points(&outcome, &[]);
    let point = trace
        .points
        .iter()
        .find(|point| point.name == "CAP-02")
        .unwrap();
    assert_eq!(point.connections.get(0).unwrap().to_client.tso_frames, 0);
    assert_eq!(judge(&trace).verdict.merging, Merging::Harms);
}

/// Zeroes the TCP checksums of a little-endian pcap file of Ethernet and IPv4 without options.
fn zero_checksums(pcap: &mut [u8]) {
    let mut at = 24;
    while at + 16 <= pcap.len() {
        let captured: [u8; 4] = *pcap[at + 8..].first_chunk().expect("a record header");
        pcap[at + 16 + 14 + 20 + 16..][..2].fill(0);
        at += 16 + u32::from_le_bytes(captured) as usize;
    }
}

/// One pcapng whose interfaces are the points says what the single captures say.
#[test]
fn interfaces_can_be_points() {
    let outcome = run(&story("hyperv-rsc-jumbo").unwrap());
    let input = input("all", outcome.combined());
    let options = Options {
        points_by_interface: true,
        ..Options::default()
    };
    let trace = trace(vec![input], &options, &mut |_| {}).unwrap();
    let names: Vec<&str> = trace.points.iter().map(|point| &*point.name).collect();
    let diagnosis = judge(&trace);
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(ids(&diagnosis), ["merged-frames-lost"]);
    let hop = diagnosis.findings[0].hop.as_ref().unwrap();
    assert_eq!((&*hop.from, &*hop.to), ("CAP-02", "VM-01"));
}

/// What a sender left to its card comes whole, and a router behind refuses it: it is the sender's TSO that has to go, where
/// it was the router's own receiving otherwise.
#[test]
fn a_refused_frame_that_nobody_merged_is_its_senders() {
    let mut scenario = Scenario::new("bare", Cause::MergedFramesLost);
    scenario.turns = vec![
        Turn::new(Side::Client, 200),
        Turn::new(Side::Server, 200_000),
    ];
    scenario.limit = 20_000_000_000;
    let lane = Lane::new(200_000_000, 5_000_000);
    let mut own = Point::new("VM");
    own.own = Some(Side::Server);
    own.format = Format::Pcapng;
    scenario.path = vec![
        Element::Point(Point::new("POD")),
        Element::Hop(Hop::Router {
            mtu: 1500,
            icmp: true,
        }),
        Element::Point(Point::new("NODE")),
        Element::Link(Link::both(lane)),
        Element::Hop(Hop::SegmentSize {
            toward: Side::Client,
            gso_size: None,
        }),
        Element::Point(own),
    ];
    let next = |diagnosis: &Diagnosis| {
        let mut findings = diagnosis.findings.iter();
        let refused = findings.find(|one| one.id == Id::MergedFramesRejected);
        refused.expect("refused").next.clone()
    };
    let bare = next(&judge(&traced(&scenario, &[])));
    assert!(bare.contains("TSO at the sender"), "{bare}");
    let lro = story("frag-needed").expect("the story");
    let lro = next(&judge(&traced(&lro, &[])));
    assert!(lro.contains("switch off LRO"), "{lro}");
}
