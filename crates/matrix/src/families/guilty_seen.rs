//! Merged frames are lost, and the captures hardly show it.

use coalescope_simulate::{
    Congestion, Element, Hop, MICROSECOND, MILLISECOND, Merge, MergeKind, Other, Reorder, SECOND,
    Scenario, Side, Turn,
};

use super::guilty::{bridge_behind, bytes, fault, forwarded};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{
    HERE, Wan, any_kind, cut_from, download, end_of, merging, near, point, scenario, wrap,
};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "segment-limit",
        "a box that carries frames of some segments and no more",
        segment_limit,
    ),
    Family::guilty(
        "limit-beside-loss",
        "such a box, and a link beside it that loses frames by chance",
        limit_beside_loss,
    ),
    Family::guilty(
        "some-connections",
        "only some connections go by the bridge that loses merged frames",
        some_connections,
    ),
    Family::guilty(
        "hit-and-bystanders",
        "beside one that is hit: idle, short and window-limited ones",
        hit_and_bystanders,
    ),
    Family::guilty("data-only", "only the data's way is captured", data_only),
    Family::guilty(
        "mid-stream",
        "captures that begin in the middle",
        mid_stream,
    ),
    Family::guilty(
        "copied-and-lost",
        "a mirror shows each frame twice where merged ones are lost",
        copied_and_lost,
    ),
    Family::guilty(
        "paced-and-lost",
        "a sender that paces, and merged frames are lost",
        paced_and_lost,
    ),
    Family::guilty(
        "thinned-and-lost",
        "acknowledgements are thinned, and merged frames are lost",
        thinned_and_lost,
    ),
    Family::guilty(
        "wrapped-and-lost",
        "tags or tunnels on one side of the hop that loses merged frames",
        wrapped_and_lost,
    ),
    Family::guilty(
        "translated-and-lost",
        "addresses rewritten at both ends, and merged frames are lost",
        translated_and_lost,
    ),
    Family::guilty(
        "missed-and-lost",
        "captures miss frames, and merged frames are lost",
        missed_and_lost,
    ),
    Family::guilty(
        "overtaken-and-lost",
        "frames overtake each other in front of the card, and merged frames are lost",
        overtaken_and_lost,
    ),
    Family::guilty(
        "stale-sack",
        "merged frames are lost, and the receiver's SACK still has what it acknowledges",
        stale_sack,
    ),
    Family::guilty(
        "jumbo-and-lost",
        "segments of jumbo frames are merged, and lost for it",
        jumbo_and_lost,
    ),
    Family::guilty(
        "unlike-beginnings",
        "captures that begin and end at unlike times, and merged frames are lost",
        unlike_beginnings,
    ),
    Family::guilty(
        "forwarded-lro",
        "a bridge with an MTU, in front of it a card that keeps no segment size",
        forwarded_lro,
    ),
];

/// The bridge of story A on some path.
fn bridge(dice: &mut Dice, name: &str) -> (Scenario, Wan) {
    let wan = Wan::within(dice, (50, 2_000), (1.5, 100.0));
    (bridge_behind(dice, name, wan), wan)
}

fn segment_limit(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 40.0));
    let bytes = bytes(dice) * 2;
    let mut scenario = scenario(dice, "segment-limit", bytes);
    let segments = dice.whole(2..=5) as usize;
    let hop = Hop::DropMergedOver {
        toward: HERE,
        segments,
    };
    let kind = any_kind(dice);
    let interval = wan.time_of(segments as f64 * dice.between(1.3, 3.0));
    let merge = Merge {
        max_segments: 0,
        interval: interval.max(10 * MICROSECOND),
        ..merging(dice, wan, kind)
    };
    forwarded(&mut scenario, dice, Element::Hop(hop), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// The same, and each frame may be lost by chance on the way to the box.
fn limit_beside_loss(dice: &mut Dice) -> Drawn {
    let mut drawn = segment_limit(dice);
    let loss = dice.scaled(0.003, 0.02);
    for run in &mut drawn.runs {
        "limit-beside-loss".clone_into(&mut run.name);
        let is_box =
            |element: &Element| matches!(element, Element::Hop(Hop::DropMergedOver { .. }));
        if let Some(at) = run.path.iter().position(is_box) {
            let wire = Wan::within(dice, (1_000, 1_000), (0.05, 0.05));
            run.path.insert(at, wire.link_with(|lane| lane.loss = loss));
        }
    }
    drawn
}

fn some_connections(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.5, 20.0));
    let bytes = dice.scaled_whole(30_000, 300_000);
    let mut scenario = scenario(dice, "some-connections", bytes);
    scenario.connections = dice.whole(8..=40) as usize;
    scenario.spacing = dice.scaled_whole(5 * MILLISECOND, 100 * MILLISECOND);
    let fault = Element::OfSome {
        every: dice.whole(2..=4) as usize,
        element: Box::new(fault()),
    };
    let merge = merging(dice, wan, MergeKind::Gro);
    forwarded(&mut scenario, dice, fault, merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Writes with pauses, a handful of bytes, and a small window.
fn bystanders(dice: &mut Dice, scenario: &Scenario) -> Vec<Other> {
    let idle = Turn::new(Side::Server, 20_000).in_writes(1_000, 250 * MILLISECOND);
    let short = download(dice, 9_000);
    let mut narrow = scenario.client.clone();
    (narrow.receive_buffer, narrow.window_scale) = (6_000, 0);
    let talks = [
        (vec![Turn::new(Side::Client, 100), idle], None),
        (short, None),
        (download(dice, 50_000), Some(narrow)),
    ];
    talks
        .into_iter()
        .map(|(turns, client)| Other {
            start: dice.whole(0..=SECOND / 2),
            turns,
            client,
            server: None,
        })
        .collect()
}

fn hit_and_bystanders(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (2.0, 30.0));
    let bytes = dice.scaled_whole(800_000, 2_000_000);
    let mut scenario = scenario(dice, "hit-and-bystanders", bytes);
    let fault = Element::OfSome {
        every: 1_000,
        element: Box::new(fault()),
    };
    let kind = any_kind(dice);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, fault, merge, wan);
    scenario.others = bystanders(dice, &scenario);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn data_only(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "data-only");
    let both = dice.chance(0.3);
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            let some = both || point.name != "VM";
            point.only = some.then_some(HERE);
        }
    }
    Drawn::one(scenario, Otherwise::Healthy).in_order()
}

fn mid_stream(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = bridge(dice, "mid-stream");
    let begins = (dice.between(3.0, 20.0) * 2.0 * wan.delay as f64) as u64;
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.begins = begins + dice.whole(0..=wan.delay);
        }
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn copied_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "copied-and-lost");
    let routed = dice.chance(0.5);
    if let Some(point) = scenario.point_mut("HYP-UPLINK") {
        if routed {
            point.routed = Some(dice.scaled_whole(20 * MICROSECOND, 2 * MILLISECOND));
        } else {
            point.doubled = Some(dice.scaled_whole(MICROSECOND, 50 * MICROSECOND));
        }
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn paced_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "paced-and-lost");
    scenario.server.congestion = Congestion::Bbr;
    Drawn::one(scenario, Otherwise::Healthy)
}

fn thinned_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "thinned-and-lost");
    let thin = Hop::ThinAcks {
        toward: HERE.other(),
        every: dice.scaled_whole(MILLISECOND, 8 * MILLISECOND),
    };
    // On the long way, behind the last point.
    let place = scenario.path.len() - 1;
    scenario.path.insert(place, Element::Hop(thin));
    Drawn::one(scenario, Otherwise::Healthy)
}

/// The tunnel ends on the same hop that loses merged frames, in front of the fault or behind it.
fn wrapped_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "wrapped-and-lost", bytes);
    let with = wrap(dice);
    scenario.client.mtu -= 50;
    scenario.path = vec![
        point("VM"),
        cut_from(Side::Client),
        near(dice, wan),
        point("HYP-INNER"),
        fault(),
        end_of(with, Side::Client),
        point("HYP-OUTER"),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
        end_of(with, Side::Server),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy).unsnapped()
}

fn translated_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "translated-and-lost", bytes);
    scenario.connections = dice.whole(1..=3) as usize;
    let kind = any_kind(dice);
    scenario.path = vec![
        point("INSIDE"),
        Element::Hop(Hop::Nat),
        near(dice, wan),
        point("GW-IN"),
        fault(),
        point("GW-OUT"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, kind)),
        wan.link(),
        Element::Hop(Hop::Director { mtu: u16::MAX }),
        cut_from(Side::Server),
        point("SERVER"),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

fn forwarded_lro(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "forwarded-lro", bytes);
    let mtu = scenario.client.mtu as u16;
    let hop = Hop::Forward { mtu: [mtu, mtu] };
    let merge = merging(dice, wan, MergeKind::Lro);
    forwarded(&mut scenario, dice, Element::Hop(hop), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn missed_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "missed-and-lost");
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.missed = dice.scaled(0.001, 0.04);
        }
    }
    Drawn::one(scenario, Otherwise::Healthy)
}

fn overtaken_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = bridge(dice, "overtaken-and-lost");
    let reorder = Reorder {
        probability: dice.scaled(0.005, 0.1),
        extra: wan.time_of(dice.between(2.0, 10.0)),
    };
    // As long as the link that is there, which has the delay.
    let way = Wan {
        delay: 20 * MICROSECOND,
        ..wan
    };
    let place = scenario.path.len() - 1;
    let link = way.link_with(|lane| lane.reorder = Some(reorder));
    scenario.path.insert(place, link);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn stale_sack(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "stale-sack");
    (scenario.client.sack, scenario.server.sack) = (true, true);
    scenario.client.stale_sack = true;
    Drawn::one(scenario, Otherwise::Healthy).unsnapped()
}

fn jumbo_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (500, 10_000), (0.5, 10.0));
    let bytes = bytes(dice) * 5;
    let mut scenario = scenario(dice, "jumbo-and-lost", bytes);
    let mtu = dice.pick(&[4_000, 8_000, 9_000]);
    (scenario.client.mtu, scenario.server.mtu) = (mtu, mtu);
    let kind = any_kind(dice);
    let frames = dice.between(2.5, 7.0) * f64::from(mtu) / 1_500.0;
    let merge = Merge {
        interval: wan.time_of(frames).max(10 * MICROSECOND),
        ..merging(dice, wan, kind)
    };
    forwarded(&mut scenario, dice, fault(), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn unlike_beginnings(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = bridge(dice, "unlike-beginnings");
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            let trips = |low, high, dice: &mut Dice| {
                (dice.between(low, high) * 2.0 * wan.delay as f64) as u64
            };
            if dice.chance(0.6) {
                point.begins = trips(0.0, 8.0, dice);
            }
            if dice.chance(0.6) {
                point.ends = trips(60.0, 200.0, dice);
            }
        }
    }
    Drawn::one(scenario, Otherwise::Healthy)
}
