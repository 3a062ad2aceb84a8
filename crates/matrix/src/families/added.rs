//! Families that were added when all others had their numbers: which scenario a seed draws depends on the order, and notes
//! name seeds.

use coalescope_simulate::{MILLISECOND, Other, Turn};

use super::base::plain;
use super::by_length::policed;
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, for_points};

pub(super) const ALL: &[Family] = &[
    Family::innocent(
        "shared-policer-behind",
        "a policer behind the merging card that two to four transfers share, and captures that miss some frames",
        shared_policer_behind,
    ),
    Family::innocent(
        "answers-of-a-segment",
        "requests one after the other, of which each answer fills a segment or nearly does",
        answers_of_a_segment,
    ),
];

/// By chance one of the transfers loses all of its longest frames.
fn shared_policer_behind(dice: &mut Dice) -> Drawn {
    let mut scenario = policed(dice, "shared-policer-behind");
    let others = (0..dice.whole(1..=3)).map(|_| Other {
        start: dice.scaled_whole(MILLISECOND, 100 * MILLISECOND),
        turns: scenario.turns.clone(),
        client: None,
        server: None,
    });
    scenario.others = others.collect();
    for_points(&mut scenario, |point| {
        point.missed = dice.pick(&[0.0, 0.0, 0.005, 0.05]);
    });
    Drawn::one(scenario, Otherwise::Loss)
}

fn answers_of_a_segment(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 1_000), (5.0, 60.0));
    let mut scenario = plain(dice, "answers-of-a-segment", wan);
    let answer = dice.whole(1_380..=1_448);
    let all = 0..dice.whole(30..=120);
    let pair = [Turn::new(HERE, 100), Turn::new(HERE.other(), answer)];
    scenario.turns = all.flat_map(|_| pair.clone()).collect();
    Drawn::one(scenario, Otherwise::Healthy)
}
