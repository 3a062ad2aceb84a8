//! Families in which some merged frames are lost, or a part of each, and no single ones.

use coalescope_simulate::{Element, Hop, Which};

use super::guilty::{behind_card, bytes};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "some-merged-lost",
        "merged frames are lost on one of several lines over which they are spread, and single ones on none",
        some_merged_lost,
    ),
    Family::guilty(
        "merged-lost-for-a-time",
        "merged frames are lost from some time on, or up to then, and single ones never",
        merged_lost_for_a_time,
    ),
    Family::guilty(
        "cut-short",
        "of each merged frame only the first segments arrive",
        cut_short,
    ),
];

fn dropping(dice: &mut Dice, name: &str, wan: Wan, times: u64, which: Which) -> Drawn {
    let bytes = bytes(dice) * times;
    let scenario = scenario(dice, name, bytes);
    let hop = Element::Hop(Hop::DropSomeMerged {
        toward: HERE,
        which,
    });
    Drawn::one(behind_card(dice, scenario, wan, hop), Otherwise::Healthy)
}

/// One to three of them.
fn cut_short(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let scenario = scenario(dice, "cut-short", bytes);
    let hop = Hop::CutShort {
        toward: HERE,
        keep: dice.pick(&[1, 1, 2, 3]),
    };
    let scenario = behind_card(dice, scenario, wan, Element::Hop(hop));
    Drawn::one(scenario, Otherwise::Healthy)
}

/// One of two to four, or of any number.
fn some_merged_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let which = if dice.chance(0.5) {
        Which::Every(dice.whole(2..=4))
    } else {
        Which::Chance(dice.between(0.2, 0.85))
    };
    dropping(dice, "some-merged-lost", wan, 1, which)
}

/// A change within the first dozens of round trips.
fn merged_lost_for_a_time(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 500), (1.5, 40.0));
    let change = (dice.scaled(3.0, 20.0) * 2.0 * wan.delay as f64) as u64;
    let which = if dice.chance(0.6) {
        Which::Between(change, u64::MAX)
    } else {
        Which::Between(0, change.max(20 * wan.delay))
    };
    dropping(dice, "merged-lost-for-a-time", wan, 4, which)
}
