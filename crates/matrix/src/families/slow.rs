//! Slow for a reason that is not merging: windows, acknowledgements, hosts.

use coalescope_simulate::{
    Congestion, Element, Hop, MICROSECOND, MILLISECOND, Other, Reader, SECOND, Side, Turn,
};

use super::base::{lossy, plain, routed, sound_twin};
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, download};

pub(super) const ALL: &[Family] = &[
    Family::innocent(
        "late-acks",
        "acknowledgements that wait and stand for many segments",
        late_acks,
    ),
    Family::innocent(
        "thinned-acks",
        "a box that thins acknowledgements",
        thinned_acks,
    ),
    Family::innocent(
        "pausing-reader",
        "a receiver that reads with pauses",
        pausing_reader,
    ),
    Family::innocent(
        "slow-reader",
        "a receiver that reads a little at a time",
        slow_reader,
    ),
    Family::innocent("paced", "a sender that paces", paced),
    Family::innocent(
        "paced-through-loss",
        "a sender that paces, through losses that do not slow it",
        paced_through_loss,
    ),
    Family::innocent("slow-server", "answers that take their time", slow_server),
    Family::innocent("small-transfer", "a few kilobytes", small_transfer),
    Family::innocent(
        "loss-and-bystanders",
        "beside one that loses frames: idle and short ones",
        loss_and_bystanders,
    ),
    Family::innocent(
        "window-and-bystanders",
        "beside one with a small window: short ones that lose frames",
        window_and_bystanders,
    ),
];

fn late_acks(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 40.0));
    let mut scenario = plain(dice, "late-acks", wan);
    (scenario.client.ack_every, scenario.client.ack_delay) =
        dice.pick(&[(2, 200), (4, 40), (8, 40), (4, 100)]);
    scenario.client.ack_delay *= MILLISECOND;
    scenario.client.quick_acks = dice.pick(&[0, 16]);
    scenario.server.initial_window = 10;
    Drawn::one(scenario, Otherwise::Healthy)
}

fn thinned_acks(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (2.0, 40.0));
    let mut scenario = plain(dice, "thinned-acks", wan);
    let thin = Hop::ThinAcks {
        toward: HERE.other(),
        every: dice.scaled_whole(MILLISECOND, 10 * MILLISECOND),
    };
    let place = dice.pick(&[4, 6]);
    scenario.path.insert(place, Element::Hop(thin));
    Drawn::one(scenario, Otherwise::Healthy)
}

fn pausing_reader(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (1.0, 15.0));
    let mut scenario = plain(dice, "pausing-reader", wan);
    let pause = dice.scaled_whole(60, 500) * MILLISECOND;
    scenario.client.receive_buffer = dice.scaled_whole(64_000, 300_000);
    scenario.client.window_scale = dice.pick(&[0, 3, 7]);
    scenario.client.receive_buffer = match scenario.client.window_scale {
        0 => scenario.client.receive_buffer.min(65_000),
        _ => scenario.client.receive_buffer,
    };
    scenario.client.reader = Reader::Pausing {
        every: pause + dice.scaled_whole(5, 30) * MILLISECOND,
        pause,
    };
    Drawn::one(scenario, Otherwise::Window)
}

fn slow_reader(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (0.5, 15.0));
    let mut scenario = plain(dice, "slow-reader", wan);
    scenario.client.receive_buffer = dice.scaled_whole(40_000, 150_000);
    scenario.client.window_scale = dice.pick(&[2, 7, 10]);
    let rate = dice.scaled(0.02, 0.15) * wan.rate_bps as f64 / 8.0;
    let bytes = dice.scaled_whole(2_000, 20_000);
    scenario.client.reader = Reader::Steady {
        bytes,
        every: (bytes as f64 / rate * SECOND as f64) as u64,
    };
    scenario.turns[1].bytes = dice.scaled_whole(600_000, 3_000_000);
    Drawn::one(scenario, Otherwise::Window)
}

fn paced(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 1_000), (1.0, 40.0));
    let mut scenario = plain(dice, "paced", wan);
    scenario.server.congestion = Congestion::Bbr;
    Drawn::one(scenario, Otherwise::Healthy)
}

fn paced_through_loss(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (20, 500), (2.0, 40.0));
    let mut scenario = plain(dice, "paced-through-loss", wan);
    scenario.server.congestion = Congestion::Bbr;
    scenario.client.sack = true;
    scenario.server.sack = true;
    lossy(dice, scenario, wan, (0.003, 0.03))
}

fn slow_server(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (0.5, 20.0));
    let mut scenario = plain(dice, "slow-server", wan);
    let think = 4 * wan.delay + dice.scaled_whole(80, 600) * MILLISECOND;
    let answer = dice.scaled_whole(3_000, 30_000);
    scenario.turns = (0..dice.whole(10..=25))
        .flat_map(|_| {
            let request = Turn::new(Side::Client, 300);
            [request, Turn::new(Side::Server, answer).after(think)]
        })
        .collect();
    Drawn::one(scenario, Otherwise::Idle)
}

fn small_transfer(dice: &mut Dice) -> Drawn {
    let wan = Wan::draw(dice);
    let mut scenario = plain(dice, "small-transfer", wan);
    scenario.turns = download(dice, 0);
    scenario.turns[1].bytes = dice.scaled_whole(300, 30_000);
    scenario.connections = dice.whole(1..=30) as usize;
    scenario.spacing = dice.scaled_whole(MILLISECOND, 200 * MILLISECOND);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Connections that wait for their application, or are over soon.
fn quiet(dice: &mut Dice) -> Vec<Other> {
    let idle = Turn::new(Side::Server, 40_000).in_writes(2_000, 200 * MILLISECOND);
    let chatty = vec![Turn::new(Side::Client, 100), idle];
    let some = (0..dice.whole(2..=5)).map(|number| Other {
        start: dice.whole(0..=SECOND / 4),
        turns: if number % 2 == 0 {
            chatty.clone()
        } else {
            vec![
                Turn::new(Side::Client, 300),
                Turn::new(Side::Server, 4_000).after(30 * MILLISECOND),
            ]
        },
        client: None,
        server: None,
    });
    some.collect()
}

fn loss_and_bystanders(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (4.0, 40.0));
    let loss = dice.scaled(0.008, 0.04);
    let near = Wan {
        delay: 50 * MICROSECOND,
        ..wan
    };
    let lossy = near.link_with(|lane| lane.loss = loss);
    let mut scenario = routed(dice, "loss-and-bystanders", wan, lossy);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 5_000_000);
    let mut twin = sound_twin(&scenario, 1);
    scenario.others = quiet(dice);
    twin.others.clone_from(&scenario.others);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// The loss is met by every thirtieth connection only, and these are short.
fn window_and_bystanders(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (5.0, 40.0));
    let mut scenario = plain(dice, "window-and-bystanders", wan);
    scenario.turns[1].bytes = dice.scaled_whole(2_000_000, 4_000_000);
    scenario.client.receive_buffer = (wan.bytes() / 5).clamp(15_000, 150_000);
    scenario.client.window_scale = 2;
    let loss = dice.scaled(0.02, 0.08);
    let near = Wan {
        delay: 30 * MICROSECOND,
        ..wan
    };
    let lossy = Element::OfSome {
        every: 3,
        element: Box::new(near.link_with(|lane| lane.loss = loss)),
    };
    scenario.path.insert(5, lossy);
    scenario.connections = 1;
    // Connections 1 to 3 stand beside number 0, which meets the loss as number 3 does, so the main
    // connection is moved to the others and a short one takes its place.
    let main = scenario.turns.clone();
    scenario.turns = download(dice, 60_000);
    scenario.others = vec![Other {
        start: 0,
        turns: main,
        client: None,
        server: None,
    }];
    Drawn::one(scenario, Otherwise::Window)
}
