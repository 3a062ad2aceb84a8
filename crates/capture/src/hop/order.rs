//! Which of two points a direction of a connection passes first.
//!
//! The clocks of two hosts may show anything, so a time of one is never compared with a time of the other. The evidence
//! holds whatever the clocks show:
//!
//! - Gaps. The time from a frame of one direction to one of the other is the longer, the farther away the answering end
//!   is: at the point nearer to the client the SYN-ACK comes later after the SYN. Each point measures the gap by its
//!   own clock, and over a gap clocks differ by drift alone.
//! - TTL: routers lower it (RFC 791, RFC 8200).
//! - Fragments are made of whole datagrams, and checksums are filled in once, by the sender's NIC.
//! - What is lost in between is sent again, and is twice at the point before the loss.
//! - MSS is clamped downwards; translators hide private addresses (RFC 1918) behind public ones.
//!
//! The weight of each is the greater, the less likely it misleads.

mod standing;

use std::collections::VecDeque;

use super::clock::{Clock, MOST_DRIFT_PPM};
use super::event::{Event, Side, Sighting};
use super::sighted::{Sighted, Sightings};
pub(super) use standing::standing;

/// The weight from which on evidence counts as proof: two wide gaps have it, or TTLs of both ways.
const SURE: i32 = 4;
/// The weight of a wide gap, and the most of them that count: frames can be delayed on their way to a capture, not
/// arrive early.
const WIDE_GAP: i32 = 2;
const WIDE_GAPS: i32 = 3;
/// The most narrow gaps that count: such a gap is within what batches of a capturing NIC (10 to 100 us) can cause.
const NARROW_GAPS: i32 = 3;
pub(super) const WIDE_NS: i64 = 100_000;
/// TTLs of one direction: only a proxy or a scrubbing firewall raises them.
const TTL: i32 = 3;
/// Only a firewall that reassembles datagrams reverses this.
const FRAGMENTS: i32 = 3;
/// Repeats on one side only: captures miss frames, too.
const REPEATS: i32 = 2;
/// Differences of gaps below this are the captures' own noise.
const NOISE_NS: i64 = 2_000;
/// The way between two points shows in all gaps that are long enough to show it. Where it shows in less than one of so many, another
/// frame was taken for the same one.
const SHOWN: u32 = 50;
/// Frames of each direction at both points that are remembered.
const MATCHED: usize = 32;

/// A frame's times at both points.
#[derive(Clone, Copy, Debug)]
struct Matched {
    first_ns: i64,
    difference_ns: i64,
}

/// Votes for and against a direction going forth, from the first point to the second.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    forth: u32,
    back: u32,
    /// What would have voted if the points were far enough apart for the others' votes.
    none: u32,
}

impl Votes {
    fn add(&mut self, forth: bool) {
        if forth {
            self.forth += 1;
        } else {
            self.back += 1;
        }
    }

    /// The surplus of the majority, at most `most`; 0 unless the majority has four times the votes, and enough of all; negative
    /// for coming back.
    fn clear(self, most: i32) -> i32 {
        let (more, less) = (self.forth.max(self.back), self.forth.min(self.back));
        if more < 4 * less || SHOWN * more < self.none {
            return 0;
        }
        let clear = i32::try_from(more - less).map_or(most, |votes| votes.min(most));
        if self.forth > self.back {
            clear
        } else {
            -clear
        }
    }
}

/// Evidence from a connection's frames. Votes are for direction 0 to go forth.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    sightings: Sightings,
    matched: [VecDeque<Matched>; 2],
    wide: Votes,
    narrow: Votes,
    ttl: [Votes; 2],
    fragments: Votes,
}

impl Order {
    /// Takes a frame of a direction at one of the points.
    pub(super) fn see(&mut self, way: usize, side: Side, event: &Event, resolution_ns: i64) {
        match self.sightings.see(way, side, event) {
            Sighted::No => {}
            Sighted::Both(both) => self.take(way, both, resolution_ns),
            Sighted::Unclear([first, _]) => {
                self.matched[way].retain(|matched| matched.first_ns != first.time_ns);
            }
        }
    }

    fn take(&mut self, way: usize, [first, second]: [Sighting; 2], resolution_ns: i64) {
        // What speaks for one direction to go forth speaks for the other to come back.
        let goes = |forth: bool| forth == (way == 0);
        if first.ttl != second.ttl {
            self.ttl[way].add(goes(first.ttl > second.ttl));
        }
        if first.fragmented != second.fragmented {
            self.fragments.add(goes(second.fragmented));
        }
        let matched = Matched {
            first_ns: first.time_ns,
            difference_ns: second.time_ns - first.time_ns,
        };
        self.compare_gaps(way, matched, resolution_ns);
        let known = &mut self.matched[way];
        if known.len() == MATCHED {
            known.pop_front();
        }
        known.push_back(matched);
    }

    /// Compares the gap to the nearest frame of the other direction at both points.
    fn compare_gaps(&mut self, way: usize, here: Matched, resolution_ns: i64) {
        let gap = |other: &&Matched| here.first_ns.abs_diff(other.first_ns);
        let Some(there) = self.matched[1 - way].iter().min_by_key(gap) else {
            return;
        };
        let drifted = gap(&there) as i64 / 1_000_000 * MOST_DRIFT_PPM;
        let noise = drifted + resolution_ns.max(NOISE_NS);
        // Going forth adds the delay to the difference, coming back takes it off.
        let longer = here.difference_ns - there.difference_ns;
        let longer = if way == 0 { longer } else { -longer };
        self.wide.none += u32::from(longer.abs() + noise < WIDE_NS);
        match longer.abs() - noise {
            ..=0 => self.narrow.none += u32::from(noise <= 2 * NOISE_NS),
            1..WIDE_NS => self.narrow.add(longer > 0),
            _ => self.wide.add(longer > 0),
        }
    }

    /// How much speaks for direction 0 to go forth; negative if more speaks for the other.
    pub(super) fn weight(&self) -> i32 {
        let gaps = WIDE_GAP * self.wide.clear(WIDE_GAPS) + self.narrow.clear(NARROW_GAPS);
        let ttls: i32 = self.ttl.iter().map(|votes| TTL * votes.clear(1)).sum();
        gaps + ttls + FRAGMENTS * self.fragments.clear(1)
    }

    /// Adds the frames seen at both points to the clock.
    pub(super) fn teach(&self, forth: usize, clock: &mut Clock) {
        for (way, matched) in self.matched.iter().enumerate() {
            for sample in matched {
                clock.add(sample.first_ns, sample.difference_ns, way == forth);
            }
        }
    }
}

/// The direction that a weight settles as going forth, if it is enough.
pub(super) fn settled(weight: i32) -> Option<usize> {
    (weight.abs() >= SURE).then_some(usize::from(weight < 0))
}

/// The least weight that settles this direction as going forth.
pub(super) fn settled_weight(forth: Option<usize>) -> i32 {
    match forth {
        Some(0) => SURE,
        Some(_) => -SURE,
        None => 0,
    }
}

/// The weight of bytes that one direction has more than once, at the first point and the second.
pub(super) fn repeats(way: usize, [first, second]: [u64; 2]) -> i32 {
    let forth = match first.cmp(&second) {
        std::cmp::Ordering::Equal => return 0,
        order => order.is_gt(),
    };
    if forth == (way == 0) {
        REPEATS
    } else {
        -REPEATS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// So many acknowledgments a millisecond behind data that was seen at both points, of which some were taken for an earlier one
    /// at the second point, or are farther from the answering end at the first.
    fn weight(frames: i64, mistaken: impl Fn(i64) -> bool, between_ns: i64) -> i32 {
        let mut order = Order::default();
        for i in 0..frames {
            let sighting = |time_ns| Sighting {
                time_ns,
                mark: 0,
                ttl: 64,
                fragmented: false,
            };
            let (data_ns, ack_ns) = (10 * i * MS, (10 * i + 1) * MS);
            let early_ns = if mistaken(i) { 400_000 } else { 0 };
            order.take(1, [data_ns, data_ns - between_ns].map(sighting), 0);
            order.take(0, [ack_ns, ack_ns + between_ns - early_ns].map(sighting), 0);
        }
        order.weight()
    }

    #[test]
    fn a_way_shows_in_all_gaps() {
        assert_eq!(weight(400, |_| false, 0), 0);
        assert!(weight(400, |_| false, 50_000) > 0);
        assert!(weight(4, |_| false, 200_000) >= SURE);
    }

    /// One capture missed an acknowledgment, and shows another one of the same position and tick: a gap that is much shorter.
    #[test]
    fn frames_that_were_taken_for_others_are_no_evidence() {
        assert_eq!(weight(400, |i| i == 200 || i == 300, 0), 0);
        assert!(weight(400, |i| i % 100 == 99, 20_000) > 0);
    }
}
