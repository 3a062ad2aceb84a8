//! The frames that elements of the path dropped, and why.

use std::collections::{BTreeMap, HashSet};

use crate::elements::Why;
use crate::packet::{Origin, Packet};
use crate::point::Watcher;
use crate::side::Side;

/// Data frames that an element dropped in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropTruth {
    /// The element's index in the scenario's path.
    pub element: usize,
    /// The side that the frames went toward.
    pub toward: Side,
    /// Merged frames dropped for being merged: each of their segments would have passed.
    pub for_merging: u64,
    /// Segments in all frames dropped here.
    pub segments: u64,
    /// Connections that the merged frames belonged to.
    pub connections: u64,
    /// Other frames, because not even one segment would have passed.
    pub too_long: u64,
    /// Other frames, because a queue was full or a bucket empty.
    pub full: u64,
    /// Other frames, by chance.
    pub by_chance: u64,
}

/// A data frame that was dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop {
    element: usize,
    toward: Side,
    flow: usize,
    /// Number of its first segment.
    first: u64,
    segments: usize,
    cause: Cost,
}

/// Why a frame was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    Merging,
    Length,
    Room,
    Chance,
}

impl Drop {
    /// The record of a packet that an element dropped, if it carried data.
    pub(crate) fn of(packet: &Packet, why: Why, element: usize) -> Option<Self> {
        let first = packet.tcp()?.pieces.first()?.id;
        Some(Self {
            element,
            toward: packet.toward,
            flow: packet.flow,
            first,
            segments: packet.tcp()?.pieces.len(),
            cause: cost(packet, why),
        })
    }
}

/// A merged frame was dropped for being merged if its segments would have passed one by one.
fn cost(packet: &Packet, why: Why) -> Cost {
    let merged = packet
        .tcp()
        .is_some_and(|tcp| tcp.is_merged() && tcp.origin == Origin::Merged);
    match why {
        Why::Merged => Cost::Merging,
        Why::Longer(limit) if merged && longest_segment(packet) <= limit => Cost::Merging,
        Why::Longer(_) => Cost::Length,
        Why::Full => Cost::Room,
        Why::Chance => Cost::Chance,
    }
}

/// The IP packet that the longest of a frame's segments would be.
fn longest_segment(packet: &Packet) -> usize {
    let pieces = packet.tcp().map_or(&[][..], |tcp| &tcp.pieces);
    let longest = pieces.iter().map(|piece| piece.len as usize).max();
    let all: usize = pieces.iter().map(|piece| piece.len as usize).sum();
    packet.ip_len() - all + longest.unwrap_or(0)
}

/// Sums up what each element dropped.
pub(crate) fn drops(all: &[Drop]) -> Vec<DropTruth> {
    let mut sums: BTreeMap<(usize, Side), (DropTruth, HashSet<usize>)> = BTreeMap::new();
    for drop in all {
        let empty = || (DropTruth::none(drop.element, drop.toward), HashSet::new());
        let (sum, flows) = sums
            .entry((drop.element, drop.toward))
            .or_insert_with(empty);
        sum.count(drop.cause);
        sum.segments += drop.segments as u64;
        if drop.cause == Cost::Merging {
            flows.insert(drop.flow);
        }
        sum.connections = flows.len() as u64;
    }
    sums.into_values().map(|(sum, _)| sum).collect()
}

impl DropTruth {
    fn none(element: usize, toward: Side) -> Self {
        Self {
            element,
            toward,
            for_merging: 0,
            segments: 0,
            connections: 0,
            too_long: 0,
            full: 0,
            by_chance: 0,
        }
    }

    fn count(&mut self, cause: Cost) {
        let counter = match cause {
            Cost::Merging => &mut self.for_merging,
            Cost::Length => &mut self.too_long,
            Cost::Room => &mut self.full,
            Cost::Chance => &mut self.by_chance,
        };
        *counter += 1;
    }

    /// All frames dropped here.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.for_merging + self.too_long + self.full + self.by_chance
    }
}

/// Merged frames captured at a point that were dropped for being merged later on.
pub(super) fn lost_for_merging(watcher: &Watcher, drops: &[Drop]) -> [u64; 2] {
    let lost = drops.iter().filter(|drop| drop.cause == Cost::Merging);
    let lost: HashSet<(u64, usize)> = lost.map(|drop| (drop.first, drop.segments)).collect();
    let mut counts = [0; 2];
    for sighting in watcher
        .sightings
        .iter()
        .filter(|s| s.captured && s.origin == Origin::Merged)
    {
        let first = sighting.pieces.first().copied().unwrap_or(0);
        if sighting.len > 0 && lost.contains(&(first, sighting.pieces.len())) {
            counts[sighting.toward.index()] += 1;
        }
    }
    counts
}
