//! Frames of a connection that both points have shown, found while it is not known which point
//! comes first.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::event::{Event, Side, Sighting};

/// The first and the last frames of each direction are remembered at each point. Captures that begin together share the
/// first ones. If one begins later, by clocks that show anything, its frames come after many of the other's: as many
/// are remembered as wait until it is known which point comes first.
const FIRST: usize = 32;
const LAST: usize = 8 * 1024;

/// What distinguishes a frame from others of its direction.
fn token(event: &Event) -> u64 {
    let (kind, position, mark) = match event {
        Event::Syn { number, .. } => (1, u64::from(*number), 0),
        Event::Data(seen) => (2, seen.start, seen.tsval),
        // Where a capture missed the first of several ACKs of one position, the next one is another frame, so the mark
        // is part of the token.
        Event::Ack { position, sighting } => (3, *position, sighting.mark),
        Event::Reset { .. } => (4, 0, 0),
    };
    let mut hasher = FixedState::with_seed(kind).build_hasher();
    hasher.write_u64(position);
    hasher.write_u32(mark);
    hasher.finish()
}

fn sighting(event: &Event) -> Sighting {
    match event {
        Event::Data(seen) => Sighting {
            time_ns: seen.own_ns,
            mark: seen.tsval,
            ttl: seen.ttl,
            fragmented: seen.fragmented,
        },
        Event::Syn { sighting, .. } | Event::Ack { sighting, .. } => *sighting,
        Event::Reset { time_ns } => Sighting {
            time_ns: *time_ns,
            mark: 0,
            ttl: 0,
            fragmented: false,
        },
    }
}

/// Frames of one direction at one point. Of frames with the same mark the first counts.
#[derive(Clone, Debug, Default)]
struct Shown {
    all: HashMap<u64, Sighting, FixedState>,
    /// Marks in their order, but for the first ones.
    last: VecDeque<u64>,
}

impl Shown {
    fn find(&self, token: u64) -> Option<Sighting> {
        self.all.get(&token).copied()
    }

    fn add(&mut self, token: u64, sighting: Sighting) {
        if self.all.len() >= FIRST {
            self.last.push_back(token);
        }
        if self.last.len() > LAST
            && let Some(oldest) = self.last.pop_front()
        {
            self.all.remove(&oldest);
        }
        self.all.insert(token, sighting);
    }
}

/// Frames of both directions at both points.
#[derive(Clone, Debug, Default)]
pub(super) struct Sightings([[Shown; 2]; 2]);

impl Sightings {
    /// Adds a frame. If the other point has shown the frame already, returns it as both points saw it, the first point
    /// first.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One capture begins a thousand frames later, by a clock that is behind: it is read after them.
    #[test]
    fn a_point_that_begins_late_is_found_among_all_that_the_other_showed() {
        let ack = |position| Event::Ack {
            position,
            sighting: Sighting {
                time_ns: 7,
                mark: 0,
                ttl: 64,
                fragmented: false,
            },
        };
        let mut sightings = Sightings::default();
        for position in 0..2_000 {
            assert!(sightings.see(0, Side::First, &ack(position)).is_none());
        }
        assert!(sightings.see(0, Side::Second, &ack(1_000)).is_some());
        assert!(sightings.see(0, Side::Second, &ack(1_000)).is_none());
    }

    /// One capture missed an acknowledgment, and shows only the one that repeats it.
    #[test]
    fn an_equal_acknowledgment_of_another_time_is_another_frame() {
        let ack = |mark| Event::Ack {
            position: 1_000,
            sighting: Sighting {
                time_ns: 7,
                mark,
                ttl: 64,
                fragmented: false,
            },
        };
        let mut sightings = Sightings::default();
        assert!(sightings.see(0, Side::First, &ack(20)).is_none());
        assert!(sightings.see(0, Side::Second, &ack(21)).is_none());
        assert!(sightings.see(0, Side::Second, &ack(20)).is_some());
    }

    #[test]
    fn of_many_the_first_and_the_last_are_remembered() {
        let mut shown = Shown::default();
        let sighting = Sighting {
            time_ns: 0,
            mark: 0,
            ttl: 64,
            fragmented: false,
        };
        (0..20_000).for_each(|token| shown.add(token, sighting));
        assert!(shown.find(5).is_some() && shown.find(19_000).is_some());
        assert!(shown.find(5_000).is_none());
        assert_eq!(shown.all.len(), FIRST + LAST);
    }
}
