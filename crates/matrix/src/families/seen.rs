//! Nothing is wrong, although the captures look as if something were.

use coalescope_simulate::{
    Element, Hop, MICROSECOND, MILLISECOND, MergeKind, Reorder, Scenario, Side,
};

use super::base::{bytes, plain, routed, sound_twin};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, cut_from, end_of, merging, near, point, scenario, wrap};

pub(super) const ALL: &[Family] = &[
    Family::innocent(
        "routed-copies",
        "a router's port shows each frame twice, the second time much later",
        routed_copies,
    ),
    Family::innocent(
        "recut-copies",
        "all interfaces in one capture: merged frames, then their segments",
        recut_copies,
    ),
    Family::innocent(
        "recut-copies-loss",
        "all interfaces in one capture, merged frames and their segments, and frames are lost",
        recut_copies_loss,
    ),
    Family::innocent(
        "data-only-sound",
        "only the data's way is captured, and nothing is wrong",
        data_only_sound,
    ),
    Family::innocent(
        "data-only-loss",
        "only the data's way is captured, and frames are lost",
        data_only_loss,
    ),
    Family::innocent(
        "mid-stream-sound",
        "captures that begin in the middle, and nothing is wrong",
        mid_stream_sound,
    ),
    Family::innocent(
        "wrapped",
        "tags or tunnels on one side, and nothing is wrong",
        wrapped,
    ),
    Family::innocent(
        "translated-twice",
        "addresses rewritten at both ends, and nothing is wrong",
        translated_twice,
    ),
    Family::innocent(
        "overtaken-rarely",
        "a frame in some thousands is overtaken",
        overtaken_rarely,
    ),
    Family::innocent(
        "short-and-sound",
        "many short connections, and nothing is wrong",
        short_and_sound,
    ),
];

fn routed_copies(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "routed-copies", wan);
    if let Some(point) = scenario.point_mut("WIRE") {
        let frames = dice.scaled(5.0, 300.0);
        let later = wan
            .time_of(frames)
            .clamp(20 * MICROSECOND, 20 * MILLISECOND);
        point.routed = Some(later);
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn recut_copies(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let scenario = recut(dice, "recut-copies", wan, 0.0);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn recut_copies_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let loss = dice.scaled(0.005, 0.03);
    let scenario = recut(dice, "recut-copies-loss", wan, loss);
    let twin = sound_twin(&scenario, 1);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// As `tcpdump -i any` sees a router that merges at one interface and cuts at the other; behind that interface frames may be
/// lost.
fn recut(dice: &mut Dice, name: &str, wan: Wan, loss: f64) -> Scenario {
    let behind = Wan {
        delay: 100 * MICROSECOND,
        ..wan
    };
    let behind = behind.link_with(|lane| lane.loss = loss);
    let mut scenario = routed(dice, name, wan, behind);
    let later = dice.scaled_whole(MICROSECOND, 60 * MICROSECOND);
    let is_router = dice.chance(0.5);
    if let Some(point) = scenario.point_mut("HYP-IN") {
        point.recut = true;
        let copies = if is_router {
            &mut point.routed
        } else {
            &mut point.doubled
        };
        *copies = Some(later);
    }
    scenario
}

fn data_only_sound(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "data-only-sound", wan);
    one_way(&mut scenario);
    Drawn::one(scenario, Otherwise::Healthy).in_order()
}

fn one_way(scenario: &mut Scenario) {
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.only = Some(HERE);
        }
    }
}

fn data_only_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let mut scenario = plain(dice, "data-only-loss", wan);
    let loss = dice.scaled(0.005, 0.03);
    let twin = scenario.clone();
    scenario.path[5] = wan.link_with(|lane| lane.loss = loss);
    one_way(&mut scenario);
    Drawn::one(scenario, Otherwise::Loss)
        .beside(twin)
        .in_order()
}

fn mid_stream_sound(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "mid-stream-sound", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 5_000_000);
    let begins = (dice.between(2.5, 6.0) * 2.0 * wan.delay as f64) as u64;
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.begins = begins + dice.whole(0..=wan.delay);
        }
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn wrapped(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "wrapped", bytes);
    let with = wrap(dice);
    scenario.client.mtu -= 50;
    scenario.path = vec![
        point("HYP-VM"),
        cut_from(Side::Client),
        end_of(with, Side::Client),
        point("HYP-OUTER"),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        near(dice, wan),
        point("WIRE"),
        wan.link(),
        end_of(with, Side::Server),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy).unsnapped()
}

fn translated_twice(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "translated-twice", wan);
    scenario.path.insert(3, Element::Hop(Hop::Nat));
    let director = Element::Hop(Hop::Director { mtu: u16::MAX });
    scenario.path.push(director);
    scenario.path.push(point("SERVER"));
    Drawn::one(scenario, Otherwise::Healthy)
}

/// One event is one event, however many frames go by meanwhile.
fn overtaken_rarely(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 20.0));
    let mut scenario = plain(dice, "overtaken-rarely", wan);
    let reorder = Reorder {
        probability: dice.scaled(0.0005, 0.002),
        extra: wan.time_of(dice.between(3.0, 12.0)),
    };
    scenario.path[5] = wan.link_with(|lane| lane.reorder = Some(reorder));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn short_and_sound(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 20.0));
    let mut scenario = plain(dice, "short-and-sound", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000, 40_000);
    scenario.connections = dice.whole(20..=80) as usize;
    scenario.spacing = dice.scaled_whole(MILLISECOND, 60 * MILLISECOND);
    Drawn::one(scenario, Otherwise::Healthy)
}
