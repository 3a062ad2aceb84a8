//! Slow for losses that are not due to merging: by the length of frames, black holes, wrong bits.

use coalescope_simulate::{
    Element, Hop, Lane, Link, MICROSECOND, Merge, MergeKind, SECOND, Scenario, Side,
};

use super::base::{bytes, lossy, plain, sound_twin};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{
    HERE, MBIT, Wan, any_kind, cut_from, for_points, merging, near, point, scenario,
};

pub(super) const ALL: &[Family] = &[
    Family::innocent(
        "policer-behind",
        "a policer behind the merging card: the longer, the likelier lost",
        policer_behind,
    ),
    Family::innocent(
        "queue-behind",
        "a short queue behind the merging card",
        queue_behind,
    ),
    Family::innocent(
        "queue-in-front",
        "a short queue in front of the merging card",
        queue_in_front,
    ),
    Family::innocent(
        "window-check-behind",
        "a firewall behind the merging card drops what is beyond a window without its scale",
        window_check_behind,
    ),
    Family::innocent(
        "bit-errors-behind",
        "wrong bits behind the merging card",
        bit_errors_behind,
    ),
    Family::innocent(
        "long-left-out-behind",
        "the same, and a capture behind it that leaves long frames out",
        long_left_out_behind,
    ),
    Family::innocent(
        "bit-errors-in-front",
        "wrong bits in front of the merging card",
        bit_errors_in_front,
    ),
    Family::innocent("damaged", "frames arrive with a wrong checksum", damaged),
    Family::innocent(
        "rare-loss",
        "one frame in some thousands is lost, at several rates",
        rare_loss,
    ),
    Family::innocent(
        "black-hole",
        "full frames never arrive, and nobody says so",
        black_hole,
    ),
    Family::innocent(
        "black-hole-probed",
        "the same, and the sender finds out",
        black_hole_probed,
    ),
    Family::innocent(
        "black-hole-halved",
        "the same, and what was one segment before is twice or more what is one afterwards",
        black_hole_halved,
    ),
    Family::innocent(
        "black-hole-merged",
        "the same behind a merging card: what was merged is cut again, and its segments are too long",
        black_hole_merged,
    ),
    Family::innocent(
        "path-mtu-told",
        "a router with a smaller MTU, which it tells",
        path_mtu_told,
    ),
];

/// A VM behind a bridge that forwards merged frames, with an element in between that the merged frames pass.
fn bridged(dice: &mut Dice, name: &str, wan: Wan, merge: Merge, something: Element) -> Scenario {
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, name, bytes);
    scenario.path = vec![
        point("VM"),
        near(dice, wan),
        point("HYP-TAP"),
        something,
        point("HYP-UPLINK"),
        cut_from(Side::Client),
        Element::Merge(merge),
        wan.link(),
        cut_from(Side::Server),
    ];
    scenario
}

/// A card that merges at most so many segments.
fn merging_up_to(dice: &mut Dice, wan: Wan, segments: usize) -> Merge {
    Merge {
        max_segments: segments,
        ..merging(dice, wan, MergeKind::Gro)
    }
}

fn policer_behind(dice: &mut Dice) -> Drawn {
    Drawn::one(policed(dice, "policer-behind"), Otherwise::Loss)
}

pub(super) fn policed(dice: &mut Dice, name: &str) -> Scenario {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let segments = dice.whole(4..=16) as usize;
    let merge = merging_up_to(dice, wan, segments);
    let bucket = Hop::TokenBucket {
        toward: HERE,
        rate_bps: dice.scaled_whole(4 * MBIT, wan.rate_bps / 4),
        burst: segments * 1_514 * dice.whole(2..=4) as usize,
        queue: 0,
    };
    bridged(dice, name, wan, merge, Element::Hop(bucket))
}

/// The window is 16 to 64 KB where the receiver has announced far more.
fn window_check_behind(dice: &mut Dice) -> Drawn {
    Drawn::one(window_checked(dice, "window-check-behind"), Otherwise::Loss)
}

pub(super) fn window_checked(dice: &mut Dice, name: &str) -> Scenario {
    let wan = Wan::within(dice, (100, 1_000), (5.0, 30.0));
    let kind = MergeKind::Gro;
    let merge = merging(dice, wan, kind);
    let check = Hop::WindowCheck {
        toward: HERE,
        bytes: dice.scaled_whole(16_000, 65_535) as u32,
    };
    bridged(dice, name, wan, merge, Element::Hop(check))
}

/// A queue of two to six of the longest frames, in front of a line slower than the long way.
fn queue_behind(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let segments = dice.whole(4..=16) as usize;
    let merge = merging_up_to(dice, wan, segments);
    let mut lane = Lane::new(wan.rate_bps / dice.whole(2..=8), 20 * MICROSECOND);
    lane.queue = segments * 1_538 * dice.whole(2..=6) as usize;
    let back = Lane::new(wan.rate_bps, 20 * MICROSECOND);
    let link = Element::Link(Link {
        toward: [lane, back],
    });
    beside_sound_twin(bridged(dice, "queue-behind", wan, merge, link))
}

fn queue_in_front(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let mut scenario = plain(dice, "queue-in-front", wan);
    scenario.server.tso = true;
    let twin = scenario.clone();
    let queue = 1_538 * dice.scaled_whole(8, 60) as usize;
    scenario.path[5] = wan.link_with(|lane| lane.queue = queue);
    let fast = Wan {
        rate_bps: wan.rate_bps * 10,
        delay: 20 * MICROSECOND,
    };
    scenario.path.insert(6, fast.link());
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// One error in some millions of bits: a frame of 1,500 bytes is lost in one of 30 to 1,000 cases.
fn bit_error_rate(dice: &mut Dice) -> f64 {
    dice.scaled(8e-8, 2.5e-6)
}

fn bit_errors_behind(dice: &mut Dice) -> Drawn {
    beside_sound_twin(wrong_bits_behind(dice, "bit-errors-behind"))
}

/// Capture slots of a few KiB, or a filter by length: what was merged looks as if it had vanished there.
fn long_left_out_behind(dice: &mut Dice) -> Drawn {
    let mut scenario = wrong_bits_behind(dice, "long-left-out-behind");
    let longest = dice.pick(&[1_600, 3_100, 4_096, 9_216]);
    for_points(&mut scenario, |point| {
        if ["HYP-TAP", "VM"].contains(&point.name.as_str()) {
            point.longest = longest;
        }
    });
    beside_sound_twin(scenario)
}

fn beside_sound_twin(scenario: Scenario) -> Drawn {
    let twin = sound_twin(&scenario, 3);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn wrong_bits_behind(dice: &mut Dice, name: &str) -> Scenario {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let segments = dice.whole(3..=16) as usize;
    let merge = merging_up_to(dice, wan, segments);
    let errors = bit_error_rate(dice) / 2.0;
    let near = Wan {
        delay: 30 * MICROSECOND,
        ..wan
    };
    let link = near.link_with(|lane| lane.bit_errors = errors);
    bridged(dice, name, wan, merge, link)
}

fn bit_errors_in_front(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let mut scenario = plain(dice, "bit-errors-in-front", wan);
    let twin = scenario.clone();
    let errors = bit_error_rate(dice);
    scenario.path[5] = wan.link_with(|lane| lane.bit_errors = errors);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn damaged(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let mut scenario = plain(dice, "damaged", wan);
    let twin = scenario.clone();
    let damage = Hop::Damage {
        toward: HERE,
        probability: dice.scaled(0.003, 0.03),
    };
    scenario.path.insert(6, Element::Hop(damage));
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn rare_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (10, 2_000), (0.2, 60.0));
    let mut scenario = plain(dice, "rare-loss", wan);
    scenario.turns[1].bytes = dice.scaled_whole(4_000_000, 10_000_000);
    lossy(dice, scenario, wan, (0.0003, 0.004))
}

/// A smaller MTU somewhere on the way.
fn narrow(dice: &mut Dice, name: &str, icmp: bool) -> (Scenario, Scenario) {
    let wan = Wan::within(dice, (20, 1_000), (2.0, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, name, bytes);
    let mtu = dice.whole(1_280..=1_390) as u16;
    let kind = any_kind(dice);
    scenario.path = vec![
        point("HOST"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, kind)),
        near(dice, wan),
        point("FW-OUT"),
        Element::Hop(Hop::Router { mtu, icmp }),
        point("FW-IN"),
        wan.link(),
        cut_from(Side::Server),
        point("SERVER"),
    ];
    let twin = sound_twin(&scenario, 5);
    (scenario, twin)
}

fn black_hole(dice: &mut Dice) -> Drawn {
    let icmp = dice.chance(0.3);
    let (mut scenario, twin) = narrow(dice, "black-hole", icmp);
    if icmp {
        scenario.path.insert(7, Element::Hop(Hop::NoIcmp));
    }
    scenario.limit = dice.whole(10..=60) * SECOND;
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn black_hole_probed(dice: &mut Dice) -> Drawn {
    let (mut scenario, mut twin) = narrow(dice, "black-hole-probed", false);
    scenario.server.mtu_probing = true;
    twin.server.mtu_probing = true;
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// Segments that Linux's `tcp_mtu_probing` goes on with (`tcp_base_mss`).
const SMALLER: u64 = 1_024;

/// The first segments look like so many later ones merged.
fn black_hole_halved(dice: &mut Dice) -> Drawn {
    let (mut scenario, mut twin) = narrow(dice, "black-hole-halved", false);
    let headers =
        if scenario.ipv6 { 60 } else { 40 } + if scenario.client.timestamps { 12 } else { 0 };
    let mtu = dice.whole(2..=8) * SMALLER + headers;
    let narrower = dice.whole(SMALLER + headers..=mtu - 1) as u16;
    for scenario in [&mut scenario, &mut twin] {
        for host in [&mut scenario.client, &mut scenario.server] {
            (host.mtu, host.mtu_probing) = (mtu as u32, true);
        }
    }
    scenario.path[5] = Element::Hop(Hop::Router {
        mtu: narrower,
        icmp: false,
    });
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn black_hole_merged(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let merge = merging(dice, wan, MergeKind::Gro);
    let (mtu, narrower) = if dice.chance(0.5) {
        (9_000, 1_500)
    } else {
        (1_500, dice.whole(1_100..=1_400) as u16)
    };
    let router = Element::Hop(Hop::Router {
        mtu: narrower,
        icmp: false,
    });
    let mut scenario = bridged(dice, "black-hole-merged", wan, merge, router);
    for host in [&mut scenario.client, &mut scenario.server] {
        (host.mtu, host.mtu_probing) = (mtu, true);
    }
    scenario.server.tso = dice.chance(0.5);
    Drawn::one(scenario, Otherwise::Loss)
}

fn path_mtu_told(dice: &mut Dice) -> Drawn {
    let (scenario, _) = narrow(dice, "path-mtu-told", true);
    Drawn::one(scenario, Otherwise::Healthy)
}
