//! Paths and hosts at the ends of what there is: round trips of a tenth of a millisecond and of 400, small segments,
//! hosts without options, hardly any window, queues of a second.

use coalescope_simulate::{Element, Lane, Link, MICROSECOND, MILLISECOND, Scenario, Side};

use super::base::{lossy, plain};
use super::guilty::{bridged, bytes, fault};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{MBIT, Wan, any_kind, cut_from, merging, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "far-and-lost",
        "merged frames are lost at the end of a round trip of 100 to 400 ms",
        far_and_lost,
    ),
    Family::guilty(
        "small-segments-and-lost",
        "segments of 500 to 1,200 bytes are merged, and lost for it",
        small_segments_and_lost,
    ),
    Family::guilty(
        "bare-and-lost",
        "hosts without timestamps, SACK and window scale, and merged frames are lost",
        bare_and_lost,
    ),
    Family::guilty(
        "sender-and-lost",
        "captures at both ends only: before the sender's card cuts, and where what was merged never comes",
        sender_and_lost,
    ),
    Family::innocent("far", "a round trip of 100 to 400 ms", far),
    Family::innocent(
        "far-loss",
        "frames are lost on a round trip of 100 to 400 ms",
        far_loss,
    ),
    Family::innocent(
        "rack",
        "10 to 40 Gbit/s over a tenth of a millisecond",
        rack,
    ),
    Family::innocent(
        "small-segments",
        "segments of 500 to 1,200 bytes",
        small_segments,
    ),
    Family::innocent(
        "bare",
        "hosts without timestamps, SACK and window scale",
        bare,
    ),
    Family::innocent(
        "bare-loss",
        "the same, on a path that loses frames",
        bare_loss,
    ),
    Family::innocent(
        "tiny-window",
        "a receiver with room for one to four segments",
        tiny_window,
    ),
    Family::innocent("bloated", "a queue of half a second and more", bloated),
];

fn far_wan(dice: &mut Dice) -> Wan {
    Wan::within(dice, (20, 200), (50.0, 200.0))
}

fn far_and_lost(dice: &mut Dice) -> Drawn {
    let wan = far_wan(dice);
    let bytes = dice.scaled_whole(150_000, 600_000);
    let scenario = scenario(dice, "far-and-lost", bytes);
    Drawn::one(bridged(dice, scenario, wan), Otherwise::Healthy)
}

fn far(dice: &mut Dice) -> Drawn {
    let wan = far_wan(dice);
    Drawn::one(plain(dice, "far", wan), Otherwise::Healthy)
}

fn far_loss(dice: &mut Dice) -> Drawn {
    let wan = far_wan(dice);
    let scenario = plain(dice, "far-loss", wan);
    lossy(dice, scenario, wan, (0.002, 0.03))
}

fn rack(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (10_000, 40_000), (0.02, 0.08));
    let mut scenario = plain(dice, "rack", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 20_000_000);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Lowers the MTU, as behind a tunnel in a tunnel, or a modem.
fn shrink(dice: &mut Dice, scenario: &mut Scenario) {
    let mtu = dice.pick(&[576, 620, 800, 1_006, 1_200, 1_280]);
    // IPv6 carries 1,280 bytes everywhere (RFC 8200, 5).
    scenario.ipv6 &= mtu >= 1_280;
    (scenario.client.mtu, scenario.server.mtu) = (mtu, mtu);
}

fn small_segments_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.5, 40.0));
    let bytes = bytes(dice) / 2;
    let mut scenario = scenario(dice, "small-segments-and-lost", bytes);
    shrink(dice, &mut scenario);
    Drawn::one(bridged(dice, scenario, wan), Otherwise::Healthy)
}

fn small_segments(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (1.5, 40.0));
    let mut scenario = plain(dice, "small-segments", wan);
    shrink(dice, &mut scenario);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Leaves the hosts what RFC 9293 requires and no more: a window of 64 KB.
fn strip(scenario: &mut Scenario) {
    for host in [&mut scenario.client, &mut scenario.server] {
        (host.timestamps, host.sack, host.window_scale) = (false, false, 0);
        host.receive_buffer = 65_535;
    }
}

fn bare_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 1_000), (1.0, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "bare-and-lost", bytes);
    strip(&mut scenario);
    Drawn::one(bridged(dice, scenario, wan), Otherwise::Healthy)
}

/// A path that a window of 64 KB fills.
fn bare(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (5, 100), (0.5, 2.0));
    let mut scenario = plain(dice, "bare", wan);
    strip(&mut scenario);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn bare_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (2.0, 20.0));
    let mut scenario = plain(dice, "bare-loss", wan);
    strip(&mut scenario);
    lossy(dice, scenario, wan, (0.01, 0.05))
}

fn sender_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "sender-and-lost", bytes);
    (scenario.server.tso, scenario.server.checksum_offload) = (true, true);
    let kind = any_kind(dice);
    scenario.path = vec![
        point("VM"),
        fault(),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, kind)),
        wan.link(),
        cut_from(Side::Server),
        point("SENDER"),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

fn tiny_window(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 1_000), (2.0, 40.0));
    let mut scenario = plain(dice, "tiny-window", wan);
    scenario.client.window_scale = 0;
    scenario.client.receive_buffer = dice.scaled_whole(1_500, 6_000);
    scenario.turns[1].bytes = dice.scaled_whole(100_000, 400_000);
    Drawn::one(scenario, Otherwise::Window)
}

fn bloated(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 20.0));
    let mut scenario = plain(dice, "bloated", wan);
    let rate_bps = dice.scaled_whole(2 * MBIT, 20 * MBIT);
    let mut slow = Lane::new(rate_bps, 50 * MICROSECOND);
    let long = dice.scaled_whole(300 * MILLISECOND, 1_000 * MILLISECOND);
    slow.queue = (rate_bps as f64 / 8.0 * long as f64 / 1e9) as usize;
    let back = Lane::new(wan.rate_bps, 50 * MICROSECOND);
    let link = Element::Link(Link {
        toward: [slow, back],
    });
    scenario.path.insert(6, link);
    scenario.turns[1].bytes = dice.scaled_whole(1_000_000, 3_000_000);
    Drawn::one(scenario, Otherwise::Bandwidth)
}
