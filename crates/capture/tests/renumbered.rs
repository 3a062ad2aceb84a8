//! A firewall that rewrites sequence numbers changes nothing of what becomes of frames between two points.

#[expect(dead_code, reason = "tests of whole traces use the rest")]
mod common;

use coalescope_capture::facts::Trace;
use coalescope_simulate::{Element, Hop, MILLISECOND, Scenario, story};
use common::traced;

/// What is added to the client's numbers and to the server's: by firewalls to both, by SYN proxies to one.
const BY: [[u32; 2]; 4] = [
    [0x9abc_def0, 0x1234_5678],
    [u32::MAX, 1],
    [0, 0xcafe_f00d],
    [0x8000_0000, 0],
];

/// What the hops say, but for how connections were recognised.
fn shown(trace: &Trace) -> String {
    let hops = trace.hops.iter().map(|hop| {
        let counts = (&hop.merged, &hop.tso, &hop.single, &hop.lone);
        let connections = (hop.connections_matched, hop.connections.len());
        format!("{} {} {connections:?} {counts:?}", hop.from, hop.to)
    });
    hops.collect::<Vec<_>>().join("\n")
}

/// The hops of a story with a firewall between its first two points, which adds these numbers.
fn behind_firewall(name: &str, by: [u32; 2], change: impl Fn(&mut Scenario)) -> String {
    let mut scenario = story(name).expect("a story");
    let leaves_sack = false;
    let firewall = Element::Hop(Hop::Renumber { by, leaves_sack });
    scenario.path.insert(1, firewall);
    change(&mut scenario);
    let (trace, _) = traced(&scenario);
    shown(&trace)
}

fn changes_nothing(change: impl Fn(&mut Scenario)) {
    for name in ["openstack-gro", "openstack-gro-fixed", "nat"] {
        let as_sent = behind_firewall(name, [0, 0], &change);
        assert!(as_sent.contains("(1, 1)"), "{name}: {as_sent}");
        for by in BY {
            let got = behind_firewall(name, by, &change);
            assert_eq!(got, as_sent, "{name} {by:x?}");
        }
    }
}

/// Gives each point its own beginning, and what it keeps of a frame.
fn captured(begins_ms: [u64; 2], snap: u32) -> impl Fn(&mut Scenario) {
    move |scenario| {
        let points = scenario
            .path
            .iter_mut()
            .filter_map(|element| match element {
                Element::Point(point) => Some(point),
                _ => None,
            });
        for (point, begins_ms) in points.zip(begins_ms) {
            point.begins = begins_ms * MILLISECOND;
            point.snap = snap;
        }
    }
}

#[test]
fn with_both_handshakes() {
    changes_nothing(|_| {});
}

/// SYNs with all their options, and too little of the payload to tell it from another.
#[test]
fn without_payload() {
    changes_nothing(captured([0, 0], 74));
}

/// `nat` has other ends at each point, and what they have in common is rewritten as well, so that only payload tells.
#[test]
fn without_handshakes_between_the_same_ends() {
    for (begins_ms, snap) in [([20, 20], 96), ([0, 30], 96), ([30, 0], 68)] {
        let change = captured(begins_ms, snap);
        for name in ["openstack-gro", "openstack-gro-fixed"] {
            let as_sent = behind_firewall(name, [0, 0], &change);
            assert!(as_sent.contains("(1, 1)"), "{name}: {as_sent}");
            assert_eq!(
                behind_firewall(name, BY[0], &change),
                as_sent,
                "{name} {begins_ms:?}"
            );
        }
    }
}
