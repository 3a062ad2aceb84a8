//! One scenario to judge: the draw of a family, and the part of it that the analysis gets to see.

use std::collections::BTreeMap;

use coalescope_simulate::{
    Element, Format, MICROSECOND, MILLISECOND, Outcome, Point, SECOND, Scenario, Side, run,
};

use crate::dice::Dice;
use crate::disturb::Disturb;
use crate::drawn::{Given, Otherwise};
use crate::family::Family;
use crate::flip;
use crate::parts::host_of;

/// A scenario to judge.
pub(crate) struct Case {
    /// The side that most data goes to.
    pub(crate) receiver: Side,
    /// One run, or two to compare.
    pub(crate) runs: Vec<Scenario>,
    pub(crate) otherwise: Otherwise,
    twin: Option<Scenario>,
    stranger: Option<Scenario>,
    /// The capture that is given a second time.
    again: Option<usize>,
    /// The points are the interfaces of one file.
    pub(crate) in_one_file: bool,
    /// Names of the disturbances that were added.
    pub(crate) disturbed_by: Vec<&'static str>,
    /// The order in which the captures are given.
    order: Vec<usize>,
}

/// The results of a case's runs.
pub(crate) struct Played {
    pub(crate) outcomes: Vec<Outcome>,
    /// The twin's result, if there is a twin.
    pub(crate) twin: Option<Outcome>,
    /// Names and files, in the order in which they are given.
    pub(crate) captures: Vec<(String, Vec<u8>)>,
}

impl Case {
    /// The case that a family draws from a seed.
    pub(crate) fn draw(family: &Family, seed: u64, disturb: &Disturb) -> Self {
        let mut dice = Dice::new(family.name, seed);
        let mut drawn = (family.draw)(&mut dice);
        let disturbed_by = disturb.draw(&mut drawn, &mut dice, seed);
        let flipped = drawn.may_flip && dice.chance(0.3);
        for scenario in drawn.runs.iter_mut().chain(&mut drawn.twin) {
            scenario.seed = dice.seed();
            if flipped {
                flip::flip(scenario);
            }
        }
        if let Some(other) = &mut drawn.stranger {
            other.seed = dice.seed();
            set_up_points(other, drawn.may_snap, &mut dice);
        }
        for scenario in &mut drawn.runs {
            if drawn.given == Given::Some {
                leave_some(scenario, &mut dice);
            }
            set_up_points(scenario, drawn.may_snap, &mut dice);
        }
        let runs = drawn.runs.iter().chain(&drawn.stranger);
        let points: usize = runs.map(|run| run.points().count()).sum();
        let again = drawn
            .one_twice
            .then(|| dice.whole(0..=points as u64 - 1) as usize);
        let count = points + usize::from(again.is_some());
        // Of two transfers to compare the first one stays the first, whichever is the better.
        let mut order = dice.order(count);
        if !drawn.may_shuffle {
            order.sort_unstable();
            if !flipped {
                // Paths are written from the receiver to the sender.
                order.reverse();
            }
        }
        let may_join = drawn.runs.len() == 1 && again.is_none() && drawn.stranger.is_none();
        // A file sorted by a clock that was set back is in no order at all.
        let is_set = drawn
            .runs
            .iter()
            .flat_map(Scenario::points)
            .any(|point| point.set.is_some());
        Self {
            receiver: if flipped { Side::Server } else { Side::Client },
            runs: drawn.runs,
            otherwise: drawn.otherwise,
            twin: drawn.twin,
            stranger: drawn.stranger,
            again,
            in_one_file: dice.chance(0.08) && may_join && count > 1 && !is_set,
            disturbed_by,
            order,
        }
    }

    /// Whether two transfers are compared.
    pub(crate) fn is_comparison(&self) -> bool {
        self.runs.len() > 1
    }

    /// All scenarios whose captures are given.
    pub(crate) fn scenarios(&mut self) -> impl Iterator<Item = &mut Scenario> {
        self.runs.iter_mut().chain(&mut self.stranger)
    }

    /// Runs it.
    pub(crate) fn play(&self) -> Played {
        let outcomes: Vec<Outcome> = self.runs.iter().map(run).collect();
        if self.in_one_file {
            return Played {
                captures: vec![("all".to_owned(), outcomes[0].combined())],
                twin: self.twin.as_ref().map(run),
                outcomes,
            };
        }
        let stranger = self.stranger.as_ref().map(run);
        let points = outcomes
            .iter()
            .chain(&stranger)
            .flat_map(|outcome| &outcome.points);
        let mut all: Vec<_> = points
            .map(|point| (point.name.clone(), point.bytes.clone()))
            .collect();
        if let Some(index) = self.again {
            let (name, bytes) = all[index].clone();
            all.insert(index + 1, (name + AGAIN, bytes));
        }
        Played {
            twin: self.twin.as_ref().map(run),
            captures: self.order.iter().map(|&index| all[index].clone()).collect(),
            outcomes,
        }
    }

    /// A description of the draw, in a line.
    pub(crate) fn words(&self) -> String {
        let Some(run) = self.runs.first() else {
            return String::new();
        };
        let points: Vec<&str> = run.points().map(|point| point.name.as_str()).collect();
        let links = run.path.iter().filter_map(|element| match element {
            Element::Link(link) => Some(&link.toward[self.receiver.index()]),
            _ => None,
        });
        let slowest = links.clone().map(|lane| lane.rate_bps).min().unwrap_or(0);
        let delay: u64 = links.map(|lane| lane.delay).sum();
        let bytes: u64 = run.turns.iter().map(|turn| turn.bytes).sum();
        let with = self.disturbed_by.iter().map(|name| format!(" with {name}"));
        format!(
            "{}{} at {:.0} Mbit/s, {:.1} ms, {} KB x {}",
            points.join(" "),
            with.collect::<String>(),
            slowest as f64 / 1e6,
            2.0 * delay as f64 / 1e6,
            bytes / 1000,
            run.connections
        )
    }
}

/// Suffix of the name of a capture that is given a second time.
pub(crate) const AGAIN: &str = "-AGAIN";

/// Leaves all points, two neighbours, or one.
fn leave_some(scenario: &mut Scenario, dice: &mut Dice) {
    let count = scenario.points().count();
    let kept = match dice.whole(1..=100) {
        1..=50 => 0..count,
        51..=80 => {
            let first = dice.whole(0..=count.saturating_sub(2) as u64) as usize;
            first..(first + 2).min(count)
        }
        _ => {
            let only = dice.whole(0..=count as u64 - 1) as usize;
            only..only + 1
        }
    };
    let mut number = 0;
    scenario.path.retain(|element| {
        let Element::Point(_) = element else {
            return true;
        };
        number += 1;
        kept.contains(&(number - 1))
    });
}

/// Draws clocks, formats and snap lengths of the points.
fn set_up_points(scenario: &mut Scenario, may_snap: bool, dice: &mut Dice) {
    let snap = snap(scenario, may_snap, dice);
    let mut clocks = BTreeMap::new();
    let right = dice.chance(0.3);
    for element in &mut scenario.path {
        let Element::Point(point) = element else {
            continue;
        };
        let host = host_of(&point.name).to_owned();
        let (offset, drift) = *clocks.entry(host).or_insert_with(|| clock(dice));
        if !right {
            (point.offset, point.drift_ppb) = (offset, drift);
        }
        point.snap = point.snap.min(snap);
        point.format = format(dice, point);
    }
}

/// A clock, up to 1,000 s and 200 ppm off.
fn clock(dice: &mut Dice) -> (i64, i64) {
    let size = match dice.whole(0..=3) {
        0 => dice.scaled_whole(MICROSECOND, MILLISECOND),
        1 => dice.scaled_whole(MILLISECOND, SECOND),
        _ => dice.scaled_whole(SECOND, 1_000 * SECOND),
    };
    let sign = if dice.chance(0.5) { 1 } else { -1 };
    let drift = dice.between(-200_000.0, 200_000.0);
    (sign * size as i64, drift as i64)
}

/// One snap length for all points: in a fifth of the cases little more than the headers.
fn snap(scenario: &Scenario, may_snap: bool, dice: &mut Dice) -> u32 {
    if !may_snap || !dice.chance(0.2) {
        return u32::MAX;
    }
    let least = if scenario.ipv6 { 86 } else { 68 };
    dice.whole(least..=128) as u32
}

fn format(dice: &mut Dice, point: &Point) -> Format {
    let drawn = match dice.whole(0..=9) {
        0..=4 => Format::default(),
        5..=6 => Format::Pcap {
            nanos: true,
            big_endian: false,
        },
        7 => Format::Pcap {
            nanos: false,
            big_endian: true,
        },
        _ => Format::Pcapng,
    };
    if point.own.is_some() {
        Format::Pcapng
    } else {
        drawn
    }
}
