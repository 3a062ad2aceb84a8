//! Elements between the ends that are no plain links: boxes that lower the segment size, repeat or damage frames, lines
//! that fail for a while or take another way, tunnels for some connections.

mod outages;

use coalescope_simulate::{
    Element, Hop, Lane, Link, MICROSECOND, MILLISECOND, MergeKind, SECOND, Scenario, Side,
};

use super::base::{bytes, plain, routed, sound_twin};
use super::guilty::{any_bridge_with, behind_card, bridge_behind, bytes as few_bytes, forwarded};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{
    HERE, MBIT, Wan, any_kind, cut_from, end_of, merging, near, point, scenario, wrap,
};
use outages::{outage, outage_behind, outage_of_bulk};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "clamped-and-lost",
        "a box lowers the segment size that SYNs announce, and merged frames are lost",
        clamped_and_lost,
    ),
    Family::guilty(
        "merged-and-damaged",
        "merged frames arrive with a wrong checksum",
        merged_and_damaged,
    ),
    Family::guilty(
        "some-tunnelled-and-lost",
        "some connections go by a tunnel, and merged frames are lost",
        some_tunnelled_and_lost,
    ),
    Family::innocent(
        "clamped",
        "a box lowers the segment size that SYNs announce",
        clamped,
    ),
    Family::innocent("repeated", "some frames come twice", repeated),
    Family::innocent("outage", "nothing gets through for a while", outage),
    Family::innocent(
        "outage-of-bulk",
        "after an exchange of small messages, nothing of the bulk gets through, for a while or for good",
        outage_of_bulk,
    ),
    Family::innocent(
        "outage-behind",
        "nothing gets through for a moment behind the merging card, in a transfer that is soon over",
        outage_behind,
    ),
    Family::innocent(
        "starved-policer",
        "a policer behind the merging card whose bucket just holds the longest frame",
        starved_policer,
    ),
    Family::innocent(
        "pauses",
        "a guest that is not scheduled now and then, behind the merging card",
        pauses,
    ),
    Family::innocent("detour", "the way becomes longer in the middle", detour),
    Family::innocent(
        "cut-and-lost-by-chance",
        "what was merged is cut again, and some segments are lost, of whichever frame",
        cut_and_lost,
    ),
    Family::innocent(
        "tight-policer",
        "a policer for what a router cuts, with room for a few frames",
        tight_policer,
    ),
    Family::innocent(
        "black-hole-behind",
        "full frames never arrive, merged or not, and shorter ones do",
        black_hole_behind,
    ),
    Family::innocent(
        "some-tunnelled",
        "some connections go by a tunnel, on a path that loses frames",
        some_tunnelled,
    ),
    Family::innocent(
        "bloated-bare",
        "a queue of half a second, and hosts without timestamps",
        bloated_bare,
    ),
    Family::innocent(
        "virtual-sender",
        "a VM that leaves the cutting to its hypervisor's card, and loss",
        virtual_sender,
    ),
    Family::innocent(
        "sender-checksums",
        "a sender that leaves the cutting to its card, but not the checksums, and loss",
        sender_checksums,
    ),
];

/// Clamps the MSS one way, or both ways.
fn clamp(scenario: &mut Scenario, dice: &mut Dice) {
    let place = dice.whole(1..=scenario.path.len() as u64) as usize;
    let mss = dice.scaled_whole(500, 1_400) as u16;
    let hop = |toward| Element::Hop(Hop::ClampMss { toward, mss });
    if dice.chance(0.5) {
        scenario.path.insert(place, hop(Side::Client));
    }
    scenario.path.insert(place, hop(Side::Server));
}

fn clamped_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "clamped-and-lost", clamp)
}

fn clamped(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "clamped", wan);
    clamp(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn merged_and_damaged(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let damage = Element::Hop(Hop::DamageMerged { toward: HERE });
    let scenario = few_behind_card(dice, "merged-and-damaged", wan, damage);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// A tunnel from a place to another for every second connection or so.
fn tunnel_some(scenario: &mut Scenario, dice: &mut Dice, from: usize, to: usize) {
    scenario.connections = dice.whole(4..=12) as usize;
    scenario.client.mtu -= 50;
    scenario.server.mtu -= 50;
    let (with, every) = (wrap(dice), dice.whole(2..=3) as usize);
    let end = |inner| Element::OfSome {
        every,
        element: Box::new(end_of(with, inner)),
    };
    scenario.path.insert(to, end(HERE.other()));
    scenario.path.insert(from, end(HERE));
}

fn some_tunnelled_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 30.0));
    let mut scenario = bridge_behind(dice, "some-tunnelled-and-lost", wan);
    scenario.turns[1].bytes = dice.scaled_whole(60_000, 300_000);
    let last = scenario.path.len();
    let from = dice.pick(&[1, 4, 5]);
    tunnel_some(&mut scenario, dice, from, last);
    Drawn::one(scenario, Otherwise::Healthy).unsnapped()
}

fn some_tunnelled(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let loss = dice.scaled(0.008, 0.04);
    let way = Wan {
        delay: 50 * MICROSECOND,
        ..wan
    };
    let lossy = way.link_with(|lane| lane.loss = loss);
    let mut scenario = routed(dice, "some-tunnelled", wan, lossy);
    scenario.turns[1].bytes = dice.scaled_whole(300_000, 900_000);
    let last = scenario.path.len();
    tunnel_some(&mut scenario, dice, 7, last);
    let twin = sound_twin(&scenario, 1);
    Drawn::one(scenario, Otherwise::Loss)
        .beside(twin)
        .unsnapped()
}

fn repeated(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "repeated", wan);
    let repeat = Hop::Repeat {
        toward: dice.pick(&[HERE, HERE, HERE.other()]),
        probability: dice.scaled(0.002, 0.1),
        later: dice.scaled_whole(2 * MICROSECOND, 2 * MILLISECOND),
    };
    let place = dice.pick(&[4, 6]);
    scenario.path.insert(place, Element::Hop(repeat));
    Drawn::one(scenario, Otherwise::Healthy)
}

/// An extra link on the path, whose direction toward the receiver is changed.
fn way_with(wan: Wan, change: impl FnOnce(&mut Lane)) -> Element {
    let way = Wan {
        delay: 20 * MICROSECOND,
        ..wan
    };
    way.link_with(change)
}

/// The bridge of story A, sound, with an element between card and guest.
fn few_behind_card(dice: &mut Dice, name: &str, wan: Wan, something: Element) -> Scenario {
    let bytes = few_bytes(dice);
    let scenario = scenario(dice, name, bytes);
    behind_card(dice, scenario, wan, something)
}

fn starved_policer(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 500), (1.0, 30.0));
    let segments = dice.whole(3..=16);
    let bucket = Hop::TokenBucket {
        toward: HERE,
        rate_bps: dice.scaled_whole(MBIT / 4, 5 * MBIT),
        burst: (1_514 * segments + 200) as usize,
        queue: 0,
    };
    let mut scenario = few_behind_card(dice, "starved-policer", wan, Element::Hop(bucket));
    for element in &mut scenario.path {
        if let Element::Merge(merge) = element {
            merge.max_segments = segments as usize;
        }
    }
    let mut unmerged = scenario.clone();
    unmerged
        .path
        .retain(|element| !matches!(element, Element::Merge(_)));
    Drawn::one(scenario, Otherwise::NotMerging).beside(unmerged)
}

fn pauses(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.0, 30.0));
    let pause = dice.scaled_whole(20, 1_000) * MILLISECOND;
    let every = pause + dice.scaled_whole(50, 1_500) * MILLISECOND;
    let way = way_with(wan, |lane| lane.pauses = Some((every, pause)));
    let mut scenario = few_behind_card(dice, "pauses", wan, way);
    scenario.turns[1].bytes = dice.scaled_whole(400_000, 8_000_000);
    Drawn::one(scenario, Otherwise::NotMerging)
}

fn detour(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (2.0, 30.0));
    let mut scenario = plain(dice, "detour", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 6_000_000);
    let at = (dice.between(4.0, 12.0) * 2.0 * wan.delay as f64) as u64;
    let longer = (dice.scaled(0.1, 2.0) * 2.0 * wan.delay as f64) as u64;
    let way = way_with(wan, |lane| lane.detour = Some((at, longer)));
    scenario.path.insert(5, way);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn cut_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let splitter = Hop::Splitter {
        toward: HERE,
        loss: 0.0,
    };
    let loss = dice.scaled(0.01, 0.15);
    let kind = MergeKind::Gro;
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "cut-and-lost-by-chance", bytes);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, Element::Hop(splitter), merge, wan);
    let way = way_with(wan, |lane| lane.loss = loss);
    scenario.path.insert(4, way);
    let twin = sound_twin(&scenario, 4);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// Segments from a router come back to back, and the bucket holds two to ten frames.
fn tight_policer(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let bucket = Hop::TokenBucket {
        toward: HERE,
        rate_bps: dice.scaled_whole(wan.rate_bps / 10, wan.rate_bps / 2),
        burst: 1_514 * dice.whole(2..=10) as usize,
        queue: 0,
    };
    let scenario = routed(dice, "tight-policer", wan, Element::Hop(bucket));
    let twin = sound_twin(&scenario, 1);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn black_hole_behind(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 30.0));
    let bytes = few_bytes(dice);
    let mut scenario = scenario(dice, "black-hole-behind", bytes);
    let kind = any_kind(dice);
    let merge = merging(dice, wan, kind);
    let full = scenario.client.mtu as usize;
    let hop = Hop::DropLargerThan {
        toward: HERE,
        bytes: full - dice.whole(4..=60) as usize,
    };
    forwarded(&mut scenario, dice, Element::Hop(hop), merge, wan);
    scenario.limit = dice.whole(10..=40) * SECOND;
    let twin = sound_twin(&scenario, 4);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn bloated_bare(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 20.0));
    let mut scenario = plain(dice, "bloated-bare", wan);
    (scenario.client.timestamps, scenario.server.timestamps) = (false, false);
    let rate_bps = dice.scaled_whole(2 * MBIT, 20 * MBIT);
    let long = dice.scaled_whole(200, 1_000) * MILLISECOND;
    let mut slow = Lane::new(rate_bps, 50 * MICROSECOND);
    slow.queue = (rate_bps as f64 / 8.0 * long as f64 / 1e9) as usize;
    let back = Lane::new(wan.rate_bps, 50 * MICROSECOND);
    let link = Link {
        toward: [slow, back],
    };
    scenario.path.insert(6, Element::Link(link));
    scenario.turns[1].bytes = dice.scaled_whole(1_000_000, 3_000_000);
    Drawn::one(scenario, Otherwise::HiddenQueue)
}

fn virtual_sender(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "virtual-sender", bytes);
    (scenario.server.tso, scenario.server.checksum_offload) = (true, true);
    let kind = any_kind(dice);
    scenario.path = vec![
        point("RECEIVER"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, kind)),
        wan.link(),
        cut_from(Side::Server),
        point("HYP-UPLINK"),
        Element::Hop(Hop::Bridge),
        point("HYP-TAP"),
        near(dice, wan),
        point("VM"),
    ];
    lossy_at(dice, scenario, wan, 3)
}

fn sender_checksums(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "sender-checksums", bytes);
    (scenario.server.tso, scenario.server.checksum_offload) = (true, false);
    scenario.path = vec![
        point("RECEIVER"),
        cut_from(Side::Client),
        wan.link(),
        cut_from(Side::Server),
        point("SENDER"),
    ];
    lossy_at(dice, scenario, wan, 2)
}

fn lossy_at(dice: &mut Dice, mut scenario: Scenario, wan: Wan, place: usize) -> Drawn {
    let twin = scenario.clone();
    let loss = dice.scaled(0.005, 0.04);
    scenario.path[place] = wan.link_with(|lane| lane.loss = loss);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}
