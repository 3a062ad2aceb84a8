//! Acknowledgments that do not come back to the sender.

use coalescope_simulate::{Element, Lane, Link, MICROSECOND, MILLISECOND};

use super::base::{plain, sound_twin};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan};

pub(super) const ALL: &[Family] = &[
    Family::innocent(
        "lossy-way-back",
        "most acknowledgments are lost",
        lossy_way_back,
    ),
    Family::innocent(
        "no-way-back",
        "for a while no acknowledgment comes back",
        no_way_back,
    ),
];

/// A transfer with an extra link behind its points or between them, whose way back is changed; beside a sound twin.
fn way_back(dice: &mut Dice, name: &str, change: impl FnOnce(&mut Lane, &mut Dice, Wan)) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.0, 30.0));
    let mut scenario = plain(dice, name, wan);
    let mut way = Link::both(Lane::new(wan.rate_bps, 20 * MICROSECOND));
    change(&mut way.toward[HERE.other().index()], dice, wan);
    let place = dice.pick(&[3, 5]);
    scenario.path.insert(place, Element::Link(way));
    let twin = sound_twin(&scenario, place);
    Drawn::one(scenario, Otherwise::LostAcks).beside(twin)
}

fn lossy_way_back(dice: &mut Dice) -> Drawn {
    way_back(dice, "lossy-way-back", |lane, dice, _| {
        lane.loss = dice.between(0.6, 0.97);
    })
}

fn no_way_back(dice: &mut Dice) -> Drawn {
    way_back(dice, "no-way-back", |lane, dice, wan| {
        let begins = (dice.between(3.0, 12.0) * 2.0 * wan.delay as f64) as u64;
        let long = dice.scaled_whole(300, 4_000) * MILLISECOND;
        lane.outage = Some((begins, begins + long));
    })
}
