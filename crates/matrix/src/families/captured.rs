//! What captures get wrong, or leave out, and which captures are given at all.

use coalescope_simulate::{Bursts, MICROSECOND, MILLISECOND, Nanos, Scenario};

use super::base::{any_plain, any_plain_with, lossy, plain, sound_twin};
use super::guilty::{any_bridge, any_bridge_with};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{Wan, for_points};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "missed-in-runs-and-lost",
        "captures whose ring overflows, and merged frames are lost",
        missed_in_runs_and_lost,
    ),
    Family::guilty(
        "unsorted-and-lost",
        "frames in a file in another order than their stamps, and merged ones are lost",
        unsorted_and_lost,
    ),
    Family::guilty(
        "coarse-clock-and-lost",
        "stamps of ten microseconds to a millisecond, and merged frames are lost",
        coarse_clock_and_lost,
    ),
    Family::guilty(
        "snapped-and-lost",
        "so little of each frame is kept that options are cut, and merged frames are lost",
        snapped_and_lost,
    ),
    Family::guilty(
        "small-middle-and-lost",
        "small segments in captures that begin in the middle, and merged frames are lost",
        small_middle_and_lost,
    ),
    Family::guilty(
        "given-twice-and-lost",
        "one capture is given twice, and merged frames are lost",
        given_twice_and_lost,
    ),
    Family::innocent(
        "missed-in-runs",
        "captures whose ring overflows",
        missed_in_runs,
    ),
    Family::innocent(
        "unsorted",
        "frames in a file in another order than their stamps",
        unsorted,
    ),
    Family::innocent(
        "coarse-clock",
        "stamps of ten microseconds to a millisecond",
        coarse_clock,
    ),
    Family::innocent(
        "coarse-clock-loss",
        "the same, on a path that loses frames",
        coarse_clock_loss,
    ),
    Family::innocent(
        "snapped",
        "so little of each frame is kept that options are cut",
        snapped,
    ),
    Family::innocent(
        "snapped-window",
        "the same, and a receive buffer that is small for the path",
        snapped_window,
    ),
    Family::innocent(
        "small-middle",
        "small segments in captures that begin in the middle",
        small_middle,
    ),
    Family::innocent(
        "long-left-out",
        "a capture whose filter leaves long frames out",
        long_left_out,
    ),
    Family::innocent("given-twice", "one capture is given twice", given_twice),
    Family::innocent(
        "strangers",
        "captures of two transfers that have nothing in common",
        strangers,
    ),
    Family::innocent(
        "strangers-loss",
        "the same, of which one loses frames",
        strangers_loss,
    ),
];

/// Misses some frames to some hundreds in a row, at one point of each scenario or at all points.
fn miss_runs(scenario: &mut Scenario, dice: &mut Dice) {
    let runs = Bursts {
        begin: dice.scaled(0.0005, 0.005),
        end: dice.scaled(0.01, 0.2),
        loss: 1.0,
    };
    let mut some = dice.chance(0.5);
    for_points(scenario, |point| {
        point.missed_runs = some.then_some(runs);
        some = !some || dice.chance(0.3);
    });
}

fn missed_in_runs_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "missed-in-runs-and-lost", miss_runs)
}

fn missed_in_runs(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "missed-in-runs", miss_runs)
}

/// Writes frames out of order, by up to what a card's queues hold.
fn unsort(scenario: &mut Scenario, dice: &mut Dice) {
    let late = dice.scaled_whole(20 * MICROSECOND, MILLISECOND / 2);
    for_points(scenario, |point| point.unsorted = late);
}

fn unsorted_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "unsorted-and-lost", unsort)
}

fn unsorted(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "unsorted", unsort)
}

fn count_coarsely(scenario: &mut Scenario, dice: &mut Dice) {
    let ticks: [Nanos; 3] = [10 * MICROSECOND, 100 * MICROSECOND, MILLISECOND];
    let tick = dice.pick(&ticks);
    let all = dice.chance(0.5);
    for_points(scenario, |point| {
        if all || point.name != "WIRE" && point.name != "HYP-TAP" {
            point.tick = tick;
        }
    });
}

fn coarse_clock_and_lost(dice: &mut Dice) -> Drawn {
    // The order in which captures are given decides between neighbours on one host whose difference the ticks hide.
    any_bridge_with(dice, "coarse-clock-and-lost", count_coarsely).in_order()
}

fn coarse_clock(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "coarse-clock", count_coarsely)
}

fn coarse_clock_loss(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "coarse-clock-loss");
    count_coarsely(&mut scenario, dice);
    lossy(dice, scenario, wan, (0.005, 0.03))
}

/// Cuts headers, so that some options are missing, or most.
fn snap(scenario: &mut Scenario, dice: &mut Dice) {
    let headers = if scenario.ipv6 { 74 } else { 54 };
    let tag = if scenario.vlan.is_some() { 4 } else { 0 };
    let kept = headers + tag + dice.pick(&[0, 4, 6, 10, 14, 16, 18]);
    for_points(scenario, |point| point.snap = kept);
}

fn snapped_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "snapped-and-lost", snap)
}

fn snapped(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "snapped", snap)
}

fn snapped_window(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (5.0, 40.0));
    let mut scenario = plain(dice, "snapped-window", wan);
    scenario.client.receive_buffer = dice.scaled_whole(12_000, (wan.bytes() / 4).max(12_001));
    scenario.client.window_scale = 7;
    snap(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn begin_late(scenario: &mut Scenario, dice: &mut Dice, wan: Wan) {
    let mtu = dice.pick(&[576, 620, 800, 1_006, 1_200]);
    scenario.ipv6 = false;
    (scenario.client.mtu, scenario.server.mtu) = (mtu, mtu);
    let begins = (dice.between(3.0, 10.0) * 2.0 * wan.delay as f64) as u64;
    for_points(scenario, |point| point.begins = begins);
}

fn small_middle_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_bridge(dice, "small-middle-and-lost");
    begin_late(&mut scenario, dice, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn small_middle(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "small-middle");
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 5_000_000);
    begin_late(&mut scenario, dice, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Leaves out merged frames, or full ones as well.
fn long_left_out(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = any_plain(dice, "long-left-out");
    let longest = dice.pick(&[200, 1_300, 1_518, 3_100]);
    let all = dice.chance(0.3);
    for_points(&mut scenario, |point| {
        if all || point.name == "HOST" {
            point.longest = longest;
        }
    });
    Drawn::one(scenario, Otherwise::NotMerging)
}

fn given_twice_and_lost(dice: &mut Dice) -> Drawn {
    let (scenario, _) = any_bridge(dice, "given-twice-and-lost");
    Drawn::one(scenario, Otherwise::Healthy).with_one_twice()
}

fn given_twice(dice: &mut Dice) -> Drawn {
    let (scenario, wan) = any_plain(dice, "given-twice");
    let drawn = if dice.chance(0.5) {
        lossy(dice, scenario, wan, (0.005, 0.03))
    } else {
        Drawn::one(scenario, Otherwise::Healthy)
    };
    drawn.with_one_twice()
}

/// The other transfer, at a point of its own.
fn stranger(dice: &mut Dice) -> Scenario {
    let (mut other, _) = any_plain(dice, "stranger");
    for_points(&mut other, |point| {
        point.name = format!("OTHER-{}", point.name);
    });
    sound_twin(&other, 4)
}

fn strangers(dice: &mut Dice) -> Drawn {
    let (scenario, _) = any_plain(dice, "strangers");
    let scenario = sound_twin(&scenario, dice.pick(&[0, 4]));
    let other = stranger(dice);
    Drawn::one(scenario, Otherwise::Unlinked).with_stranger(other)
}

fn strangers_loss(dice: &mut Dice) -> Drawn {
    let (scenario, wan) = any_plain(dice, "strangers-loss");
    let other = stranger(dice);
    lossy(dice, scenario, wan, (0.01, 0.04)).with_stranger(other)
}
