//! What applications say to each other: requests and answers over TLS, pages over one connection with pauses,
//! transfers both ways at a time, connections that nobody answers.

use coalescope_simulate::{
    Content, Element, MICROSECOND, MILLISECOND, MergeKind, Other, SECOND, Scenario, Turn,
};

use super::base::{lossy, plain};
use super::guilty::{fault, forwarded, from_vm_and_lost};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, any_kind, download, merging, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "pages-and-lost",
        "pages over one connection with pauses between them, and merged frames are lost",
        pages_and_lost,
    ),
    Family::guilty(
        "records-and-lost",
        "requests and answers over TLS one after the other, and merged frames are lost",
        records_and_lost,
    ),
    Family::guilty(
        "crossing-and-lost",
        "an upload and a download at a time, and what is merged of the download is lost",
        crossing_and_lost,
    ),
    Family::innocent(
        "pages",
        "pages over one connection with pauses between them",
        pages,
    ),
    Family::innocent(
        "records",
        "requests and answers over TLS one after the other",
        records,
    ),
    Family::innocent("crossing", "an upload and a download at a time", crossing),
    Family::innocent(
        "unanswered",
        "beside one that is sound: connections of which nothing gets through",
        unanswered,
    ),
    Family::innocent(
        "lossy-pages",
        "pages over one connection with pauses between them, on a path that loses frames",
        lossy_pages,
    ),
];

fn bridge(dice: &mut Dice, name: &str, turns: Vec<Turn>) -> Scenario {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let mut scenario = scenario(dice, name, 0);
    scenario.turns = turns;
    let kind = any_kind(dice);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, fault(), merge, wan);
    scenario
}

/// A user reads a page, and requests the next one.
fn browsing(dice: &mut Dice) -> Vec<Turn> {
    let pages = dice.whole(3..=8);
    let each = dice.scaled_whole(30_000, 300_000);
    (0..pages)
        .flat_map(|_| {
            let reads = dice.scaled_whole(100 * MILLISECOND, 3 * SECOND);
            let thinks = dice.scaled_whole(200 * MICROSECOND, 30 * MILLISECOND);
            let request = Turn::new(HERE, 400).after(reads);
            [request, Turn::new(HERE.other(), each).after(thinks)]
        })
        .collect()
}

/// Queries without a pause: as soon as one is answered the next one goes.
fn queries(dice: &mut Dice) -> Vec<Turn> {
    let answer = dice.scaled_whole(2_000, 60_000);
    let hello = [
        Turn::new(HERE, 517).holding(Content::Handshake),
        Turn::new(HERE.other(), 4_100).holding(Content::Handshake),
    ];
    let some = (0..dice.whole(10..=60)).flat_map(|_| {
        let query = Turn::new(HERE, 250).holding(Content::Records);
        let answer = Turn::new(HERE.other(), answer).holding(Content::Records);
        [query, answer.after(200 * MICROSECOND)]
    });
    hello.into_iter().chain(some).collect()
}

fn pages_and_lost(dice: &mut Dice) -> Drawn {
    let turns = browsing(dice);
    Drawn::one(bridge(dice, "pages-and-lost", turns), Otherwise::Healthy)
}

fn records_and_lost(dice: &mut Dice) -> Drawn {
    let turns = queries(dice);
    Drawn::one(bridge(dice, "records-and-lost", turns), Otherwise::Healthy)
}

fn pages(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 40.0));
    let mut scenario = plain(dice, "pages", wan);
    scenario.turns = browsing(dice);
    Drawn::one(scenario, Otherwise::Idle)
}

fn records(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 40.0));
    let mut scenario = plain(dice, "records", wan);
    scenario.turns = queries(dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn lossy_pages(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 40.0));
    let mut scenario = plain(dice, "lossy-pages", wan);
    scenario.turns = browsing(dice);
    lossy(dice, scenario, wan, (0.01, 0.05))
}

/// Data in the other direction meanwhile, at most a third of the download.
fn upload(dice: &mut Dice, download: u64) -> Other {
    let bytes = dice.scaled_whole(download / 20, download / 3);
    Other {
        start: 0,
        turns: vec![Turn::new(HERE, bytes)],
        client: None,
        server: None,
    }
}

fn crossing_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let bytes = dice.scaled_whole(300_000, 1_500_000);
    let mut scenario = scenario(dice, "crossing-and-lost", bytes);
    scenario.others = vec![upload(dice, bytes)];
    let mut back = merging(dice, wan, MergeKind::Gro);
    back.toward = HERE.other();
    scenario.path = from_vm_and_lost(dice, wan);
    scenario.path.insert(9, Element::Merge(back));
    scenario.path.push(point("SERVER"));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn crossing(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "crossing", wan);
    let bytes = scenario.turns[1].bytes;
    scenario.others = vec![upload(dice, bytes)];
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Connections with a number divisible by a thousand are never answered: the first one, which has hardly any data.
fn unanswered(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "unanswered", wan);
    let wall = Wan {
        delay: 20 * MICROSECOND,
        ..wan
    };
    let wall = Element::OfSome {
        every: 1_000,
        element: Box::new(wall.link_with(|lane| lane.loss = 1.0)),
    };
    scenario.path.insert(6, wall);
    let main = std::mem::replace(&mut scenario.turns, download(dice, 2_000));
    scenario.others = vec![Other {
        start: 0,
        turns: main,
        client: None,
        server: None,
    }];
    scenario.limit = 20 * SECOND;
    Drawn::one(scenario, Otherwise::Healthy)
}
