//! Families in which merging does no harm, whatever is slow.

use coalescope_simulate::{
    Bursts, Element, Format, Hop, Lane, MICROSECOND, MILLISECOND, MergeKind, Point, Reader,
    Reorder, Side, Turn, Wrap,
};

use super::base::{bytes, plain, routed, sound_twin};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, MBIT, Wan, cut_from, merging, near, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::innocent("sound", "nothing is wrong", sound),
    Family::innocent(
        "not-merged",
        "merging is off, and nothing is wrong",
        not_merged,
    ),
    Family::innocent(
        "router-cuts",
        "a router that cuts again what was merged in front of it",
        router_cuts,
    ),
    Family::innocent(
        "random-loss",
        "frames are lost whatever their size",
        random_loss,
    ),
    Family::innocent("burst-loss", "frames are lost in bursts", burst_loss),
    Family::innocent(
        "uncut-sender",
        "large frames at the sender, which its card cuts",
        uncut_sender,
    ),
    Family::innocent("jumbo", "large frames on all of the path, and loss", jumbo),
    Family::innocent("policer", "a policer that frames meet one by one", policer),
    Family::innocent("shaper", "a shaper with a queue", shaper),
    Family::innocent("idle", "a sender that pauses", idle),
    Family::innocent(
        "closed-window",
        "a receiver that reads slowly",
        closed_window,
    ),
    Family::innocent(
        "small-window",
        "a receive buffer that is small for the path",
        small_window,
    ),
    Family::innocent(
        "reordering",
        "frames overtake each other in front of the merging card",
        reordering,
    ),
    Family::innocent(
        "mirrored-twice",
        "a mirror that copies each frame twice",
        mirrored_twice,
    ),
    Family::innocent(
        "missed-frames",
        "a capture that misses frames",
        missed_frames,
    ),
    Family::innocent(
        "translated",
        "an address translator between the points",
        translated,
    ),
    Family::innocent(
        "merged-twice",
        "a host merges further what a hypervisor merged",
        merged_twice,
    ),
    Family::innocent(
        "bonded",
        "a bond of several lines, each frame by the next one (story C)",
        bonded,
    ),
    Family::innocent(
        "shared-link",
        "several connections share a link and fill it",
        shared_link,
    ),
    Family::innocent(
        "fragmented",
        "frames larger than the next link's MTU go on in fragments",
        fragmented,
    ),
    Family::innocent("jittery", "a way of varying delay, as WiFi has it", jittery),
    Family::innocent("vxlan", "a VXLAN tunnel between the points", vxlan),
];

fn sound(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "sound", wan);
    scenario.connections = dice.whole(1..=4) as usize;
    Drawn::one(scenario, Otherwise::Healthy)
}

fn not_merged(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "not-merged", wan);
    scenario.path.remove(2);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn router_cuts(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let near = near(dice, wan);
    let scenario = routed(dice, "router-cuts", wan, near);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn random_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (2.0, 40.0));
    let loss = dice.scaled(0.003, 0.05);
    let near = Wan {
        delay: 50 * MICROSECOND,
        ..wan
    };
    let lossy = near.link_with(|lane| lane.loss = loss);
    let scenario = routed(dice, "random-loss", wan, lossy);
    let twin = sound_twin(&scenario, 1);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn burst_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (2.0, 40.0));
    let bursts = Bursts {
        begin: dice.scaled(0.002, 0.01),
        end: dice.between(0.15, 0.6),
        loss: dice.between(0.5, 0.95),
    };
    let near = Wan {
        delay: 50 * MICROSECOND,
        ..wan
    };
    let lossy = near.link_with(|lane| lane.bursts = Some(bursts));
    let scenario = routed(dice, "burst-loss", wan, lossy);
    let twin = sound_twin(&scenario, 1);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn uncut_sender(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "uncut-sender", bytes);
    (scenario.server.tso, scenario.server.checksum_offload) = (true, true);
    let loss = dice.scaled(0.003, 0.03);
    let mut sender = Point::new("SENDER");
    if dice.chance(0.5) {
        sender.own = Some(Side::Server);
        sender.format = Format::Pcapng;
    }
    scenario.path = vec![
        point("RECEIVER"),
        cut_from(Side::Client),
        wan.link(),
        cut_from(Side::Server),
        Element::Point(sender),
    ];
    let twin = scenario.clone();
    scenario.path[2] = wan.link_with(|lane| lane.loss = loss);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn jumbo(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 5_000), (1.0, 20.0));
    let bytes = bytes(dice) * 3;
    let mut scenario = scenario(dice, "jumbo", bytes);
    let mtu = dice.pick(&[4_000, 8_000, 9_000]);
    (scenario.client.mtu, scenario.server.mtu) = (mtu, mtu);
    let loss = dice.scaled(0.008, 0.04);
    scenario.path = vec![
        point("NEAR"),
        cut_from(Side::Client),
        wan.link(),
        point("FAR"),
        near(dice, wan),
        cut_from(Side::Server),
    ];
    let twin = scenario.clone();
    scenario.path[2] = wan.link_with(|lane| lane.loss = loss);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn bucket(rate_bps: u64, burst: usize, queue: usize) -> Element {
    Element::Hop(Hop::TokenBucket {
        toward: HERE,
        rate_bps,
        burst,
        queue,
    })
}

fn policer(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let rate = dice.scaled_whole(2 * MBIT, wan.rate_bps / 5);
    let bucket = bucket(rate, dice.scaled_whole(16_000, 64_000) as usize, 0);
    let mut scenario = routed(dice, "policer", wan, bucket);
    scenario.turns[1].bytes = dice.scaled_whole(400_000, 2_000_000);
    Drawn::one(scenario, Otherwise::Loss)
}

fn shaper(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 20.0));
    let rate = dice.scaled_whole(3 * MBIT, 20 * MBIT);
    let bucket = bucket(rate, 16_000, dice.scaled_whole(128_000, 512_000) as usize);
    let mut scenario = routed(dice, "shaper", wan, bucket);
    scenario.turns[1].bytes = dice.scaled_whole(1_000_000, 4_000_000);
    Drawn::one(scenario, Otherwise::Bandwidth)
}

fn idle(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 15.0));
    let mut scenario = plain(dice, "idle", wan);
    let write = dice.scaled_whole(4_000, 30_000);
    let pause = 2 * wan.delay + dice.scaled_whole(100, 500) * MILLISECOND;
    let writes = dice.whole(15..=40);
    let answer = Turn::new(Side::Server, write * writes).in_writes(write, pause);
    scenario.turns = vec![Turn::new(Side::Client, 200), answer];
    Drawn::one(scenario, Otherwise::Idle)
}

fn closed_window(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 20.0));
    let mut scenario = plain(dice, "closed-window", wan);
    scenario.client.receive_buffer = dice.scaled_whole(40_000, 65_000);
    scenario.client.window_scale = 0;
    scenario.client.reader = Reader::Steady {
        bytes: scenario.client.receive_buffer,
        every: dice.scaled_whole(150, 600) * MILLISECOND,
    };
    Drawn::one(scenario, Otherwise::Window)
}

fn small_window(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (5.0, 40.0));
    let mut scenario = plain(dice, "small-window", wan);
    let least = 12_000_u64;
    scenario.client.receive_buffer =
        dice.scaled_whole(least, (wan.bytes() / 4).clamp(least, 200_000));
    scenario.client.window_scale = 2;
    Drawn::one(scenario, Otherwise::Window)
}

fn reordering(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (2.0, 30.0));
    let mut scenario = plain(dice, "reordering", wan);
    let reorder = Reorder {
        probability: dice.between(0.1, 0.4),
        extra: wan.time_of(dice.between(4.0, 20.0)),
    };
    scenario.path[5] = wan.link_with(|lane| lane.reorder = Some(reorder));
    Drawn::one(scenario, Otherwise::Reordering)
}

fn mirrored_twice(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "mirrored-twice", wan);
    let name = dice.pick(&["HOST", "WIRE"]);
    if let Some(point) = scenario.point_mut(name) {
        point.doubled = Some(dice.scaled_whole(MICROSECOND, 60 * MICROSECOND));
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn missed_frames(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "missed-frames", wan);
    let name = dice.pick(&["HOST", "WIRE"]);
    if let Some(point) = scenario.point_mut(name) {
        point.missed = dice.scaled(0.003, 0.05);
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn translated(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "translated", wan);
    scenario.path.insert(4, Element::Hop(Hop::Nat));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn merged_twice(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "merged-twice", bytes);
    scenario.path = vec![
        point("VM"),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        near(dice, wan),
        point("HYP-TAP"),
        Element::Hop(Hop::Bridge),
        point("HYP-UPLINK"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Lines of unlike length, so that frames overtake each other.
fn bonded(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (200, 2_000), (1.0, 20.0));
    let mut scenario = plain(dice, "bonded", wan);
    let lines = dice.whole(2..=4);
    let apart = wan.time_of(dice.between(2.0, 8.0));
    let line = |number| Lane::new(wan.rate_bps / lines, 20 * MICROSECOND + number * apart);
    scenario
        .path
        .insert(5, Element::Bond((0..lines).map(line).collect()));
    Drawn::one(scenario, Otherwise::Reordering)
}

fn shared_link(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 300), (1.0, 20.0));
    let mut scenario = plain(dice, "shared-link", wan);
    scenario.connections = dice.whole(4..=10) as usize;
    scenario.turns[1].bytes = dice.scaled_whole(600_000, 1_200_000);
    let queue = wan.bytes().max(60_000) * dice.whole(1..=3);
    scenario.path[5] = wan.link_with(|lane| lane.queue = queue as usize);
    let fast = Wan {
        rate_bps: wan.rate_bps * 10,
        delay: 20 * MICROSECOND,
    };
    scenario.path.insert(6, fast.link());
    Drawn::one(scenario, Otherwise::Bandwidth)
}

fn fragmented(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 20.0));
    let mut scenario = plain(dice, "fragmented", wan);
    scenario.ipv6 = false;
    for host in [&mut scenario.client, &mut scenario.server] {
        (host.dont_fragment, host.mtu) = (false, 1500);
    }
    let mtu = dice.pick(&[1280, 1400, 1420]);
    let place = dice.pick(&[4, 6]);
    scenario
        .path
        .insert(place, Element::Hop(Hop::Fragmenter { mtu }));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn jittery(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 300), (1.0, 20.0));
    let mut scenario = plain(dice, "jittery", wan);
    let jitter = (wan.delay as f64 * dice.between(0.1, 0.8)) as u64;
    scenario.path[5] = wan.link_with(|lane| lane.jitter = jitter);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn vxlan(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "vxlan", bytes);
    (scenario.client.mtu, scenario.server.mtu) = (1450, 1450);
    let with = Wrap::Vxlan;
    let tunnel = |inner| Element::Hop(Hop::Wrap { inner, with });
    scenario.path = vec![
        point("HYP-VM"),
        cut_from(Side::Client),
        tunnel(Side::Client),
        point("HYP-UNDERLAY"),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
        tunnel(Side::Server),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy).unsnapped()
}
