//! Families that were added when all others had their numbers: which scenario a seed draws depends on the order, and notes
//! name seeds.

use coalescope_simulate::{Begin, Element, Hop, MILLISECOND, Other, Scenario, Turn};

use super::base::plain;
use super::by_length::{policed, window_checked};
use super::guilty::{behind_card, bridge_behind, bytes, router};
use crate::dice::Dice;
use crate::drawn::{Drawn, Given, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, download, for_points, scenario};

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
    Family::innocent(
        "ended-early",
        "a transfer of which one capture ends when it has hardly begun",
        ended_early,
    ),
    Family::guilty(
        "ended-early-and-lost",
        "the same, and merged frames are lost",
        ended_early_and_lost,
    ),
    Family::guilty(
        "short-and-refused",
        "many short connections, and a router that refuses merged frames",
        short_and_refused,
    ),
    Family::innocent(
        "renumbered",
        "a firewall that rewrites sequence numbers, of both directions or of one",
        renumbered,
    ),
    Family::guilty(
        "renumbered-and-lost",
        "the same, and merged frames are lost",
        renumbered_and_lost,
    ),
    Family::guilty(
        "blocked-and-lost",
        "merged frames are lost, and a firewall drops all data of one connection",
        blocked_and_lost,
    ),
    Family::guilty(
        "offloaded",
        "merged frames are lost from each connection's first hundreds of KB on, as where its flow is taken by hardware",
        offloaded,
    ),
    Family::innocent(
        "policed-later",
        "a policer behind the card, from some time on",
        policed_later,
    ),
    Family::innocent(
        "window-check-later",
        "a firewall that takes the window for too small, from some time on",
        window_check_later,
    ),
    Family::innocent(
        "narrow-later",
        "a path with a small MTU, of which nobody says so, from some time on",
        narrow_later,
    ),
    Family::guilty(
        "router-learnt",
        "a router that refuses merged frames, and has a smaller MTU, which the sender has learnt from it",
        router_learnt,
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

fn ended_early(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let mut scenario = plain(dice, "ended-early", wan);
    let at = dice.whole(0..=1);
    one_ends(&mut scenario, dice, wan, at);
    Drawn {
        given: Given::All,
        ..Drawn::one(scenario, Otherwise::Healthy)
    }
}

/// The captures on both sides of the bridge are whole, so that they name the hop.
fn ended_early_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let scenario = scenario(dice, "ended-early-and-lost", bytes);
    let bridge = Element::Hop(Hop::DropMerged { toward: HERE });
    let mut scenario = behind_card(dice, scenario, wan, bridge);
    let behind = scenario.points().count() as u64 - 3;
    let at = dice.whole(0..=behind);
    one_ends(&mut scenario, dice, wan, if at == 0 { 0 } else { at + 2 });
    Drawn {
        given: Given::All,
        ..Drawn::one(scenario, Otherwise::Healthy)
    }
}

/// Most connections are too short for more than a few messages each.
fn short_and_refused(dice: &mut Dice) -> Drawn {
    let mut drawn = router(dice, "short-and-refused", true);
    let bytes = dice.scaled_whole(4_000, 30_000);
    let scenario = &mut drawn.runs[0];
    scenario.turns = download(dice, bytes);
    scenario.connections = dice.whole(10..=60) as usize;
    scenario.spacing = dice.scaled_whole(2 * MILLISECOND, 60 * MILLISECOND);
    drawn
}

fn renumbered(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "renumbered", wan);
    renumber(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn renumbered_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let mut scenario = bridge_behind(dice, "renumbered-and-lost", wan);
    renumber(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// What the blocked connection loses are first single frames and merged ones alike.
fn blocked_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let mut scenario = bridge_behind(dice, "blocked-and-lost", wan);
    scenario.connections = dice.whole(2..=5) as usize;
    let no_data = Hop::DropLargerThan {
        toward: HERE,
        bytes: 100,
    };
    let firewall = Element::OfSome {
        every: scenario.connections,
        element: Box::new(Element::Hop(no_data)),
    };
    let is_lossy = |element: &Element| matches!(element, Element::Hop(Hop::DropMerged { .. }));
    let place = scenario.path.iter().position(is_lossy);
    scenario.path.insert(place.unwrap_or_default(), firewall);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// One to four connections, each of which sends ten times as much.
fn offloaded(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let bytes = dice.scaled_whole(50_000, 500_000);
    let begin = Begin::Bytes(HERE, bytes);
    let drop = Hop::DropMerged { toward: HERE };
    let mut scenario = later(dice, "offloaded", wan, begin, drop);
    scenario.turns = download(dice, 10 * bytes);
    scenario.connections = dice.whole(1..=4) as usize;
    Drawn::one(scenario, Otherwise::Healthy)
}

fn policed_later(dice: &mut Dice) -> Drawn {
    let mut scenario = policed(dice, "policed-later");
    begin_later(&mut scenario, dice, |hop| {
        matches!(hop, Hop::TokenBucket { .. })
    });
    Drawn::one(scenario, Otherwise::Loss)
}

fn window_check_later(dice: &mut Dice) -> Drawn {
    let mut scenario = window_checked(dice, "window-check-later");
    begin_later(&mut scenario, dice, |hop| {
        matches!(hop, Hop::WindowCheck { .. })
    });
    Drawn::one(scenario, Otherwise::Loss)
}

/// Such a hop of a path comes into it within the first second.
fn begin_later(scenario: &mut Scenario, dice: &mut Dice, is_it: impl Fn(&Hop) -> bool) {
    let begin = Begin::At(dice.scaled_whole(50 * MILLISECOND, 1_000 * MILLISECOND));
    scenario.turns.iter_mut().for_each(|turn| turn.bytes *= 4);
    for place in &mut scenario.path {
        if let Element::Hop(hop) = place
            && is_it(hop)
        {
            let element = Box::new(Element::Hop(hop.clone()));
            *place = Element::Since { begin, element };
        }
    }
}

fn narrow_later(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let narrow = Hop::DropLargerThan {
        toward: HERE,
        bytes: dice.whole(1_280..=1_460) as usize,
    };
    let begin = sometime(dice, wan);
    Drawn::one(
        later(dice, "narrow-later", wan, begin, narrow),
        Otherwise::Loss,
    )
}

/// Within the first dozens of round trips.
fn sometime(dice: &mut Dice, wan: Wan) -> Begin {
    Begin::At((dice.scaled(3.0, 20.0) * 2.0 * wan.delay as f64) as u64)
}

/// Behind a card that merges, from some time on.
fn later(dice: &mut Dice, name: &str, wan: Wan, begin: Begin, hop: Hop) -> Scenario {
    let bytes = 4 * bytes(dice);
    let scenario = scenario(dice, name, bytes);
    let element = Box::new(Element::Hop(hop));
    behind_card(dice, scenario, wan, Element::Since { begin, element })
}

/// A firewall somewhere on the way of one to three connections. It may leave SACK blocks as they are.
fn renumber(scenario: &mut Scenario, dice: &mut Dice) {
    let mut number = || dice.whole(1..=u64::from(u32::MAX)) as u32;
    let [client, server] = [number(), number()];
    let by = dice.pick(&[[client, server], [client, server], [0, server]]);
    let firewall = Hop::Renumber {
        by,
        leaves_sack: dice.chance(0.3),
    };
    scenario.connections = dice.whole(1..=3) as usize;
    let place = dice.whole(1..=4) as usize;
    scenario.path.insert(place, Element::Hop(firewall));
}

/// The capture at this place, counted from the client, ends with the handshake or some round trips later.
fn one_ends(scenario: &mut Scenario, dice: &mut Dice, wan: Wan, place: u64) {
    let ends = (dice.scaled(0.6, 20.0) * 2.0 * wan.delay as f64) as u64;
    let mut at = 0;
    for_points(scenario, |point| {
        if at == place {
            point.ends = ends;
        }
        at += 1;
    });
}

fn router_learnt(dice: &mut Dice) -> Drawn {
    let mtu = dice.pick(&[1_280, 1_400, 1_420, 1_450, 1_480, 1_492]);
    let mut drawn = router(dice, "router-learnt", true);
    for run in &mut drawn.runs {
        for element in &mut run.path {
            if let Element::Hop(Hop::Router { mtu: own, .. }) = element {
                *own = mtu;
            }
        }
    }
    drawn
}
