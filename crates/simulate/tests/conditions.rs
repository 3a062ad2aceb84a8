//! What a scenario can be made to do besides the stories: each condition does what it is named for, and the
//! truth says so.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use coalescope_simulate::{
    Congestion, DropTruth, Element, Hop, Host, Lane, MILLISECOND, Other, Outcome, Reader, SECOND,
    Scenario, Side, Turn, Wrap, run, story,
};

/// Toward the client.
const HERE: usize = 0;

fn lanes(scenario: &mut Scenario, change: impl Fn(&mut Lane)) {
    for link in scenario.links_mut() {
        change(&mut link.toward[HERE]);
    }
}

fn dropped(outcome: &Outcome) -> &DropTruth {
    let mut drops = outcome.truth.drops.iter();
    drops.find(|drop| drop.toward == Side::Client).unwrap()
}

/// A client behind a sound link whose second point is at index 3.
fn sound() -> Scenario {
    story("healthy-gro").unwrap()
}

#[test]
fn frames_dropped_for_being_merged_are_told_from_others() {
    let outcome = run(&story("openstack-gro").unwrap());
    let drop = dropped(&outcome);
    let hop = outcome.truth.hop("UPLINK", "TAP").unwrap();
    assert_eq!((drop.element, drop.for_merging), (1, hop.merged.lost));
    assert_eq!(drop.total(), drop.for_merging);
    assert!(drop.segments >= 2 * drop.for_merging);
    let shown = |name: &str| outcome.truth.point(name).unwrap().lost_for_merging[HERE];
    assert_eq!((shown("UPLINK"), shown("TAP")), (hop.merged.lost, 0));
    let loss = run(&story("random-loss").unwrap());
    assert_eq!(loss.truth.dropped_for_merging(), 0);
    assert!(dropped(&loss).by_chance > 10);
    assert!(dropped(&run(&story("policer").unwrap())).full > 10);
}

#[test]
fn a_black_hole_swallows_full_frames_until_the_sender_probes() {
    let mut scenario = sound();
    let hop = Hop::Router {
        mtu: 1300,
        icmp: false,
    };
    scenario.path.insert(3, Element::Hop(hop));
    let stuck = run(&scenario);
    assert!(!stuck.truth.connections[0].closed);
    assert!(dropped(&stuck).too_long > 10);
    scenario.server.mtu_probing = true;
    let probed = run(&scenario);
    assert!(probed.truth.connections[0].closed);
    assert_eq!(probed.truth.dropped_for_merging(), 0);
}

#[test]
fn a_sender_goes_by_the_mtu_that_a_router_names_unless_icmp_is_filtered() {
    let mut scenario = sound();
    let hop = Hop::Router {
        mtu: 1300,
        icmp: true,
    };
    scenario.path.insert(3, Element::Hop(hop));
    let truth = run(&scenario).truth;
    assert!(truth.connections[0].closed);
    assert_eq!(truth.connections[0].toward[HERE].timeouts, 0);
    scenario.path.insert(4, Element::Hop(Hop::NoIcmp));
    assert!(!run(&scenario).truth.connections[0].closed);
}

#[test]
fn longer_frames_are_likelier_to_have_a_wrong_bit() {
    let lost = |mtu: u32| {
        let mut scenario = sound();
        (scenario.client.mtu, scenario.server.mtu) = (mtu, mtu);
        lanes(&mut scenario, |lane| lane.bit_errors = 2e-6);
        let drop = dropped(&run(&scenario)).by_chance as f64;
        drop / (4.0 * 1_048_576.0 / f64::from(mtu))
    };
    let (short, long) = (lost(500), lost(9000));
    assert!(long > 6.0 * short, "{long} {short}");
}

#[test]
fn damaged_frames_travel_on_and_are_sent_again() {
    let mut scenario = sound();
    let damage = Hop::Damage {
        toward: Side::Client,
        probability: 0.01,
    };
    scenario.path.insert(4, Element::Hop(damage));
    let outcome = run(&scenario);
    let point = &outcome.truth.point("WIRE").unwrap().flows[0][HERE];
    assert!(outcome.truth.connections[0].closed);
    assert!(point.retransmitted_frames >= dropped(&outcome).by_chance);
    assert!(dropped(&outcome).by_chance > 10);
}

#[test]
fn the_sender_knows_what_it_waited_for() {
    let lane = |scenario: &Scenario| {
        let lane = run(scenario).truth.connections[0].toward[HERE].clone();
        let all = (lane.end - lane.begin) as f64;
        (lane.idle as f64 / all, lane.window_limited as f64 / all)
    };
    let (idle, window) = lane(&story("idle-sender").unwrap());
    assert!(idle > 0.7 && window < 0.05, "{idle} {window}");
    let (idle, window) = lane(&story("small-window").unwrap());
    assert!(idle < 0.05 && window > 0.7, "{idle} {window}");
    let mut pausing = sound();
    pausing.client.receive_buffer = 100_000;
    pausing.client.reader = Reader::Pausing {
        every: 120 * MILLISECOND,
        pause: 100 * MILLISECOND,
    };
    let (idle, window) = lane(&pausing);
    assert!(idle < 0.05 && window > 0.7, "{idle} {window}");
}

#[test]
fn acknowledgements_may_stand_for_many_segments() {
    let mut scenario = story("upload").unwrap();
    let acks = |scenario: &Scenario| {
        let truth = run(scenario).truth;
        assert!(truth.connections[0].closed);
        truth.point("WIRE").unwrap().flows[0][HERE].pure_acks
    };
    let often = acks(&scenario);
    (scenario.server.ack_every, scenario.server.quick_acks) = (8, 0);
    let seldom = acks(&scenario);
    assert!(seldom * 2 < often, "{seldom} of {often}");
}

#[test]
fn a_pacing_sender_fills_the_path_through_losses() {
    let mut scenario = sound();
    lanes(&mut scenario, |lane| lane.loss = 0.01);
    let slow = run(&scenario).truth.throughput_bps(Side::Client);
    scenario.server.congestion = Congestion::Bbr;
    let paced = run(&scenario).truth;
    assert!(paced.connections[0].closed);
    let fast = paced.throughput_bps(Side::Client);
    assert!(fast > 100e6 && fast > 2.0 * slow, "{fast} {slow}");
}

#[test]
fn each_wrapping_adds_its_bytes_on_one_side_only() {
    let wraps = [
        (Wrap::Vlan(7), 4),
        (Wrap::QinQ(8, 9), 8),
        (Wrap::Gre, 24),
        (Wrap::Vxlan, 50),
        (Wrap::Geneve, 50),
    ];
    for (with, bytes) in wraps {
        let mut scenario = story("upload").unwrap();
        let end = |inner| Element::Hop(Hop::Wrap { inner, with });
        scenario.path.insert(3, end(Side::Client));
        scenario.path.push(end(Side::Server));
        let outcome = run(&scenario);
        assert!(outcome.truth.connections[0].closed);
        let first = |name: &str| {
            let file = &outcome.point(name).unwrap().bytes;
            common::read(file)[0].original
        };
        assert_eq!(first("WIRE") - first("CLIENT"), bytes, "{with:?}");
    }
}

#[test]
fn a_capture_may_begin_late_end_early_and_show_one_way() {
    let mut scenario = sound();
    let whole = run(&scenario).point("WIRE").unwrap().frames();
    let point = scenario.point_mut("WIRE").unwrap();
    (point.begins, point.ends) = (50 * MILLISECOND, 100 * MILLISECOND);
    point.only = Some(Side::Client);
    let outcome = run(&scenario);
    let truth = outcome.truth.point("WIRE").unwrap();
    assert_eq!(truth.flows[0][Side::Server.index()].frames, 0);
    let some = outcome.point("WIRE").unwrap().frames();
    assert!(some > 0 && some * 2 < whole, "{some} of {whole}");
    let hop = outcome.truth.hop("WIRE", "CLIENT").unwrap();
    assert_eq!((hop.single.lost, hop.merged.lost), (0, 0));
}

#[test]
fn a_routed_copy_comes_later_with_a_smaller_ttl() {
    let mut scenario = sound();
    let once = run(&scenario).point("WIRE").unwrap().frames();
    scenario.point_mut("WIRE").unwrap().routed = Some(MILLISECOND);
    let outcome = run(&scenario);
    let frames = common::read(&outcome.point("WIRE").unwrap().bytes);
    assert_eq!(frames.len(), 2 * once);
    let first = &frames[0];
    let copy = frames
        .iter()
        .find(|frame| frame.at == first.at + 1_000_000)
        .unwrap();
    assert_eq!(copy.bytes[22] + 1, first.bytes[22]);
    assert_ne!(copy.bytes[..12], first.bytes[..12]);
    assert_eq!(copy.bytes[26..], first.bytes[26..]);
}

#[test]
fn others_say_something_else_and_may_be_the_only_ones_hit() {
    let mut scenario = story("openstack-gro").unwrap();
    let fault = scenario.path[1].clone();
    scenario.path[1] = Element::OfSome {
        every: 2,
        element: Box::new(fault),
    };
    scenario.turns[1].bytes = 100_000;
    scenario.others = vec![Other {
        start: SECOND,
        turns: vec![
            Turn::new(Side::Client, 10),
            Turn::new(Side::Server, 300_000),
        ],
        client: Some(Host::default()),
        server: None,
    }];
    let truth = run(&scenario).truth;
    let bytes = truth.connections.iter().map(|c| c.toward[HERE].bytes);
    assert_eq!(bytes.collect::<Vec<_>>(), [100_000, 300_000]);
    assert!(truth.connections[1].toward[HERE].begin >= SECOND);
    assert_eq!(truth.drops[0].connections, 1);
    assert!(truth.dropped_for_merging() > 5);
}

#[test]
fn frames_of_more_segments_than_a_box_takes_are_dropped() {
    let mut scenario = story("openstack-gro").unwrap();
    if let Some(Element::Merge(merge)) = scenario.path.get_mut(4) {
        merge.interval *= 4;
    }
    scenario.path[1] = Element::Hop(Hop::DropMergedOver {
        toward: Side::Client,
        segments: 3,
    });
    let outcome = run(&scenario);
    let hop = outcome.truth.hop("UPLINK", "TAP").unwrap();
    assert!(hop.merged.arrived > 10 && hop.merged.lost > 10, "{hop:?}");
    assert_eq!(dropped(&outcome).for_merging, hop.merged.lost);
}

/// A router goes by what is said of the segments: exactly up to its MTU, or not at all where nothing is said.
#[test]
fn a_router_cuts_by_the_segment_size_that_it_is_told() {
    for (gso_size, is_refused) in [
        (Some(1000), false),
        (Some(1448), false),
        (Some(1449), true),
        (None, true),
    ] {
        let mut scenario = story("frag-needed").unwrap();
        for element in &mut scenario.path {
            if let Element::Merge(merge) = element {
                merge.reversible = true;
            }
        }
        let toward = Side::Client;
        let size = Element::Hop(Hop::SegmentSize { toward, gso_size });
        scenario.path.insert(3, size);
        let outcome = run(&scenario);
        let merged = outcome.truth.hop("WAN", "LAN").unwrap().merged;
        assert!(
            merged.lost + merged.resplit > 10,
            "{gso_size:?}: {merged:?}"
        );
        assert_eq!(merged.lost > 0, is_refused, "{gso_size:?}: {merged:?}");
        assert_eq!(merged.resplit > 0, !is_refused, "{gso_size:?}: {merged:?}");
    }
}

/// Neither end notices: each acknowledges what the other one sent.
#[test]
fn a_firewall_rewrites_numbers_and_nothing_else() {
    let behind = |by: [u32; 2]| {
        let mut scenario = story("random-loss").unwrap();
        let leaves_sack = false;
        let firewall = Element::Hop(Hop::Renumber { by, leaves_sack });
        scenario.path.insert(1, firewall);
        run(&scenario)
    };
    let (same, other) = (behind([0, 0]), behind([0, u32::MAX - 4_000]));
    let [front, back] = [0, same.points.len() - 1];
    assert_eq!(same.points[back].bytes, other.points[back].bytes);
    assert_ne!(same.points[front].bytes, other.points[front].bytes);
    assert_eq!(
        same.points[front].bytes.len(),
        other.points[front].bytes.len()
    );
}

/// As old Cisco ASAs did: the sender cannot use what it is told, and the transfer ends all the same.
#[test]
fn sack_blocks_that_are_left_as_they_are_help_nobody() {
    let behind = |leaves_sack| {
        let mut scenario = story("random-loss").unwrap();
        let by = [7 << 28, 3 << 29];
        let firewall = Element::Hop(Hop::Renumber { by, leaves_sack });
        scenario.path.insert(1, firewall);
        run(&scenario)
    };
    let all = |outcome: &Outcome| {
        let point = outcome.truth.points.last().unwrap();
        point.flows[0][HERE].unique_bytes
    };
    let (told, untold) = (behind(false), behind(true));
    assert_eq!(all(&told), all(&untold));
    assert_ne!(told.points[0].bytes, untold.points[0].bytes);
}
