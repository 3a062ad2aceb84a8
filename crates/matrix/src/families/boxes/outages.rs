//! Lines that fail for a while, or for good.

use coalescope_simulate::{Element, Lane, MICROSECOND, MILLISECOND, SECOND, Side, Turn};

use super::{few_behind_card, way_with};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::families::base::{plain, sound_twin};
use crate::parts::Wan;

pub(super) fn outage(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.0, 30.0));
    let mut scenario = plain(dice, "outage", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 6_000_000);
    let begins = (dice.between(4.0, 12.0) * 2.0 * wan.delay as f64) as u64;
    let long = dice.scaled_whole(100, 4_000) * MILLISECOND;
    let place = dice.pick(&[3, 5]);
    let way = way_with(wan, |lane| lane.outage = Some((begins, begins + long)));
    scenario.path.insert(place, way);
    let twin = sound_twin(&scenario, place);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

pub(super) fn outage_behind(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.0, 30.0));
    let begins = (dice.between(1.5, 6.0) * 2.0 * wan.delay as f64) as u64;
    let long = dice.scaled_whole(2, 300) * MILLISECOND;
    let way = way_with(wan, |lane| lane.outage = Some((begins, begins + long)));
    let mut scenario = few_behind_card(dice, "outage-behind", wan, way);
    scenario.turns[1].bytes = dice.scaled_whole(60_000, 800_000);
    Drawn::one(scenario, Otherwise::NotMerging)
}

/// Answers of at most a segment each, which a card cannot merge; then the bulk, behind a card.
pub(super) fn outage_of_bulk(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.0, 60.0));
    let bulk = dice.scaled_whole(20_000, 2_000_000);
    let exchanges = dice.whole(5..=80);
    let think = dice.scaled_whole(MILLISECOND, 30 * MILLISECOND);
    // When the bulk comes, about.
    let talk = (exchanges + 1) * (2 * wan.delay + think);
    let begins = (talk as f64 * dice.between(1.0, 1.03)) as u64 + dice.whole(0..=wan.delay);
    let ends = if dice.chance(0.5) {
        u64::MAX
    } else {
        begins + dice.scaled_whole(20, 4_000) * MILLISECOND
    };
    let one_way = dice.chance(0.3);
    let way = Wan {
        delay: 20 * MICROSECOND,
        ..wan
    };
    let outage = |lane: &mut Lane| lane.outage = Some((begins, ends));
    let mut link = way.link_with(outage);
    if let (Element::Link(link), false) = (&mut link, one_way) {
        link.toward.iter_mut().for_each(outage);
    }
    let mut scenario = few_behind_card(dice, "outage-of-bulk", wan, link);
    scenario.connections = dice.whole(1..=8) as usize;
    scenario.server.initial_window = dice.whole(10..=40) as u32;
    let answer = dice.whole(300..=1_200);
    let exchange = [
        Turn::new(Side::Client, 200).after(think),
        Turn::new(Side::Server, answer),
    ];
    scenario.turns = vec![exchange; exchanges as usize].concat();
    scenario
        .turns
        .push(Turn::new(Side::Client, 200).after(think));
    scenario.turns.push(Turn::new(Side::Server, bulk));
    scenario.limit = 60 * SECOND;
    Drawn::one(scenario, Otherwise::NotMerging)
}
