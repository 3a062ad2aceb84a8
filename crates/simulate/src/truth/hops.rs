//! What became of each segment from one point to the next.

use std::collections::HashMap;

use super::{HopTruth, MergedTruth, SingleTruth};
use crate::packet::Origin;
use crate::point::{Sighting, Watcher};
use crate::side::Side;

/// Follows every segment from one point to the next in one direction.
pub(crate) fn hop(from: &Watcher, to: &Watcher, toward: Side) -> HopTruth {
    let arrivals = Arrivals::new(to, toward);
    let mut truth = HopTruth {
        upstream: from.point.name.clone(),
        downstream: to.point.name.clone(),
        toward,
        merged: MergedTruth::default(),
        single: SingleTruth::default(),
        missed_downstream: arrivals.missed,
        missed_upstream: 0,
    };
    for sighting in data(from, toward) {
        if !sighting.captured {
            truth.missed_upstream += 1;
        } else if sighting.pieces.len() > 1 {
            truth.merged.count(sighting, &arrivals);
        } else {
            truth.single.count(sighting, &arrivals);
        }
    }
    truth
}

fn data(watcher: &Watcher, toward: Side) -> impl Iterator<Item = &Sighting> {
    watcher
        .sightings
        .iter()
        .filter(move |sighting| sighting.toward == toward && sighting.len > 0)
}

/// Where each segment was found downstream.
struct Arrivals<'a> {
    by_piece: HashMap<u64, (usize, &'a Sighting)>,
    missed: u64,
}

impl<'a> Arrivals<'a> {
    fn new(watcher: &'a Watcher, toward: Side) -> Self {
        let mut by_piece = HashMap::new();
        for (index, sighting) in data(watcher, toward).enumerate() {
            by_piece.extend(
                sighting
                    .pieces
                    .iter()
                    .map(|piece| (*piece, (index, sighting))),
            );
        }
        let missed = data(watcher, toward)
            .filter(|sighting| !sighting.captured)
            .count() as u64;
        Self { by_piece, missed }
    }
}

impl MergedTruth {
    fn count(&mut self, sighting: &Sighting, arrivals: &Arrivals<'_>) {
        self.seen += 1;
        self.tso += u64::from(sighting.origin == Origin::Tso);
        let pieces = sighting.pieces.iter();
        let found: Vec<_> = pieces
            .filter_map(|piece| arrivals.by_piece.get(piece))
            .collect();
        let outcome = if found.is_empty() {
            &mut self.lost
        } else if found.len() < sighting.pieces.len() {
            &mut self.partly_lost
        } else if found.iter().any(|(_, there)| there.fragment) {
            &mut self.fragmented
        } else if found.iter().all(|(index, _)| *index == found[0].0) {
            &mut self.arrived
        } else {
            &mut self.resplit
        };
        *outcome += 1;
    }
}

impl SingleTruth {
    fn count(&mut self, sighting: &Sighting, arrivals: &Arrivals<'_>) {
        self.seen += 1;
        let found = sighting
            .pieces
            .first()
            .and_then(|piece| arrivals.by_piece.get(piece));
        let outcome = match found {
            None => &mut self.lost,
            Some((_, there)) if there.fragment && !sighting.fragment => &mut self.fragmented,
            Some((_, there)) if there.pieces.len() > 1 => &mut self.merged_further,
            Some(_) => &mut self.arrived,
        };
        *outcome += 1;
    }
}
