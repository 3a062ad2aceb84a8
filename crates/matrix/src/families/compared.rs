//! Two transfers side by side, as `trace --compare` has them: one direct, one by another way.

use coalescope_simulate::{Element, Hop, MergeKind, Scenario, Side};

use crate::case::Drawn;
use crate::dice::Dice;
use crate::family::Family;
use crate::label::Otherwise;
use crate::parts::{MBIT, Wan, any_kind, cut_from, merging, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family {
        name: "compare-director",
        title: "direct, and by a director that loses merged frames (story D)",
        harms: true,
        draw: compare_director,
    },
    Family {
        name: "compare-slow-way",
        title: "direct, and by a way on which segments come too far apart to be merged",
        harms: false,
        draw: compare_slow_way,
    },
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

fn compare_director(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 60.0));
    let rack = Wan::within(dice, (1_000, 10_000), (0.02, 0.1));
    let mut direct = client(dice, "compare-director", "CLIENT-DIRECT", wan);
    let mut by_way = direct.clone();
    by_way.path[0] = point("CLIENT-VIA");
    direct.path.push(cut_from(Side::Server));
    let kind = any_kind(dice);
    let mtu = by_way.client.mtu as u16;
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
    let mut direct = client(dice, "compare-slow-way", "CLIENT-DIRECT", wan);
    let mut by_way = direct.clone();
    by_way.path[0] = point("CLIENT-VIA");
    direct.path.push(cut_from(Side::Server));
    let slow = Wan {
        rate_bps: dice.scaled_whole(2 * MBIT, 8 * MBIT),
        ..wan
    };
    by_way.path[3] = slow.link();
    by_way.path.push(cut_from(Side::Server));
    Drawn::pair(direct, by_way, Otherwise::Bandwidth)
}
