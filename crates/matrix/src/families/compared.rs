//! Two transfers side by side, as `trace --compare` has them: one direct, one by another way.

use coalescope_simulate::{Element, Hop, MergeKind, Scenario, Side};

use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{MBIT, Wan, any_kind, cut_from, merging, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "compare-director",
        "direct, and by a director that loses merged frames (story D)",
        compare_director,
    ),
    Family::innocent(
        "compare-slow-way",
        "direct, and by a way on which segments come too far apart to be merged",
        compare_slow_way,
    ),
    Family::innocent(
        "compare-unmerged",
        "merged, and unmerged at the same rate",
        compare_unmerged,
    ),
    Family::innocent("compare-equal", "twice the same", compare_equal),
    Family::innocent(
        "compare-lossy-way",
        "direct, and by a way that loses frames",
        compare_lossy_way,
    ),
    Family::innocent(
        "compare-longer-way",
        "direct, and by a longer way",
        compare_longer_way,
    ),
];

/// The client's side, which merges, and a long link.
fn client(dice: &mut Dice, name: &str, at: &str, wan: Wan) -> Scenario {
    let bytes = dice.scaled_whole(80_000, 1_500_000);
    let mut scenario = scenario(dice, name, bytes);
    scenario.path = vec![
        point(at),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
    ];
    scenario
}

/// The same transfer twice, with the client's captures named for it.
fn twice(dice: &mut Dice, name: &str, wan: Wan) -> (Scenario, Scenario) {
    let mut direct = client(dice, name, "CLIENT-DIRECT", wan);
    let mut by_way = direct.clone();
    by_way.path[0] = point("CLIENT-VIA");
    for scenario in [&mut direct, &mut by_way] {
        scenario.path.push(cut_from(Side::Server));
    }
    (direct, by_way)
}

fn compare_director(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.3, 60.0));
    let rack = Wan::within(dice, (1_000, 10_000), (0.02, 0.1));
    let (direct, mut by_way) = twice(dice, "compare-director", wan);
    let kind = any_kind(dice);
    let mtu = by_way.client.mtu as u16;
    by_way.path.pop();
    by_way.path.extend([
        Element::Hop(Hop::Director { mtu }),
        Element::Merge(merging(dice, rack, kind)),
        rack.link(),
        cut_from(Side::Server),
    ]);
    Drawn::pair(direct, by_way, Otherwise::Unmerged)
}

/// At 2 to 8 Mbit/s a full frame takes 1.5 ms and more.
fn compare_slow_way(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 40.0));
    let (direct, mut by_way) = twice(dice, "compare-slow-way", wan);
    let slow = Wan {
        rate_bps: dice.scaled_whole(2 * MBIT, 8 * MBIT),
        ..wan
    };
    by_way.path[3] = slow.link();
    Drawn::pair(direct, by_way, Otherwise::Bandwidth)
}

fn compare_unmerged(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 60.0));
    let (direct, mut by_way) = twice(dice, "compare-unmerged", wan);
    by_way.path.remove(2);
    Drawn::pair(direct, by_way, Otherwise::Unmerged)
}

fn compare_equal(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 60.0));
    let (direct, by_way) = twice(dice, "compare-equal", wan);
    Drawn::pair(direct, by_way, Otherwise::Unmerged)
}

fn compare_lossy_way(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (4.0, 40.0));
    let (direct, mut by_way) = twice(dice, "compare-lossy-way", wan);
    let twin = by_way.clone();
    let loss = dice.scaled(0.01, 0.05);
    by_way.path[3] = wan.link_with(|lane| lane.loss = loss);
    Drawn::pair(direct, by_way, Otherwise::Loss).beside(twin)
}

fn compare_longer_way(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 500), (1.0, 10.0));
    let (direct, mut by_way) = twice(dice, "compare-longer-way", wan);
    let longer = Wan {
        delay: (wan.delay as f64 * dice.between(2.0, 6.0)) as u64,
        ..wan
    };
    by_way.path[3] = longer.link();
    Drawn::pair(direct, by_way, Otherwise::Unmerged)
}
