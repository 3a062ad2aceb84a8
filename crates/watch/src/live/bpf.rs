//! With BPF: the programs' counts, with names.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::compared::compared;
use super::idle::Idle;
use super::unix_s;
use crate::facts::{Drop, Frames, Interface, Lost, Sample, Sampling, Unseen, Watched, is_of_queue};
use crate::headers::flow;
use crate::kernel::{
    Count, Counted, Fate, LoadError, Place, Programs, RawSample, Symbols, Where, now_ns,
};
use crate::names::Names;

/// Samples that are kept for one place and reason.
const SAMPLES: usize = 32;

/// Kernel functions between qdisc and driver, by the beginning of their names: a merged frame dropped there was not
/// segmented before.
const QUEUES: [&str; 7] = [
    "__dev_queue_xmit",
    "__dev_xmit_skb",
    "dev_qdisc_enqueue",
    "validate_xmit",
    "sch_direct_xmit",
    "dev_hard_start_xmit",
    // In kernels before 5.17, which have no drop reasons, frames that a full queue refused are freed as a list.
    "kfree_skb_list",
];

/// Where frames are counted in spans of time alone, those that wait in a queue when a span begins or ends count on one of its
/// sides: a smaller share of what was queued says nothing.
const CLEARLY: f64 = 0.05;

/// The programs, and the samples fetched so far.
pub(super) struct Traced {
    programs: Programs,
    symbols: Symbols,
    samples: BTreeMap<Where, Vec<Sample>>,
    keeps_samples: bool,
    idle_places: Idle<Place>,
    idle_drops: Idle<Where>,
}

/// Counts without names.
pub(super) struct Looked {
    counted: BTreeMap<Place, Counted>,
    dropped: BTreeMap<Where, Count>,
    fates: BTreeMap<Where, Vec<Fate>>,
    lost: Lost,
    sampling: Option<Sampling>,
}

impl Looked {
    /// Whether one of the interfaces has no name yet.
    pub(super) fn has_unknown(&self, names: &Names) -> bool {
        self.places().any(|place| !names.was_ever_named(place))
    }

    /// Interfaces that had frames.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let dropped = self.dropped.keys().filter_map(|at| at.place);
        self.counted.keys().copied().chain(dropped)
    }

    /// Keeps the counts of one namespace, by its random number: another one may have got its inode.
    pub(super) fn keep(&mut self, mix: Option<u32>) {
        self.counted.retain(|place, _| Some(place.mix) == mix);
        let is_of_it = |at: &Where| at.place.is_some_and(|place| Some(place.mix) == mix);
        self.dropped.retain(|at, _| is_of_it(at));
    }
}

impl Traced {
    pub(super) fn new(programs: Programs, keeps_samples: bool) -> Self {
        Self {
            programs,
            symbols: Symbols::default(),
            samples: BTreeMap::new(),
            keeps_samples,
            idle_places: Idle::default(),
            idle_drops: Idle::default(),
        }
    }

    /// What BPF does not show on this kernel.
    pub(super) fn unseen(&self) -> Vec<Unseen> {
        let why = self.programs.no_reasons().into_iter();
        let unseen = why.map(|why| Unseen {
            what: "why frames are dropped".to_owned(),
            why: why.to_string(),
        });
        unseen.collect()
    }

    /// Reads the maps.
    pub(super) fn look(&mut self) -> Result<Looked, LoadError> {
        let looked = Looked {
            counted: self.programs.counted()?,
            dropped: self.programs.dropped()?,
            fates: by_place(self.programs.fates()),
            lost: self.programs.lost()?,
            sampling: self.programs.sampling()?,
        };
        let since_boot = unix_s() - now_ns() as f64 / 1e9;
        for sample in self.programs.samples() {
            let kept = self.samples.entry(sample.at).or_default();
            if self.keeps_samples && kept.len() < SAMPLES {
                kept.push(sample_of(&sample, since_boot));
            }
        }
        self.symbols
            .find(looked.dropped.keys().map(|at| at.location));
        Ok(looked)
    }

    /// Adds the counts to the report.
    pub(super) fn describe(&self, looked: &Looked, names: &Names, watched: &mut Watched) {
        watched.lost = looked.lost;
        watched.sampling = looked.sampling;
        watched.drops = self.drops(looked, names);
        watched.interfaces = self.interfaces(looked, names);
        if self.symbols.lacks_any() {
            watched.unseen.push(Symbols::hidden());
        }
        watched.unseen.extend(self.untimed(&watched.interfaces));
    }

    /// Makes room in the maps: removes places and drops of interfaces that are gone or never had a
    /// name, once their counters have not changed for `long`. Returns the removed places.
    pub(super) fn forget(
        &mut self,
        looked: &Looked,
        names: &Names,
        long: Duration,
    ) -> Result<Vec<Place>, LoadError> {
        let now = Instant::now();
        let places = looked.counted.iter();
        let places = places.filter(|(place, _)| !names.is_present(**place));
        let places = places.map(|(place, counted)| (*place, counted.all()));
        let places = self.idle_places.idle(places, now, long);
        self.programs.forget_places(&places)?;
        let drops = looked.dropped.iter();
        let drops = drops.filter(|(at, _)| has_no_name(at, names));
        let drops = drops.map(|(at, count)| (*at, count.all()));
        let idle = self.idle_drops.idle(drops, now, long);
        self.samples.retain(|at, _| !idle.contains(at));
        self.programs.forget_drops(&idle)?;
        Ok(places)
    }

    fn interfaces(&self, looked: &Looked, names: &Names) -> Vec<Interface> {
        let interfaces = looked.counted.iter().map(|(place, Counted(frames))| {
            let mut frames = *frames;
            if self.programs.no_cuts().is_some() {
                let dropped = self.dropped_in_queue(looked, *place);
                frames.sent.cut_frames = cut_by_difference(&frames, dropped, looked.sampling);
                frames.sent.cut_ns = None;
            }
            Interface {
                frames: Some(frames),
                ..names.interface(*place)
            }
        });
        let mut interfaces: Vec<_> = interfaces.collect();
        interfaces.sort_by(|one, other| one.name.cmp(&other.name));
        interfaces
    }

    /// Why nobody knows how long the processor takes to cut frames, where it cuts any.
    fn untimed(&self, interfaces: &[Interface]) -> Option<Unseen> {
        let mut frames = interfaces.iter().filter_map(|interface| interface.frames);
        let cuts = frames.any(|frames| frames.sent.cut_frames > 0);
        let why = self.programs.no_cuts().filter(|_| cuts)?;
        Some(Unseen {
            what: "how long the processor takes to cut merged frames".to_owned(),
            why: why.to_owned(),
        })
    }

    /// Merged frames that were dropped in an interface's queue.
    fn dropped_in_queue(&self, looked: &Looked, place: Place) -> u64 {
        let there = looked.dropped.iter();
        let there = there.filter(|(at, _)| at.place == Some(place) && self.is_in_queue(at));
        there.map(|(_, count)| count.merged_frames).sum()
    }

    fn is_in_queue(&self, at: &Where) -> bool {
        let name = self.symbols.name(at.location).unwrap_or_default();
        let reason = self.programs.reason(at.reason).unwrap_or_default();
        let is_queue = QUEUES.iter().any(|begin| name.starts_with(begin));
        // TC_EGRESS drops before the frame counts as queued.
        is_queue && reason != "TC_EGRESS" || is_of_queue(&reason)
    }

    fn drops(&self, looked: &Looked, names: &Names) -> Vec<Drop> {
        let drops = looked.dropped.iter();
        let mut drops: Vec<_> = drops
            .map(|(at, count)| Drop {
                compared: compared(
                    looked.fates.get(at).map(Vec::as_slice),
                    self.is_in_queue(at),
                ),
                ..self.drop(at, count, names)
            })
            .collect();
        drops.sort_by_key(|drop| std::cmp::Reverse((drop.merged_frames, drop.long_frames)));
        drops
    }

    fn drop(&self, at: &Where, count: &Count, names: &Names) -> Drop {
        let from = at.place.filter(|_| at.from != 0).map(|place| Place {
            interface: at.from,
            ..place
        });
        Drop {
            interface: at.place.map(|place| names.name(place)),
            from: from.map(|place| names.name(place)),
            reason: self.programs.reason(at.reason),
            location: self.symbols.name(at.location).map(str::to_owned),
            merged_frames: count.merged_frames,
            merged_segments: count.merged_segments,
            long_frames: count.long_frames,
            single_frames: count.single_frames,
            unknown_frames: 0,
            compared: None,
            samples: self.samples.get(at).cloned().unwrap_or_default(),
        }
    }
}

fn by_place(fates: Vec<Fate>) -> BTreeMap<Where, Vec<Fate>> {
    let mut all: BTreeMap<Where, Vec<Fate>> = BTreeMap::new();
    for fate in fates {
        all.entry(fate.at).or_default().push(fate);
    }
    all
}

/// Merged frames that were queued, not dropped, and not given to the driver.
fn cut_by_difference(frames: &Frames, dropped: u64, sampling: Option<Sampling>) -> u64 {
    let queued = frames.queued.merged_frames;
    let cut = queued.saturating_sub(frames.sent.merged_frames + dropped);
    let is_chance = sampling.is_some() && (cut as f64) < CLEARLY * queued as f64;
    if is_chance { 0 } else { cut }
}

/// Whether the interface of a drop no longer exists.
fn has_no_name(at: &Where, names: &Names) -> bool {
    let Some(place) = at.place else {
        return false;
    };
    let from = Place {
        interface: at.from,
        ..place
    };
    !names.is_present(place) || at.from != 0 && !names.is_present(from)
}

fn sample_of(sample: &RawSample, since_boot_s: f64) -> Sample {
    Sample {
        unix_s: since_boot_s + sample.time_ns as f64 / 1e9,
        bytes: sample.bytes,
        segment_bytes: sample.segment_bytes,
        segments: sample.segments,
        flow: flow(&sample.headers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_difference_of_estimates_is_nothing_that_was_cut() {
        let cut = |queued, sent, sampling| {
            let mut frames = Frames::default();
            frames.queued.merged_frames = queued;
            frames.sent.merged_frames = sent;
            cut_by_difference(&frames, 5, sampling)
        };
        let sampling = Some(Sampling::default());
        assert_eq!(cut(10_000, 9_600, None), 395);
        assert_eq!(cut(10_000, 9_600, sampling), 0);
        assert_eq!(cut(10_000, 8_000, sampling), 1_995);
        assert_eq!(cut(0, 16, sampling), 0);
    }
}
