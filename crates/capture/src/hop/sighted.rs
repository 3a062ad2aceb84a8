//! Frames of a connection that both points have shown, found while it is not known which point
//! comes first.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

use super::Event;
use super::pair::Side;

/// The first frames of each direction are remembered at each point, and the last: captures that
/// begin together share the former, others those around the time up to which both were read.
const FIRST: usize = 32;
const LAST: usize = 64;

/// What tells a frame from others of its direction.
fn token(event: &Event) -> u64 {
    let (kind, position, tsval) = match event {
        Event::Syn { number, .. } => (1, u64::from(*number), 0),
        Event::Data(seen) => (2, seen.start, seen.tsval),
        Event::Ack { position, .. } => (3, *position, 0),
    };
    let mut hasher = FixedState::with_seed(kind).build_hasher();
    hasher.write_u64(position);
    hasher.write_u32(tsval);
    hasher.finish()
}

fn sighting(event: &Event) -> Sighting {
    match event {
        Event::Data(seen) => Sighting {
            time_ns: seen.own_ns,
            ttl: seen.ttl,
            fragmented: seen.fragmented,
        },
        Event::Syn { sighting, .. } | Event::Ack { sighting, .. } => *sighting,
    }
}

/// A frame at one point, in its own time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) time_ns: i64,
    pub(super) ttl: u8,
    pub(super) fragmented: bool,
}

/// Frames of one direction at one point. Of those with one mark the first counts.
#[derive(Clone, Debug, Default)]
struct Shown {
    first: Vec<(u64, Sighting)>,
    last: VecDeque<(u64, Sighting)>,
}

impl Shown {
    fn find(&self, token: u64) -> Option<Sighting> {
        let all = self.first.iter().chain(&self.last);
        let mut found = all.filter(|(known, _)| *known == token);
        found.next().map(|(_, sighting)| *sighting)
    }

    fn add(&mut self, token: u64, sighting: Sighting) {
        if self.first.len() < FIRST {
            self.first.push((token, sighting));
            return;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back((token, sighting));
    }
}

/// Frames of both directions at both points.
#[derive(Clone, Debug, Default)]
pub(super) struct Sightings([[Shown; 2]; 2]);

impl Sightings {
    /// Takes a frame; gives it as both points show it, the first point's sight first, when the other
    /// point has shown it already.
    pub(super) fn see(&mut self, way: usize, side: Side, event: &Event) -> Option<[Sighting; 2]> {
        let (token, sighting) = (token(event), sighting(event));
        let [here, there] = [side as usize, 1 - side as usize];
        if self.0[way][here].find(token).is_some() {
            return None;
        }
        self.0[way][here].add(token, sighting);
        let other = self.0[way][there].find(token)?;
        Some(match side {
            Side::First => [sighting, other],
            Side::Second => [other, sighting],
        })
    }
}
