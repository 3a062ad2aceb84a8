//! Disturbances that may be added to any family: they make a scenario harder to see and leave the right verdict as it
//! is.

use coalescope_simulate::{
    Element, Hop, Lane, MICROSECOND, MILLISECOND, Merge, Other, Point, Push, SECOND, Scenario,
    Side, Turn,
};

use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::parts::{HERE, end_of, for_points, host_of, wrap};

/// The disturbances to add to the families.
#[derive(Clone, Copy)]
pub enum Disturb {
    /// Nothing.
    Not,
    /// This one, wherever it fits.
    By(&'static Disturbance),
    /// None, one or two, drawn.
    Drawn,
}

/// A change that makes a scenario harder to see.
pub struct Disturbance {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub title: &'static str,
    /// Whether the right verdict on a draw stays as it is.
    fits: fn(&Drawn, &Scenario) -> bool,
    disturb: fn(&mut Scenario, &mut Dice),
}

/// All disturbances.
pub const DISTURBANCES: &[Disturbance] = &[
    Disturbance {
        name: "copies",
        title: "a mirror shows each frame twice at one point",
        fits: |_, scenario| {
            scenario
                .points()
                .all(|point| point.doubled.or(point.routed).is_none())
        },
        disturb: copies,
    },
    Disturbance {
        name: "bystanders",
        title: "idle and short connections beside it",
        fits: |drawn, scenario| {
            let same = [Otherwise::Healthy, Otherwise::Window, Otherwise::Idle];
            same.contains(&drawn.otherwise) && is_large(scenario)
        },
        disturb: |scenario, dice| scenario.others = bystanders(dice),
    },
    Disturbance {
        name: "nat",
        title: "addresses are rewritten somewhere on the way",
        fits: |_, scenario| is_plain(scenario),
        disturb: |scenario, dice| insert(scenario, Element::Hop(Hop::Nat), dice),
    },
    Disturbance {
        name: "wrapped",
        title: "a tag or a tunnel from some place to another",
        fits: |_, scenario| is_plain(scenario),
        disturb: wrapped,
    },
    Disturbance {
        name: "mid-stream",
        title: "captures begin in the middle",
        fits: begins_late,
        disturb: mid_stream,
    },
    Disturbance {
        name: "one-way",
        title: "only the data's way is captured",
        fits: goes_one_way,
        disturb: |scenario, _| for_points(scenario, |point| point.only = Some(HERE)),
    },
    Disturbance {
        name: "missed",
        title: "one capture misses frames",
        fits: |_, scenario| scenario.points().all(|point| point.missed == 0.0),
        disturb: missed,
    },
    Disturbance {
        name: "thinned",
        title: "acknowledgements are thinned in front of the sender",
        fits: |drawn, scenario| drawn.otherwise == Otherwise::Healthy && is_large(scenario),
        disturb: thinned,
    },
    Disturbance {
        name: "stepped",
        title: "one host's clock is set in the middle of the captures",
        fits: |_, scenario| {
            scenario.points().count() > 1
                && scenario
                    .points()
                    .all(|point| point.doubled.or(point.routed).is_none())
        },
        disturb: stepped,
    },
    Disturbance {
        name: "length-zero",
        title: "a sender whose own frames are captured with an IP length of 0",
        fits: |_, scenario| scenario.server.tso && !scenario.ipv6,
        disturb: |scenario, _| {
            (
                scenario.server.checksum_offload,
                scenario.server.zero_total_length,
            ) = (true, true);
        },
    },
];

/// A disturbance that is drawn beside those, with dice of its own, so that what they draw stays as it is.
pub static PUSHES: Disturbance = Disturbance {
    name: "pushes",
    title: "hosts set PSH in each frame with data, or in none",
    fits: |_, scenario| scenario.server.push == Push::Written,
    disturb: |scenario, dice| {
        let push = dice.pick(&[Push::Always, Push::Never]);
        (scenario.server.push, scenario.client.push) = (push, push);
    },
};

/// How often it is drawn.
const PUSHES_SHARE: f64 = 0.15;

impl Disturbance {
    /// Disturbs a draw, if that leaves the right verdict as it is.
    pub(crate) fn apply(&self, drawn: &mut Drawn, dice: &mut Dice) -> bool {
        let fits = matches!(&drawn.runs[..], [only] if (self.fits)(drawn, only));
        if fits {
            (self.disturb)(&mut drawn.runs[0], dice);
            drawn.may_snap &= self.name != "wrapped";
            drawn.may_shuffle &= self.name != "one-way";
        }
        fits
    }
}

fn any_point<'a>(scenario: &'a mut Scenario, dice: &mut Dice) -> Option<&'a mut Point> {
    let chosen = dice.whole(0..=scenario.points().count() as u64 - 1) as usize;
    let mut points = scenario
        .path
        .iter_mut()
        .filter_map(|element| match element {
            Element::Point(point) => Some(point),
            _ => None,
        });
    points.nth(chosen)
}

fn insert(scenario: &mut Scenario, element: Element, dice: &mut Dice) {
    let place = dice.whole(0..=scenario.path.len() as u64) as usize;
    scenario.path.insert(place, element);
}

/// Few connections with much data, all over one path.
fn is_large(scenario: &Scenario) -> bool {
    let bytes: u64 = scenario.turns.iter().map(|turn| turn.bytes).sum();
    let one_way = |element: &Element| !matches!(element, Element::OfSome { .. });
    bytes >= 300_000
        && scenario.connections <= 4
        && scenario.others.is_empty()
        && scenario.path.iter().all(one_way)
}

/// Nothing rewrites or wraps frames, cuts them into fragments, or quotes them in a message of its own.
fn is_plain(scenario: &Scenario) -> bool {
    let is_lossy = |element: &Element| {
        matches!(
            element,
            Element::Merge(Merge {
                reversible: false,
                ..
            })
        )
    };
    let forgets = scenario.path.iter().any(is_lossy);
    let mtu = scenario.client.mtu.min(scenario.server.mtu);
    scenario.path.iter().all(|element| match element {
        // So few bytes are kept that none would be left behind another header.
        Element::Point(point) if point.snap < 100 => false,
        Element::OfSome { element, .. } | Element::Since { element, .. }
            if matches!(**element, Element::Hop(_)) =>
        {
            false
        }
        Element::Hop(Hop::Router { mtu: router, icmp }) => {
            !icmp || !forgets && u32::from(*router) >= mtu
        }
        Element::Hop(
            Hop::Nat
            | Hop::Director { .. }
            | Hop::Wrap { .. }
            | Hop::Fragmenter { .. }
            | Hop::DropMergedIfMtuOver { .. }
            | Hop::NoIcmp,
        ) => false,
        _ => true,
    })
}

/// Frames are lost for lack of room or of tokens, or for being too long: most of them at the beginning.
fn overflows(scenario: &Scenario) -> bool {
    let unlimited = Lane::new(1, 0).queue;
    let mtu = scenario.client.mtu.min(scenario.server.mtu);
    scenario.path.iter().any(|element| match element {
        Element::Link(link) => link.toward[HERE.index()].queue < unlimited,
        Element::Hop(Hop::TokenBucket { .. }) => true,
        Element::Hop(Hop::Router { mtu: router, .. }) => u32::from(*router) < mtu,
        _ => false,
    })
}

fn begins_late(drawn: &Drawn, scenario: &Scenario) -> bool {
    let tells = !matches!(
        drawn.otherwise,
        Otherwise::Window | Otherwise::Bandwidth | Otherwise::Idle
    );
    let at_once = scenario.points().all(|point| point.begins == 0);
    tells && at_once && is_large(scenario) && is_plain(scenario) && !overflows(scenario)
}

/// Without acknowledgements windows, queues and pauses are not seen.
fn goes_one_way(drawn: &Drawn, scenario: &Scenario) -> bool {
    let tells = matches!(drawn.otherwise, Otherwise::Healthy | Otherwise::Loss);
    tells && is_plain(scenario) && !overflows(scenario)
}

fn copies(scenario: &mut Scenario, dice: &mut Dice) {
    let routed = dice.chance(0.5);
    let later = if routed {
        dice.scaled_whole(20 * MICROSECOND, 2 * MILLISECOND)
    } else {
        dice.scaled_whole(MICROSECOND, 10 * MICROSECOND)
    };
    if let Some(point) = any_point(scenario, dice) {
        let copies = if routed {
            &mut point.routed
        } else {
            &mut point.doubled
        };
        *copies = Some(later);
    }
}

fn bystanders(dice: &mut Dice) -> Vec<Other> {
    let idle = Turn::new(Side::Server, 20_000).in_writes(1_000, 200 * MILLISECOND);
    let talks = [
        vec![Turn::new(Side::Client, 100), idle],
        vec![
            Turn::new(Side::Client, 300),
            Turn::new(Side::Server, 4_000).after(30 * MILLISECOND),
        ],
    ];
    let some = (0..dice.whole(1..=5)).map(|_| Other {
        start: dice.whole(0..=SECOND / 4),
        turns: talks[dice.whole(0..=1) as usize].clone(),
        client: None,
        server: None,
    });
    some.collect()
}

fn wrapped(scenario: &mut Scenario, dice: &mut Dice) {
    let with = wrap(dice);
    let last = scenario.path.len() as u64;
    let begins = dice.whole(0..=last / 2);
    let ends = dice.whole(begins + 1..=last) as usize;
    scenario.path.insert(ends, end_of(with, HERE.other()));
    scenario.path.insert(begins as usize, end_of(with, HERE));
    scenario.client.mtu -= 50;
    scenario.server.mtu -= 50;
}

fn round_trip(scenario: &Scenario) -> u64 {
    let delays = scenario.path.iter().filter_map(|element| match element {
        Element::Link(link) => Some(link.toward[0].delay + link.toward[1].delay),
        _ => None,
    });
    delays.sum()
}

/// Begins the captures after a few round trips, in which slow start has sent a fraction of the data.
fn mid_stream(scenario: &mut Scenario, dice: &mut Dice) {
    let round_trip = round_trip(scenario);
    let begins = (dice.between(1.5, 4.0) * round_trip as f64) as u64;
    for_points(scenario, |point| {
        point.begins = begins + dice.whole(0..=round_trip / 2);
    });
}

fn missed(scenario: &mut Scenario, dice: &mut Dice) {
    let missed = dice.scaled(0.001, 0.01);
    if let Some(point) = any_point(scenario, dice) {
        point.missed = missed;
    }
}

/// Sets the clock of all points of a host forth or back by up to two seconds, some round trips after the beginning.
fn stepped(scenario: &mut Scenario, dice: &mut Dice) {
    let at = (dice.between(4.0, 30.0) * round_trip(scenario) as f64) as u64;
    let by = dice.scaled_whole(20 * MILLISECOND, 2 * SECOND) as i64;
    let by = if dice.chance(0.5) { by } else { -by };
    let host = any_point(scenario, dice).map(|point| host_of(&point.name).to_owned());
    for_points(scenario, |point| {
        if Some(host_of(&point.name)) == host.as_deref() {
            point.set = Some((at, by));
        }
    });
}

fn thinned(scenario: &mut Scenario, dice: &mut Dice) {
    let thin = Hop::ThinAcks {
        toward: HERE.other(),
        every: dice.scaled_whole(MILLISECOND, 4 * MILLISECOND),
    };
    scenario.path.push(Element::Hop(thin));
}

impl Disturb {
    /// Disturbs a draw of this seed; returns the names of the disturbances.
    pub(crate) fn draw(&self, drawn: &mut Drawn, dice: &mut Dice, seed: u64) -> Vec<&'static str> {
        let wanted: Vec<&Disturbance> = match self {
            Self::Not => Vec::new(),
            Self::By(only) => vec![only],
            Self::Drawn => some_of(DISTURBANCES, dice),
        };
        let applied = wanted.into_iter().filter(|one| one.apply(drawn, dice));
        let mut names: Vec<_> = applied.map(|one| one.name).collect();
        let mut own = Dice::new(PUSHES.name, seed);
        let is_drawn = matches!(self, Self::Drawn) && own.chance(PUSHES_SHARE);
        if is_drawn && PUSHES.apply(drawn, &mut own) {
            names.push(PUSHES.name);
        }
        names
    }
}

/// No disturbance in half of the cases, and two in a tenth.
fn some_of(all: &'static [Disturbance], dice: &mut Dice) -> Vec<&'static Disturbance> {
    let count = match dice.whole(0..=9) {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    };
    let order = dice.order(all.len());
    order
        .into_iter()
        .take(count)
        .map(|index| &all[index])
        .collect()
}
