//! With perf: sums of events, with names.

use std::collections::{BTreeMap, BTreeSet};

use coalescope_host::live;

use crate::facts::{
    Drop, Forwarded, Frames, Interface, Level, Queued, Received, Sent, Unseen, Watched, is_of_queue,
};
use crate::kernel::{Place as Where, Symbols};
use crate::names::Names;
use crate::perf::{Counted, PerfError, Place, Read, Rings};

/// The rings, and what names mean.
pub(super) struct Sampled {
    rings: Rings,
    symbols: Symbols,
    all_netns: bool,
    /// Places of each name, in the watched namespaces.
    here: BTreeMap<String, Vec<Where>>,
    /// Names that interfaces of several namespaces have.
    shared: BTreeSet<String>,
    /// Names that were looked for.
    asked: BTreeSet<String>,
}

impl Sampled {
    pub(super) fn new(rings: Rings, names: &Names, all_netns: bool) -> Self {
        let mut sampled = Self {
            rings,
            symbols: Symbols::default(),
            all_netns,
            here: BTreeMap::new(),
            shared: BTreeSet::new(),
            asked: BTreeSet::new(),
        };
        sampled.name(&Read::default(), names);
        sampled
    }

    pub(super) fn look(&mut self) -> Result<Read, PerfError> {
        let read = self.rings.read()?;
        self.symbols
            .find(read.drops.keys().map(|place| place.location));
        Ok(read)
    }

    /// Whether there are names that nobody looked for yet.
    pub(super) fn has_unknown(&self, read: &Read) -> bool {
        let mut all = read.counted.keys();
        all.any(|name| !self.here.contains_key(name) && !self.asked.contains(name))
    }

    /// Learns which interfaces have which names. Events have no namespace, so interfaces of others count as well.
    pub(super) fn name(&mut self, read: &Read, names: &Names) {
        self.asked = read.counted.keys().cloned().collect();
        self.here = places(names);
        self.shared = match self.all_netns {
            true => shared(self.here.clone()),
            false => shared(everywhere(self.here.clone())),
        };
        let mtus = self.here.iter().filter_map(|(name, places)| {
            let place = places.first()?;
            Some((name.as_str(), names.interface(*place).mtu_bytes))
        });
        self.rings.set_mtus(mtus);
    }

    /// Adds the sums to the report.
    pub(super) fn describe(&self, read: &Read, names: &Names, watched: &mut Watched) {
        watched.lost = read.lost;
        watched.events = read.events.clone();
        watched.drops = self.drops(read);
        watched.interfaces = self.interfaces(read, names);
        watched.unseen.extend(self.shared(read));
        if self.symbols.lacks_any() {
            watched.unseen.push(Symbols::hidden());
        }
    }

    fn interfaces(&self, read: &Read, names: &Names) -> Vec<Interface> {
        let full = self.full_queues(read);
        let all = read.counted.iter().filter_map(|(name, counted)| {
            let [place, ..] = self.here.get(name)?.as_slice() else {
                return None;
            };
            let is_one = !self.shared.contains(name);
            is_one.then(|| Interface {
                frames: Some(frames(counted, full)),
                ..names.interface(*place)
            })
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// Frames that a full queue dropped, whichever: at most so many fewer were cut.
    fn full_queues(&self, read: &Read) -> u64 {
        let all = read.drops.iter().filter(|(place, _)| {
            let reason = self.rings.reason(place);
            reason.is_some_and(|reason| is_of_queue(&reason))
        });
        all.map(|(_, frames)| frames).sum()
    }

    fn drops(&self, read: &Read) -> Vec<Drop> {
        let drop = |(place, frames): (&Place, &u64)| Drop {
            reason: self.rings.reason(place),
            location: self.symbols.name(place.location).map(str::to_owned),
            unknown_frames: *frames,
            ..Drop::default()
        };
        let mut all: Vec<_> = read.drops.iter().map(drop).collect();
        all.sort_by_key(|drop| std::cmp::Reverse(drop.unknown_frames));
        all
    }

    /// Frames that nobody can tell whose they are.
    fn shared(&self, read: &Read) -> Option<Unseen> {
        let had_frames = read.counted.keys();
        let had_frames = had_frames.filter(|name| self.here.contains_key(*name));
        let shared = had_frames.filter(|name| self.shared.contains(*name));
        let shared: Vec<_> = shared.map(String::as_str).collect();
        (!shared.is_empty()).then(|| Unseen {
            what: format!("frames of {}", shared.join(", ")),
            why: "interfaces of several network namespaces have that name, and perf's events do not name the namespace"
                .to_owned(),
        })
    }
}

fn places(names: &Names) -> BTreeMap<String, Vec<Where>> {
    let mut all: BTreeMap<String, Vec<Where>> = BTreeMap::new();
    for (name, place) in names.plain() {
        all.entry(name.to_owned()).or_default().push(place);
    }
    all
}

/// The places of names, with those of all namespaces of this host.
fn everywhere(mut here: BTreeMap<String, Vec<Where>>) -> BTreeMap<String, Vec<Where>> {
    let all = live::Options {
        netns: None,
        all_netns: true,
    };
    for (name, places) in places(&Names::read(&all)) {
        here.entry(name).or_default().extend(places);
    }
    here
}

/// Names that several namespaces have.
fn shared(everywhere: BTreeMap<String, Vec<Where>>) -> BTreeSet<String> {
    let shared = everywhere.into_iter().filter(|(_, places)| {
        let spaces = places.iter().map(|place| place.space);
        spaces.collect::<BTreeSet<_>>().len() > 1
    });
    shared.map(|(name, _)| name).collect()
}

/// `full` frames may have been dropped after they were queued.
fn frames(counted: &Counted, full: u64) -> Frames {
    Frames {
        received: Received {
            frames: counted.received,
            bytes: counted.received_bytes,
            segments: counted.entered_segments.max(counted.received),
            merged_frames: counted.received_long,
            ..Received::default()
        },
        queued: Queued {
            frames: counted.queued,
            segments: counted.sent_segments.max(counted.queued),
            merged_frames: counted.queued_long,
            long_frames: 0,
        },
        forwarded: Forwarded::default(),
        sent: Sent {
            frames: counted.sent,
            merged_frames: counted.sent_merged,
            cut_frames: counted
                .queued_long
                .saturating_sub(counted.sent_long.saturating_add(full)),
            cut_ns: None,
        },
    }
}

/// A level, in words.
pub(super) fn were(level: Level) -> &'static str {
    match level {
        Level::Counters => "counters were",
        Level::Perf => "perf's events were",
        Level::Bpf => "programs were",
    }
}

/// What perf's events do not show; `why` there is nothing better.
pub(super) fn unseen(why: &str, has_reasons: bool) -> Vec<Unseen> {
    let all = [
        "which of the dropped frames were merged, and whose they were",
        "merged frames that are forwarded, and those not longer than the MTU",
        "frames of other interfaces of the same name, in network namespaces that have no name: they count as well",
    ];
    let tell = "perf's events do not tell";
    let whys = [
        format!("{tell}; no program counts, for {why}"),
        tell.to_owned(),
        tell.to_owned(),
    ];
    let unseen = all.into_iter().zip(whys).map(|(what, why)| Unseen {
        what: what.to_owned(),
        why,
    });
    let reasons = (!has_reasons).then(|| Unseen {
        what: "why frames are dropped".to_owned(),
        why: "this kernel has no reasons: Linux 5.17 and later have".to_owned(),
    });
    unseen.chain(reasons).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_queue_may_have_dropped_was_not_cut() {
        let counted = Counted {
            queued: 100,
            queued_long: 60,
            sent: 200,
            sent_long: 10,
            ..Counted::default()
        };
        let cut = |full| frames(&counted, full).sent.cut_frames;
        assert_eq!([0, 20, 50, 70].map(cut), [50, 30, 0, 0]);
    }
}
