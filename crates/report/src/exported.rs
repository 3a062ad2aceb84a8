//! Counts of a watch as metrics, look by look.
//!
//! Each series only grows, whatever happens to the interface: the difference between two looks is
//! added. Labels are interfaces, up to a limit, and nothing from packets.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use coalescope_host::names::of_key;
use coalescope_host::safe::printable_line;
use coalescope_watch::facts::{Drop, Interface, Level, Watched};

use crate::metrics::{self, Family, Labels};
use table::{METRICS, NOT_BY_PERF};

/// Kinds of drops that have their own series; all others are added up.
const DROPS: usize = 500;
/// Label of the sum of all others.
const OTHER: &str = "other";
/// Label of an interface without a name: it came and went between two looks, or is in a namespace without a name.
const UNNAMED: &str = "unnamed";

/// Values of all metrics of an interface.
type Values = [u64; METRICS.len()];

/// Namespace, which is empty for the main one, and interface.
type Place = (String, String);

/// Namespace, interface, direction, reason, function, and kind of frame.
type Death = [String; 6];
const DEATH: [&str; 6] = [
    "namespace",
    "interface",
    "way",
    "reason",
    "function",
    "shape",
];

/// The formats of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus's earlier text format (0.0.4).
    Plain,
}

/// The series of all looks so far.
#[derive(Debug)]
pub struct Exported {
    limit: usize,
    /// Counts of an interface, by namespace and ifindex, as far as they are in the series.
    counted: BTreeMap<(String, u32), Values>,
    interfaces: BTreeMap<Place, Values>,
    died: BTreeMap<Death, u64>,
    deaths: BTreeMap<Death, u64>,
    last: Watched,
    looks: u64,
}

impl Exported {
    /// No series yet. `limit` interfaces get their own series; all others are added up.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            counted: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            died: BTreeMap::new(),
            deaths: BTreeMap::new(),
            last: Watched::default(),
            looks: 0,
        }
    }

    /// Adds the difference to the last look. All looks have to be of one watch.
    pub fn add(&mut self, look: Watched) {
        self.looks += 1;
        self.forget(&look);
        for (raw, (at, now)) in summed_up(&look.interfaces) {
            self.add_interface(raw, at, &now);
        }
        self.add_drops(&look.drops);
        self.last = look;
    }

    /// Removes the series of interfaces that are gone; the sums of others stay.
    fn forget(&mut self, look: &Watched) {
        let there: BTreeSet<Place> = look.interfaces.iter().map(place).collect();
        self.interfaces
            .retain(|at, _| is_sum(&at.1) || there.contains(at));
        let raw: BTreeSet<_> = look.interfaces.iter().map(raw).collect();
        self.counted.retain(|at, _| raw.contains(at));
    }

    fn add_interface(&mut self, raw: (String, u32), mut at: Place, now: &Values) {
        let before = self.counted.entry(raw).or_insert([0; _]);
        // Only frames that were cut, the last of the counts, may become fewer: one of those that are gone was forgotten.
        let [before_all @ .., _] = &*before;
        if before_all.iter().zip(now).any(|(before, now)| now < before) {
            *before = *now;
        }
        let more: Values = std::array::from_fn(|n| grown(&mut before[n], now[n]));
        if !self.interfaces.contains_key(&at) && self.own() >= self.limit {
            at = (String::new(), OTHER.to_owned());
        }
        let series = self.interfaces.entry(at).or_insert([0; _]);
        for (sum, more) in series.iter_mut().zip(more) {
            *sum += more;
        }
    }

    /// Number of interfaces with their own series.
    fn own(&self) -> usize {
        let all = self.interfaces.keys();
        all.filter(|at| !is_sum(&at.1)).count()
    }

    fn add_drops(&mut self, drops: &[Drop]) {
        let mut now: BTreeMap<Death, u64> = BTreeMap::new();
        for (death, frames) in drops.iter().flat_map(deaths) {
            *now.entry(death).or_default() += frames;
        }
        self.died.retain(|death, _| now.contains_key(death));
        self.deaths
            .retain(|death, _| is_sum(&death[1]) || now.contains_key(death));
        for (death, frames) in now {
            let before = self.died.entry(death.clone()).or_default();
            // The dead stay dead: those of an interface that is gone were forgotten.
            *before = frames.min(*before);
            let more = grown(before, frames);
            let is_known = self.deaths.contains_key(&death);
            let death = match is_known || self.deaths.len() < DROPS {
                true => death,
                false => summed(death),
            };
            *self.deaths.entry(death).or_default() += more;
        }
    }

    /// Prints all series.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write(&self, form: Form, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::OpenMetrics => metrics::write(self.families(), out),
            Form::Plain => metrics::write_older(self.families(), out),
        }
    }

    fn families(&self) -> Vec<Family> {
        let mut families = self.about();
        families.extend(METRICS.iter().enumerate().map(|(n, metric)| {
            let series = self.interfaces.iter();
            // What is not seen is no zero.
            let series = series
                .filter(|_| self.last.level != Level::Perf || !NOT_BY_PERF.contains(&metric.0));
            let samples = series.map(|(at, values)| (labels_of(at), values[n]));
            Family::counter(metric.0, metric.1, samples.collect())
        }));
        let died = self.deaths.iter().map(|(death, frames)| {
            let labels = DEATH.into_iter().zip(death.iter().cloned());
            (labels.collect(), *frames)
        });
        let help = "Frames that the kernel dropped, by where and why.";
        families.push(Family::counter(
            "coalescope_watch_dropped_frames",
            help,
            died.collect(),
        ));
        families
    }

    /// Metrics of the watch itself.
    fn about(&self) -> Vec<Family> {
        let lost = self.last.lost;
        let lost = [
            ("frames", lost.frames),
            ("drops", lost.drops),
            ("samples", lost.samples),
        ];
        let lost = lost.map(|(what, number)| (vec![("what", what.to_owned())], number));
        let is = |level| vec![(Vec::new(), u64::from(self.last.level == level))];
        let sampled = self.last.sampling.map_or(0.0, |of| of.took_s.max(0.0));
        let begun = self.last.begun_unix_s.max(0.0) as u64;
        vec![
            Family::build_info("The program that looks."),
            Family::gauge(
                "coalescope_watch_bpf",
                "Whether programs in the kernel count; without them nothing is known of merged frames that are dropped.",
                is(Level::Bpf),
            ),
            Family::gauge(
                "coalescope_watch_perf",
                "Whether events of perf are counted instead.",
                is(Level::Perf),
            ),
            Family::gauge(
                "coalescope_watch_begun_timestamp_seconds",
                "When counting began.",
                vec![(Vec::new(), begun)],
            ),
            Family::counter(
                "coalescope_watch_looks",
                "How often the counts were read.",
                vec![(Vec::new(), self.looks)],
            ),
            Family::counter(
                "coalescope_watch_sampled_seconds",
                "For how long frames came too fast to count each, so that counts are estimates; dropped frames are all counted.",
                vec![(Vec::new(), sampled as u64)],
            ),
            Family::counter(
                "coalescope_watch_lost",
                "What was counted nowhere, for lack of room.",
                lost.to_vec(),
            ),
        ]
    }
}

/// Values by namespace and ifindex: a namespace that was made anew has interfaces of the numbers of the one before.
fn summed_up(interfaces: &[Interface]) -> BTreeMap<(String, u32), (Place, Values)> {
    let mut all: BTreeMap<_, (Place, Values)> = BTreeMap::new();
    for interface in interfaces {
        let Some(frames) = interface.frames else {
            continue;
        };
        let of_it = all
            .entry(raw(interface))
            .or_insert_with(|| (Place::default(), [0; _]));
        of_it.0 = place(interface);
        for (value, (.., of)) in of_it.1.iter_mut().zip(METRICS) {
            *value += of(&frames);
        }
    }
    all
}

/// The growth of a count. A count that shrinks (frames that waited in a queue) grows again once it
/// exceeds its maximum.
fn grown(most: &mut u64, now: u64) -> u64 {
    let more = now.saturating_sub(*most);
    *most += more;
    more
}

fn raw(interface: &Interface) -> (String, u32) {
    let namespace = of_key(&interface.name).0.unwrap_or_default();
    (namespace.to_owned(), interface.index)
}

fn place(interface: &Interface) -> Place {
    place_of(Some(&interface.name))
}

/// Labels of an interface, from its name on this host.
fn place_of(name: Option<&str>) -> Place {
    let Some(name) = name else {
        return (String::new(), String::new());
    };
    let (namespace, own) = of_key(name);
    match own.starts_with('#') {
        true => (String::new(), UNNAMED.to_owned()),
        false => (label(namespace.unwrap_or_default()), label(own)),
    }
}

fn is_sum(interface: &str) -> bool {
    [OTHER, UNNAMED].contains(&interface)
}

fn label(text: &str) -> String {
    printable_line(text).into_owned()
}

fn labels_of((namespace, interface): &Place) -> Labels {
    vec![
        ("namespace", namespace.clone()),
        ("interface", interface.clone()),
    ]
}

/// Frames of a place and reason, by kind of frame.
fn deaths(drop: &Drop) -> impl Iterator<Item = (Death, u64)> {
    let (name, way) = match &drop.from {
        Some(from) => (Some(from), "in"),
        None if drop.unknown_frames > 0 => (None, ""),
        None => (drop.interface.as_ref(), "out"),
    };
    let (namespace, interface) = place_of(name.map(String::as_str));
    let shapes = [
        ("merged", drop.merged_frames),
        ("long", drop.long_frames),
        ("single", drop.single_frames),
        ("unknown", drop.unknown_frames),
    ];
    let shapes = shapes.into_iter().filter(|(_, frames)| *frames > 0);
    shapes.map(move |(shape, frames)| {
        let death = [
            namespace.clone(),
            interface.clone(),
            way.to_owned(),
            drop.reason.clone().unwrap_or_default(),
            drop.location.clone().unwrap_or_default(),
            shape.to_owned(),
        ];
        (death, frames)
    })
}

/// The labels of the sum to which a drop without its own series belongs.
fn summed([_, _, way, _, _, shape]: Death) -> Death {
    let other = || OTHER.to_owned();
    [String::new(), other(), way, other(), other(), shape]
}

#[cfg(test)]
mod tests;
