//! The order of interfaces.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use coalescope_watch::facts::{Interface, Watched};

/// Orders of interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// Most dropped merged frames first, ports below their bridge or bond.
    #[default]
    Worst,
    Frames,
    Segments,
    Name,
}

impl Order {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Worst => "what dies most",
            Self::Frames => "frames in",
            Self::Segments => "segments in each",
            Self::Name => "name",
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Worst => Self::Frames,
            Self::Frames => Self::Segments,
            Self::Segments => Self::Name,
            Self::Name => Self::Worst,
        }
    }

    /// Interfaces in this order, each with the number of its dropped merged frames.
    pub(super) fn sorted(self, look: &Watched) -> Vec<(&Interface, u64)> {
        let deaths = deaths(look);
        let died = |one: &Interface| deaths.get(one.name.as_str()).copied().unwrap_or(0);
        let all = look.interfaces.iter();
        let mut all: Vec<_> = all.map(|one| (one, died(one))).collect();
        match self {
            Self::Name => all.sort_by_key(|(one, _)| &one.name),
            Self::Frames => all.sort_by_key(|(one, _)| Reverse(received(one))),
            Self::Segments => all.sort_by(|(one, _), (other, _)| {
                let each = |one: &Interface| one.frames.and_then(|frames| frames.per_frame());
                each(other)
                    .unwrap_or(0.0)
                    .total_cmp(&each(one).unwrap_or(0.0))
            }),
            Self::Worst => by_group(&mut all),
        }
        all
    }
}

fn received(one: &Interface) -> u64 {
    let packets = one.counters.get("rx_packets").copied();
    one.frames
        .map_or(packets.unwrap_or(0), |frames| frames.received.frames)
}

/// Bridges and bonds above their ports; groups with most dropped merged frames first.
fn by_group(all: &mut [(&Interface, u64)]) {
    let mut worst: BTreeMap<&str, u64> = BTreeMap::new();
    for (one, died) in all.iter() {
        let most = worst.entry(group(one)).or_default();
        *most = (*most).max(*died);
    }
    all.sort_by_cached_key(|(one, died)| {
        let of = group(one);
        let dead = worst.get(of).copied();
        let is_port = one.master.is_some();
        (Reverse(dead), of, is_port, Reverse(*died), &one.name)
    });
}

fn group(one: &Interface) -> &str {
    one.master.as_deref().unwrap_or(&one.name)
}

/// Dropped merged frames by the interface that they came in by, or else by the one that they left by.
fn deaths(look: &Watched) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for drop in &look.drops {
        if let Some(name) = drop.place() {
            *all.entry(name).or_default() += drop.died();
        }
    }
    all
}
