//! Connections that are slow for another reason, or not slow at all.

use super::Story;
use super::incidents::{MBIT, cut_from, download, link, point};
use crate::path::{Bursts, Element, Format, Hop, Lane, Link, Merge, Point, Reorder, Wrap};
use crate::scenario::{Cause, Reader, Scenario, Turn};
use crate::schedule::{MICROSECOND, MILLISECOND, Nanos, SECOND};
use crate::side::Side;

macro_rules! look_alike {
    ($name:literal, $title:literal, $cause:ident, $points:expr, $finding:expr, $build:expr) => {
        Story {
            name: $name,
            title: $title,
            cause: Cause::$cause,
            points: &$points,
            finding: $finding,
            build: $build,
        }
    };
}

#[rustfmt::skip]
pub(super) const ALL: [Story; 18] = [
    look_alike!("random-loss", "1% of random loss behind a router that cuts merged frames again", PathLoss, ["VM", "UPLINK"], Some("loss-not-merging"), random_loss),
    look_alike!("burst-loss", "loss in bursts, whatever the frames' size", PathLoss, ["VM", "UPLINK"], Some("loss-not-merging"), burst_loss),
    look_alike!("tso-sender", "large frames at the sender, which its NIC cuts", PathLoss, ["RECEIVER", "SENDER"], Some("loss-not-merging"), tso_sender),
    look_alike!("jumbo", "an MTU of 9000 at both ends and nothing merged", PathLoss, ["NEAR", "FAR"], Some("loss-not-merging"), jumbo),
    look_alike!("loopback", "a loopback interface with an MTU of 65536", Healthy, ["LO"], None, loopback),
    look_alike!("zero-window", "a receiver that reads slowly", SlowReader, ["CLIENT"], Some("receiver-window"), zero_window),
    look_alike!("idle-sender", "a sender that pauses", IdleSender, ["CLIENT"], Some("sender-idle"), idle_sender),
    look_alike!("rate-limit", "a shaper of 5 Mbit/s", RateLimit, ["VM", "UPLINK"], Some("path-bandwidth"), rate_limit),
    look_alike!("policer", "a policer of 5 Mbit/s", RateLimit, ["VM", "UPLINK"], Some("loss-not-merging"), policer),
    look_alike!("doubled", "a mirror that copies each frame twice", Healthy, ["CLIENT", "MIRROR"], None, doubled),
    look_alike!("sniffer-drops", "a sniffer that misses 3% of the frames", Healthy, ["VM", "UPLINK"], None, sniffer_drops),
    look_alike!("reorder", "three links that change the order, so that nothing merges", Reordering, ["CLIENT"], Some("reordered-before-merge"), reorder),
    look_alike!("small-window", "a receive buffer of 16 KB", SmallWindow, ["CLIENT"], Some("receiver-window"), small_window),
    look_alike!("healthy-gro", "GRO at the receiving end", Healthy, ["CLIENT", "WIRE"], None, healthy_gro),
    look_alike!("nat", "an address translator between the points", Healthy, ["INSIDE", "OUTSIDE"], None, nat),
    look_alike!("vxlan", "a VXLAN tunnel between the points", Healthy, ["VM", "UNDERLAY"], None, vxlan),
    look_alike!("clock-offset", "a clock that is 37 s ahead and drifts by 40 ppm", Healthy, ["CLIENT", "WIRE"], None, clock_offset),
    look_alike!("upload", "the client sends", Healthy, ["CLIENT", "WIRE"], None, upload),
];

/// A client with GRO behind a sound link.
fn plain(name: &str, bytes: u64) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(bytes);
    scenario.path = vec![
        point("CLIENT"),
        cut_from(Side::Client),
        Element::Merge(Merge::gro(Side::Client, 150 * MICROSECOND)),
        link(200 * MBIT, 5 * MILLISECOND),
        cut_from(Side::Server),
    ];
    scenario
}

/// Like `plain`, with a second point on the wire.
fn with_wire(name: &str, bytes: u64) -> Scenario {
    let mut scenario = plain(name, bytes);
    scenario.path.insert(3, point("WIRE"));
    scenario
}

/// A VM behind a router that segments merged frames, with an element in between.
fn behind_router(name: &str, something: Element) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(4 << 20);
    scenario.path = vec![
        point("VM"),
        something,
        Element::Hop(Hop::Router {
            mtu: 1500,
            icmp: true,
        }),
        point("UPLINK"),
        cut_from(Side::Client),
        Element::Merge(Merge::gro(Side::Client, 150 * MICROSECOND)),
        link(200 * MBIT, 5 * MILLISECOND),
        cut_from(Side::Server),
    ];
    scenario
}

/// Loses frames toward the client only.
fn lossy(lane: Lane) -> Element {
    let back = Lane {
        loss: 0.0,
        bursts: None,
        reorder: None,
        ..lane.clone()
    };
    Element::Link(Link {
        toward: [lane, back],
    })
}

fn random_loss(name: &str) -> Scenario {
    let lane = Lane::new(1000 * MBIT, 100 * MICROSECOND).losing(0.01);
    behind_router(name, lossy(lane))
}

fn burst_loss(name: &str) -> Scenario {
    let mut lane = Lane::new(1000 * MBIT, 100 * MICROSECOND);
    lane.bursts = Some(Bursts {
        begin: 0.008,
        end: 0.25,
        loss: 0.8,
    });
    behind_router(name, lossy(lane))
}

fn tso_sender(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(4 << 20);
    let mut sender = Point::new("SENDER");
    sender.own = Some(Side::Server);
    sender.format = Format::Pcapng;
    scenario.path = vec![
        point("RECEIVER"),
        cut_from(Side::Client),
        lossy(Lane::new(200 * MBIT, 5 * MILLISECOND).losing(0.005)),
        cut_from(Side::Server),
        Element::Point(sender),
    ];
    scenario
}

fn jumbo(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(8 << 20);
    scenario.client.mtu = 9000;
    scenario.server.mtu = 9000;
    scenario.path = vec![
        point("NEAR"),
        cut_from(Side::Client),
        lossy(Lane::new(1000 * MBIT, 2 * MILLISECOND).losing(0.006)),
        point("FAR"),
        link(1000 * MBIT, 100 * MICROSECOND),
        cut_from(Side::Server),
    ];
    scenario
}

fn loopback(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(16 << 20);
    scenario.client.mtu = 65_536;
    scenario.server.mtu = 65_536;
    scenario.path = vec![point("LO"), link(40_000 * MBIT, 10 * MICROSECOND)];
    scenario
}

fn zero_window(name: &str) -> Scenario {
    let mut scenario = plain(name, 2 << 20);
    scenario.client.receive_buffer = 64_000;
    // Scaled windows are rounded and never quite close.
    scenario.client.window_scale = 0;
    scenario.client.reader = Reader::Steady {
        bytes: 64_000,
        every: 500 * MILLISECOND,
    };
    scenario
}

fn idle_sender(name: &str) -> Scenario {
    let mut scenario = plain(name, 0);
    let answer = Turn::new(Side::Server, 1 << 20).in_writes(16 * 1024, 100 * MILLISECOND);
    scenario.turns = vec![Turn::new(Side::Client, 200), answer];
    scenario
}

fn bucket(name: &str, queue: usize) -> Scenario {
    let bucket = Hop::TokenBucket {
        toward: Side::Client,
        rate_bps: 5 * MBIT,
        burst: 32 * 1024,
        queue,
    };
    let mut scenario = behind_router(name, Element::Hop(bucket));
    scenario.turns = download(2 << 20);
    scenario
}

fn rate_limit(name: &str) -> Scenario {
    bucket(name, 256 * 1024)
}

fn policer(name: &str) -> Scenario {
    bucket(name, 0)
}

fn doubled(name: &str) -> Scenario {
    let mut scenario = with_wire(name, 2 << 20);
    if let Some(wire) = scenario.point_mut("WIRE") {
        wire.name = "MIRROR".to_owned();
        wire.doubled = Some(4 * MICROSECOND);
    }
    scenario
}

fn sniffer_drops(name: &str) -> Scenario {
    let mut scenario = behind_router(name, Element::Hop(Hop::Bridge));
    if let Some(point) = scenario.point_mut("VM") {
        point.missed = 0.03;
    }
    scenario
}

/// Story C without its GRO: packets over several links arrive out of order.
fn reorder(name: &str) -> Scenario {
    let mut scenario = plain(name, 4 << 20);
    for link in scenario.links_mut() {
        link.toward[0].reorder = Some(Reorder {
            probability: 0.33,
            extra: 200 * MICROSECOND,
        });
    }
    scenario
}

fn small_window(name: &str) -> Scenario {
    let mut scenario = plain(name, 2 << 20);
    scenario.client.receive_buffer = 16 * 1024;
    scenario
}

fn healthy_gro(name: &str) -> Scenario {
    with_wire(name, 4 << 20)
}

fn nat(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(2 << 20);
    scenario.path = vec![
        point("INSIDE"),
        cut_from(Side::Client),
        Element::Hop(Hop::Nat),
        point("OUTSIDE"),
        link(200 * MBIT, 5 * MILLISECOND),
        cut_from(Side::Server),
    ];
    scenario
}

fn vxlan(name: &str) -> Scenario {
    let mut scenario = Scenario::new(name, Cause::Healthy);
    scenario.turns = download(2 << 20);
    scenario.client.mtu = 1450;
    scenario.server.mtu = 1450;
    let with = Wrap::Vxlan;
    let tunnel = |inner| Element::Hop(Hop::Wrap { inner, with });
    scenario.path = vec![
        point("VM"),
        cut_from(Side::Client),
        tunnel(Side::Client),
        point("UNDERLAY"),
        Element::Merge(Merge::gro(Side::Client, 150 * MICROSECOND)),
        link(200 * MBIT, 5 * MILLISECOND),
        tunnel(Side::Server),
        cut_from(Side::Server),
    ];
    scenario
}

/// How far ahead the second point's clock is.
const AHEAD: Nanos = 37 * SECOND;

fn clock_offset(name: &str) -> Scenario {
    let mut scenario = with_wire(name, 4 << 20);
    if let Some(wire) = scenario.point_mut("WIRE") {
        wire.offset = AHEAD as i64;
        wire.drift_ppb = 40_000;
    }
    scenario
}

fn upload(name: &str) -> Scenario {
    let mut scenario = with_wire(name, 0);
    scenario.turns = vec![
        Turn::new(Side::Client, 4 << 20),
        Turn::new(Side::Server, 200).after(MILLISECOND),
    ];
    scenario
}
