//! Two causes at once, or one that captures seldom show, as on real paths.

use coalescope_simulate::{
    Bursts, Element, Hop, Lane, Link, MICROSECOND, MILLISECOND, MergeKind, SECOND, Scenario, Side,
    Turn,
};

use super::base::plain;
use super::guilty::{bridge_behind, from_vm_and_lost};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, MBIT, Wan, merging, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "policed-and-lost",
        "merged frames are lost, and a policer in front of the card drops single ones",
        policed_and_lost,
    ),
    Family::guilty(
        "radio-and-lost",
        "merged frames are lost behind a way of varying delay that loses bursts",
        radio_and_lost,
    ),
    Family::guilty(
        "lost-acks-and-lost",
        "merged frames are lost, and some acknowledgments, too",
        lost_acks_and_lost,
    ),
    Family::guilty(
        "both-ways-and-lost",
        "both sides send much, and merged frames are lost one way",
        both_ways_and_lost,
    ),
    Family::innocent(
        "lost-acks",
        "acknowledgments are lost on their way",
        lost_acks,
    ),
    Family::innocent(
        "acks-only",
        "only the acknowledgments' way is captured",
        acks_only,
    ),
    Family::innocent(
        "both-ways",
        "both sides send much, and both cards merge",
        both_ways,
    ),
    Family::innocent(
        "radio",
        "a way of varying delay that loses bursts, as WiFi at its edge",
        radio,
    ),
    Family::innocent(
        "two-bottlenecks",
        "a shaper, and behind the card a slower line with a short queue",
        two_bottlenecks,
    ),
    Family::innocent(
        "kept-alive",
        "connections with long pauses, in which probes keep them alive",
        kept_alive,
    ),
    Family::innocent(
        "sized-unlike",
        "jumbo frames on one connection, beside others of 1,500 bytes",
        sized_unlike,
    ),
];

/// The bridge of story A, and its long way.
fn bridge(dice: &mut Dice, name: &str) -> (Scenario, Wan) {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    (bridge_behind(dice, name, wan), wan)
}

/// The link with the long delay.
fn long_way(scenario: &mut Scenario) -> &mut Link {
    let links = scenario.links_mut();
    let longest = links.max_by_key(|link| link.toward[0].delay);
    longest.expect("each path has a link")
}

fn policed_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, wan) = bridge(dice, "policed-and-lost");
    let bucket = Hop::TokenBucket {
        toward: HERE,
        rate_bps: dice.scaled_whole(5 * MBIT, wan.rate_bps / 4),
        burst: dice.scaled_whole(16_000, 64_000) as usize,
        queue: 0,
    };
    let place = scenario.path.len() - 1;
    scenario.path.insert(place, Element::Hop(bucket));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn bursts(dice: &mut Dice) -> Bursts {
    Bursts {
        begin: dice.scaled(0.001, 0.005),
        end: dice.between(0.2, 0.6),
        loss: dice.between(0.4, 0.9),
    }
}

/// Delays vary by up to their half, and losses come in bursts.
fn make_radio(link: &mut Link, bursts: Bursts, vary: f64) {
    for lane in &mut link.toward {
        lane.jitter = (lane.delay as f64 * vary) as u64;
    }
    link.toward[HERE.index()].bursts = Some(bursts);
}

fn radio_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "radio-and-lost");
    let (bursts, vary) = (bursts(dice), dice.between(0.1, 0.5));
    make_radio(long_way(&mut scenario), bursts, vary);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn radio(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (2.0, 30.0));
    let mut scenario = plain(dice, "radio", wan);
    let twin = scenario.clone();
    let (bursts, vary) = (bursts(dice), dice.between(0.1, 0.5));
    make_radio(long_way(&mut scenario), bursts, vary);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

fn lose_acks(scenario: &mut Scenario, dice: &mut Dice) {
    let loss = dice.scaled(0.01, 0.2);
    long_way(scenario).toward[HERE.other().index()].loss = loss;
}

fn lost_acks_and_lost(dice: &mut Dice) -> Drawn {
    let (mut scenario, _) = bridge(dice, "lost-acks-and-lost");
    lose_acks(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn lost_acks(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "lost-acks", wan);
    lose_acks(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// No data is captured, so no limit can be found.
fn acks_only(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "acks-only", wan);
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.only = Some(HERE.other());
        }
    }
    Drawn::one(scenario, Otherwise::Unseen).in_order()
}

/// Upload and download in turns, the latter so many times the former.
fn in_turns(scenario: &mut Scenario, dice: &mut Dice, wan: Wan, most: (f64, f64)) {
    let upload = dice.scaled_whole(200_000, 1_000_000);
    let download = (upload as f64 * dice.between(most.0, most.1)) as u64;
    scenario.turns = vec![Turn::new(HERE, upload), Turn::new(HERE.other(), download)];
    let mut other = merging(dice, wan, MergeKind::Gro);
    other.toward = HERE.other();
    scenario.path.push(Element::Merge(other));
    scenario.path.push(point("SERVER"));
}

fn both_ways_and_lost(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    let mut scenario = scenario(dice, "both-ways-and-lost", 0);
    scenario.path = from_vm_and_lost(dice, wan);
    in_turns(&mut scenario, dice, wan, (0.5, 2.0));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn both_ways(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "both-ways", wan);
    in_turns(&mut scenario, dice, wan, (1.2, 3.0));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn two_bottlenecks(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 20.0));
    let rate_bps = dice.scaled_whole(10 * MBIT, 60 * MBIT);
    let shaper = Hop::TokenBucket {
        toward: HERE,
        rate_bps,
        burst: 16_000,
        queue: dice.scaled_whole(64_000, 256_000) as usize,
    };
    let mut slower = Lane::new(
        (rate_bps as f64 * dice.between(0.7, 1.3)) as u64,
        20 * MICROSECOND,
    );
    slower.queue = 1_538 * dice.whole(20..=60) as usize;
    let back = Lane::new(wan.rate_bps, 20 * MICROSECOND);
    let mut scenario = plain(dice, "two-bottlenecks", wan);
    scenario.turns[1].bytes = dice.scaled_whole(1_000_000, 3_000_000);
    let slower = Element::Link(Link {
        toward: [slower, back],
    });
    scenario.path.insert(6, Element::Hop(shaper));
    scenario.path.insert(5, slower);
    Drawn::one(scenario, Otherwise::Bandwidth)
}

fn kept_alive(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 20.0));
    let mut scenario = plain(dice, "kept-alive", wan);
    for host in [&mut scenario.client, &mut scenario.server] {
        host.keepalive = Some(dice.scaled_whole(300, 1_000) * MILLISECOND);
    }
    let pause = dice.whole(2..=5) * SECOND;
    let answer = dice.scaled_whole(20_000, 100_000);
    scenario.turns = (0..dice.whole(3..=6))
        .flat_map(|_| {
            let request = Turn::new(Side::Client, 300).after(pause);
            [request, Turn::new(Side::Server, answer).after(MILLISECOND)]
        })
        .collect();
    Drawn::one(scenario, Otherwise::Idle)
}

/// The jumbo frames of one host's connections look like merged ones of the others'.
fn sized_unlike(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 20.0));
    let mut scenario = plain(dice, "sized-unlike", wan);
    let small = scenario.client.clone();
    (scenario.client.mtu, scenario.server.mtu) = (9_000, 9_000);
    scenario.turns[1].bytes = dice.scaled_whole(1_500_000, 3_000_000);
    let loss = dice.scaled(0.002, 0.02);
    let twin_turns = scenario.turns.clone();
    scenario.others = (0..dice.whole(2..=6))
        .map(|_| coalescope_simulate::Other {
            start: dice.whole(0..=SECOND / 10),
            turns: twin_turns.clone(),
            client: Some(small.clone()),
            server: None,
        })
        .collect();
    let twin = scenario.clone();
    long_way(&mut scenario).toward[HERE.index()].loss = loss;
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}
