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

/// What a frame shows of one that both points saw; the first point's sighting comes first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sighted {
    /// Nothing.
    No,
    /// The frame is that one.
    Both([Sighting; 2]),
    /// A SYN was sent again, so which of them the other point saw is not known, and such a pair is none.
    Unclear([Sighting; 2]),
}

/// Frames of one direction at one point. Of frames with the same mark the first counts.
#[derive(Clone, Debug, Default)]
struct Shown {
    all: HashMap<u64, Sighting, FixedState>,
    /// SYNs that were sent again: those of a lost SYN come a second and more later (RFC 6298, section 2), far more than
    /// clocks and delays may differ.
    again: Vec<u64>,
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
    /// Adds a frame, and finds the frame among those that the other point has shown already.
    pub(super) fn see(&mut self, way: usize, side: Side, event: &Event) -> Sighted {
        let (token, sighting) = (token(event), sighting(event));
        let here = &mut self.0[way][side as usize];
        if here.find(token).is_none() {
            here.add(token, sighting);
            return match self.both(way, token) {
                Some(both) if self.is_clear(way, token) => Sighted::Both(both),
                _ => Sighted::No,
            };
        }
        if !matches!(event, Event::Syn { .. }) {
            return Sighted::No;
        }
        if !here.again.contains(&token) {
            here.again.push(token);
        }
        self.both(way, token).map_or(Sighted::No, Sighted::Unclear)
    }

    /// A frame as both points saw it.
    fn both(&self, way: usize, token: u64) -> Option<[Sighting; 2]> {
        let [first, second] = &self.0[way];
        Some([first.find(token)?, second.find(token)?])
    }

    fn is_clear(&self, way: usize, token: u64) -> bool {
        self.0[way]
            .iter()
            .all(|shown| !shown.again.contains(&token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(sighted: Sighted) -> bool {
        matches!(sighted, Sighted::Both(_))
    }

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
            assert!(!is_found(sightings.see(0, Side::First, &ack(position))));
        }
        assert!(is_found(sightings.see(0, Side::Second, &ack(1_000))));
        assert!(!is_found(sightings.see(0, Side::Second, &ack(1_000))));
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
        assert!(!is_found(sightings.see(0, Side::First, &ack(20))));
        assert!(!is_found(sightings.see(0, Side::Second, &ack(21))));
        assert!(is_found(sightings.see(0, Side::Second, &ack(20))));
    }

    /// One point shows a SYN twice, the other one the SYN that came through, in whatever order the captures are read.
    #[test]
    fn a_syn_that_was_sent_again_is_paired_with_none() {
        let syn = |time_ns| Event::Syn {
            number: 5,
            sighting: Sighting {
                time_ns,
                mark: 1,
                ttl: 64,
                fragmented: false,
            },
        };
        let sent = [(Side::First, 0), (Side::First, 1_000_000_000)];
        for came in 0..=sent.len() {
            let mut order = sent.to_vec();
            order.insert(came, (Side::Second, 7));
            let mut sightings = Sightings::default();
            let see = |(side, time_ns)| sightings.see(1, side, &syn(time_ns));
            let seen: Vec<_> = order.into_iter().map(see).collect();
            let found = seen.iter().filter(|seen| is_found(**seen)).count();
            let unclear = seen.iter().any(|seen| matches!(seen, Sighted::Unclear(_)));
            assert_eq!(found, usize::from(unclear), "{seen:?}");
        }
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
