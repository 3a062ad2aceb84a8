//! Behaviour of stacks that families of paths do not vary: marks instead of losses, resets, directions that close
//! early, windows that grow, identifications, clocks and options unlike Linux's.

use coalescope_simulate::{
    Congestion, Host, IpIds, MICROSECOND, MILLISECOND, Nanos, SECOND, Scenario,
};

use super::base::{any_plain, any_plain_with, lossy, plain};
use super::guilty::{any_bridge, any_bridge_with, bridge_behind};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "marked-and-lost",
        "a queue that marks instead of dropping, and merged frames are lost",
        marked_and_lost,
    ),
    Family::guilty(
        "reset-and-lost",
        "merged frames are lost, until one side gives up with a reset",
        reset_and_lost,
    ),
    Family::guilty(
        "half-closed-and-lost",
        "the client closes its direction at once, and merged frames are lost",
        half_closed_and_lost,
    ),
    Family::guilty(
        "grown-and-lost",
        "a receive window that grows from little, and merged frames are lost",
        grown_and_lost,
    ),
    Family::guilty(
        "unnumbered-and-lost",
        "packets that are all identified by 0, or by chance, and merged ones are lost",
        unnumbered_and_lost,
    ),
    Family::guilty(
        "more-options-and-lost",
        "another option or an extension header on every segment, and merged frames are lost",
        more_options_and_lost,
    ),
    Family::guilty(
        "wrapping-and-lost",
        "numbers that begin anew within the transfer, and merged frames are lost",
        wrapping_and_lost,
    ),
    Family::guilty(
        "ports-again-and-lost",
        "one port after the other for connection after connection, and merged frames are lost",
        ports_again_and_lost,
    ),
    Family::innocent("marked", "a queue that marks instead of dropping", marked),
    Family::innocent("reset", "a transfer that ends in a reset", reset),
    Family::innocent(
        "half-closed",
        "the client closes its direction before the answer",
        half_closed,
    ),
    Family::innocent("grown", "a receive window that grows from little", grown),
    Family::innocent(
        "small-send-buffer",
        "a sender that keeps little unacknowledged",
        small_send_buffer,
    ),
    Family::innocent(
        "unnumbered",
        "packets that are all identified by 0, or by chance, and some are lost",
        unnumbered,
    ),
    Family::innocent(
        "more-options",
        "another option or an extension header on every segment",
        more_options,
    ),
    Family::innocent(
        "wrapping",
        "numbers that begin anew within the transfer",
        wrapping,
    ),
    Family::innocent(
        "ports-again",
        "one port after the other for connection after connection",
        ports_again,
    ),
    Family::innocent(
        "stamped-otherwise",
        "timestamps that count microseconds or hundredths, on a path that loses frames",
        stamped_otherwise,
    ),
    Family::innocent(
        "satellite",
        "frames are lost on a round trip of 500 to 700 ms",
        satellite,
    ),
];

fn both(scenario: &mut Scenario, change: impl Fn(&mut Host)) {
    change(&mut scenario.client);
    change(&mut scenario.server);
}

/// A queue with a mark at a part of what the path holds.
fn mark(scenario: &mut Scenario, dice: &mut Dice, wan: Wan) {
    both(scenario, |host| host.ecn = true);
    let from = (wan.bytes() as f64 * dice.scaled(0.1, 1.0)).max(15_000.0);
    let links = scenario.links_mut();
    if let Some(link) = links.max_by_key(|link| link.toward[0].delay) {
        link.toward[HERE.index()].marks_from = from as usize;
    }
}

fn marked_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_bridge(dice, "marked-and-lost");
    mark(&mut scenario, dice, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn marked(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "marked");
    mark(&mut scenario, dice, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn end_early(scenario: &mut Scenario, dice: &mut Dice, after: Nanos) {
    let host = if dice.chance(0.5) {
        &mut scenario.client
    } else {
        &mut scenario.server
    };
    host.reset_after = Some(after);
}

fn reset_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_bridge(dice, "reset-and-lost");
    let after = (dice.between(40.0, 200.0) * 2.0 * wan.delay as f64) as Nanos;
    end_early(&mut scenario, dice, after.max(SECOND));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn reset(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "reset");
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 5_000_000);
    let after = (dice.between(4.0, 10.0) * 2.0 * wan.delay as f64) as Nanos;
    end_early(&mut scenario, dice, after);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn close_early(scenario: &mut Scenario, _: &mut Dice) {
    both(scenario, |host| host.half_close = true);
}

fn half_closed_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "half-closed-and-lost", close_early)
}

fn half_closed(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "half-closed", close_early)
}

fn grow(scenario: &mut Scenario, dice: &mut Dice) {
    let first = dice.scaled_whole(14_600, 65_000);
    both(scenario, |host| host.first_window = Some(first));
}

fn grown_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "grown-and-lost", grow)
}

fn grown(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "grown", grow)
}

fn small_send_buffer(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 40.0));
    let mut scenario = plain(dice, "small-send-buffer", wan);
    scenario.server.send_buffer = dice.scaled_whole(4_000, 64_000);
    scenario.turns[1].bytes = dice.scaled_whole(200_000, 2_000_000);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn number_otherwise(scenario: &mut Scenario, dice: &mut Dice) {
    let ids = dice.pick(&[IpIds::Zero, IpIds::Random]);
    scenario.ipv6 = false;
    both(scenario, |host| host.ip_ids = ids);
}

fn unnumbered_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "unnumbered-and-lost", number_otherwise)
}

fn unnumbered(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "unnumbered");
    number_otherwise(&mut scenario, dice);
    lossy(dice, scenario, wan, (0.003, 0.03))
}

fn add_options(scenario: &mut Scenario, dice: &mut Dice) {
    let more = dice.pick(&[0, 8, 12, 20]);
    let extension = more == 0 || dice.chance(0.3);
    scenario.ipv6 |= extension;
    both(scenario, |host| {
        (host.more_options, host.extension) = (more, extension);
        host.sack &= more < 20;
    });
}

fn more_options_and_lost(dice: &mut Dice) -> Drawn {
    any_bridge_with(dice, "more-options-and-lost", add_options).unsnapped()
}

fn more_options(dice: &mut Dice) -> Drawn {
    any_plain_with(dice, "more-options", add_options).unsnapped()
}

fn wrapping_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = any_bridge(dice, "wrapping-and-lost");
    scenario.near_wrap = true;
    scenario.turns[1].bytes = dice.scaled_whole(400_000, 2_000_000);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn wrapping(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "wrapping");
    scenario.near_wrap = true;
    scenario.turns[1].bytes = dice.scaled_whole(1_000_000, 4_000_000);
    if dice.chance(0.5) {
        return lossy(dice, scenario, wan, (0.003, 0.03));
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

/// A connection is over long before its port comes again.
fn use_ports_again(scenario: &mut Scenario, dice: &mut Dice, least: Nanos) {
    scenario.connections = dice.whole(10..=40) as usize;
    scenario.ports = dice.whole(2..=6) as usize;
    scenario.spacing = least / scenario.ports as u64 + dice.scaled_whole(20, 200) * MILLISECOND;
}

fn ports_again_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (1.0, 10.0));
    let mut scenario = bridge_behind(dice, "ports-again-and-lost", wan);
    scenario.turns[1].bytes = dice.scaled_whole(20_000, 100_000);
    use_ports_again(&mut scenario, dice, 30 * SECOND);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn ports_again(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (1.0, 20.0));
    let mut scenario = plain(dice, "ports-again", wan);
    scenario.turns[1].bytes = dice.scaled_whole(20_000, 300_000);
    use_ports_again(&mut scenario, dice, 2 * SECOND);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn stamped_otherwise(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = any_plain(dice, "stamped-otherwise");
    let tick = dice.pick(&[
        MICROSECOND,
        4 * MILLISECOND,
        10 * MILLISECOND,
        100 * MILLISECOND,
    ]);
    both(&mut scenario, |host| {
        (host.timestamps, host.tick) = (true, tick);
    });
    lossy(dice, scenario, wan, (0.003, 0.03))
}

fn satellite(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (10, 60), (250.0, 350.0));
    let mut scenario = plain(dice, "satellite", wan);
    if dice.chance(0.3) {
        scenario.server.congestion = Congestion::Bbr;
        both(&mut scenario, |host| host.sack = true);
    }
    lossy(dice, scenario, wan, (0.002, 0.03))
}
