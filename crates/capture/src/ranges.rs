//! Which bytes of a direction were seen: a high-water mark and the holes below it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::sent::Sent;

/// Holes kept for one direction: as many as a window of 46 MB has where every second segment is lost, in 640 KiB. Of
/// more the oldest is given up, and bytes from there are neither new nor seen before.
const MAX_HOLES: usize = 16_384;

/// A range of positions not seen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    start: u64,
    end: u64,
    /// The frame beyond the hole.
    opened: Sent,
}

/// What a range of bytes was, when it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// All new, next in sequence or beyond.
    Next,
    /// Some of it new, but below the highest position seen; the hole was this old, and its frame left after the one beyond the
    /// hole, or before that, if one of both shows.
    Filling {
        new_bytes: u64,
        age_ns: i64,
        is_after: Option<bool>,
    },
    /// Every byte seen before.
    Seen,
    /// Where holes were given up.
    Unknown,
}

/// Seen ranges of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    next: u64,
    /// Boxed, since most directions have no holes.
    missing: Option<Box<Missing>>,
}

/// The bytes that were not seen.
#[derive(Clone, Debug, Default)]
struct Missing {
    holes: VecDeque<Hole>,
    /// Bytes of holes given up, which are not in `holes` any more, and where the last of these ended.
    given_up: u64,
    given_up_to: u64,
    /// Bytes below this position may have passed before the capture began.
    known_from: u64,
}

impl Ranges {
    /// Starts at a position: no byte before it is missing, and holes until now are forgotten.
    pub(crate) fn start_at(&mut self, position: u64) {
        self.next = position;
        self.missing = None;
    }

    /// Starts at an earlier position: bytes from there on may be seen yet.
    pub(crate) fn begin_earlier(&mut self, range: Range<u64>, opened_ns: i64) {
        let missing = self.missing.get_or_insert_default();
        missing.known_from = missing.known_from.max(range.end);
        if missing.holes.len() < MAX_HOLES {
            missing.holes.push_front(Hole {
                start: range.start,
                end: range.end,
                opened: Sent::at(opened_ns),
            });
        }
    }

    /// Notes that the next bytes, up to `end`, were seen.
    #[inline]
    pub(crate) fn see_next(&mut self, end: u64) {
        self.next = end;
    }

    /// One past the highest position seen.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Notes that `start..end` was seen.
    #[inline]
    pub(crate) fn see(&mut self, start: u64, end: u64, sent: Sent) -> Novelty {
        if start >= self.next {
            if start > self.next {
                self.open(start, sent);
            }
            self.next = end;
            return Novelty::Next;
        }
        self.see_below(start, end, sent)
    }

    fn open(&mut self, end: u64, opened: Sent) {
        let start = self.next;
        let missing = self.missing.get_or_insert_default();
        if missing.holes.len() == MAX_HOLES
            && let Some(oldest) = missing.holes.pop_front()
        {
            missing.given_up += oldest.end - oldest.start;
            missing.given_up_to = oldest.end;
        }
        missing.holes.push_back(Hole { start, end, opened });
    }

    #[cold]
    fn see_below(&mut self, start: u64, end: u64, sent: Sent) -> Novelty {
        let mut new_bytes = end.saturating_sub(self.next);
        let beyond = new_bytes;
        self.next = self.next.max(end);
        let mut oldest: Option<Sent> = None;
        if let Some(missing) = &mut self.missing {
            let holes = &mut missing.holes;
            let mut i = holes.partition_point(|hole| hole.end <= start);
            while let Some(&hole) = holes.get(i).filter(|hole| hole.start < end) {
                if oldest.is_none_or(|oldest| hole.opened.time_ns < oldest.time_ns) {
                    oldest = Some(hole.opened);
                }
                new_bytes += hole.end.min(end) - hole.start.max(start);
                i = cut(holes, i, start..end);
            }
        }
        let age_ns = oldest.map_or(0, |oldest| sent.time_ns - oldest.time_ns);
        match (new_bytes, beyond) {
            (0, _) if self.gave_up(start) => Novelty::Unknown,
            (0, _) => Novelty::Seen,
            // A repeat of the newest bytes with more behind it (tail loss probe, repacketised
            // retransmission): nothing arrived late.
            (new, beyond) if new == beyond => Novelty::Next,
            _ => Novelty::Filling {
                new_bytes,
                age_ns,
                is_after: oldest.and_then(|oldest| sent.is_after(oldest)),
            },
        }
    }

    fn gave_up(&self, start: u64) -> bool {
        let missing = self.missing.as_ref();
        missing.is_some_and(|missing| start < missing.given_up_to)
    }

    /// Whether some of these bytes were never seen, here or beyond all that was.
    #[inline]
    pub(crate) fn lacks_some_of(&self, range: Range<u64>) -> bool {
        let missing = self.missing.as_ref();
        range.end > self.next || missing.is_some_and(|missing| missing.has_hole_in(&range))
    }

    /// Bytes below `acked` that were never seen, holes given up included: the receiver has them,
    /// so it is the capture that lacks them.
    pub(crate) fn missing_below(&self, acked: u64) -> u64 {
        let beyond = acked.saturating_sub(self.next);
        let Some(missing) = &self.missing else {
            return beyond;
        };
        let open = missing.holes.iter().map(|h| {
            let start = h.start.max(missing.known_from);
            h.end.min(acked).saturating_sub(start)
        });
        open.sum::<u64>() + missing.given_up + beyond
    }
}

impl Missing {
    fn has_hole_in(&self, range: &Range<u64>) -> bool {
        let from = self.known_from.max(range.start);
        let i = self.holes.partition_point(|hole| hole.end <= from);
        self.holes.get(i).is_some_and(|hole| hole.start < range.end)
    }
}

/// Takes a range out of hole `i`; returns the index to continue at.
fn cut(holes: &mut VecDeque<Hole>, i: usize, range: Range<u64>) -> usize {
    let hole = holes[i];
    let left = Hole {
        end: range.start.max(hole.start),
        ..hole
    };
    let right = Hole {
        start: range.end.min(hole.end),
        ..hole
    };
    match (left.start < left.end, right.start < right.end) {
        (false, false) => {
            holes.remove(i);
            i
        }
        (true, false) => {
            holes[i] = left;
            i + 1
        }
        (false, true) => {
            holes[i] = right;
            i + 1
        }
        (true, true) => {
            holes[i] = left;
            holes.insert(i + 1, right);
            i + 2
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> Ranges {
        let mut ranges = Ranges::default();
        ranges.start_at(100);
        ranges
    }

    #[test]
    fn in_order_is_next() {
        let mut r = ranges();
        assert_eq!(r.see(100, 200, Sent::at(0)), Novelty::Next);
        assert_eq!(r.see(200, 300, Sent::at(1)), Novelty::Next);
        assert_eq!(r.see(100, 300, Sent::at(2)), Novelty::Seen);
    }

    #[test]
    fn a_hole_is_filled_from_both_sides_and_split_in_the_middle() {
        let mut r = ranges();
        assert_eq!(r.see(400, 500, Sent::at(10)), Novelty::Next);
        assert_eq!(
            r.see(200, 300, Sent::at(25)),
            Novelty::Filling {
                new_bytes: 100,
                age_ns: 15,
                is_after: None,
            }
        );
        assert_eq!(
            r.see(150, 250, Sent::at(30)),
            Novelty::Filling {
                new_bytes: 50,
                age_ns: 20,
                is_after: None,
            }
        );
        assert_eq!(
            r.see(300, 600, Sent::at(30)),
            Novelty::Filling {
                new_bytes: 200,
                age_ns: 20,
                is_after: None,
            }
        );
        assert_eq!(r.missing_below(500), 50);
        assert_eq!(
            r.see(100, 150, Sent::at(40)),
            Novelty::Filling {
                new_bytes: 50,
                age_ns: 30,
                is_after: None,
            }
        );
        assert!(r.missing.unwrap().holes.is_empty());
    }

    #[test]
    fn a_longer_repeat_of_the_tail_is_next() {
        let mut r = ranges();
        r.see(100, 200, Sent::at(0));
        assert_eq!(r.see(150, 250, Sent::at(1)), Novelty::Next);
    }

    #[test]
    fn who_starts_again_has_no_holes() {
        let mut r = ranges();
        r.see(400, 500, Sent::at(0));
        r.start_at(100);
        assert_eq!(r.missing_below(100), 0);
        assert_eq!(r.see(100, 200, Sent::at(1)), Novelty::Next);
        assert_eq!(r.see(100, 200, Sent::at(2)), Novelty::Seen);
    }

    #[test]
    fn what_comes_before_the_first_byte_is_new_once() {
        let mut r = ranges();
        r.see(100, 200, Sent::at(10));
        r.begin_earlier(40..100, 10);
        let filling = |new_bytes| Novelty::Filling {
            new_bytes,
            age_ns: 20,
            is_after: None,
        };
        assert_eq!(r.see(40, 60, Sent::at(30)), filling(20));
        assert_eq!(r.see(40, 60, Sent::at(40)), Novelty::Seen);
        assert_eq!(r.missing_below(200), 0);
        assert_eq!(r.see(60, 120, Sent::at(30)), filling(40));
        assert!(r.missing.unwrap().holes.is_empty());
    }

    #[test]
    fn bytes_in_holes_and_beyond_the_last_are_lacked() {
        let mut r = ranges();
        r.see(100, 200, Sent::at(0));
        r.see(300, 400, Sent::at(0));
        r.see(500, 600, Sent::at(0));
        for (range, expected) in [
            (100..200, false),
            (150..201, true),
            (200..300, true),
            (300..400, false),
            (380..520, true),
            (500..600, false),
            (500..601, true),
        ] {
            assert_eq!(r.lacks_some_of(range.clone()), expected, "{range:?}");
        }
    }

    #[test]
    fn holes_are_bounded_and_given_up_ones_are_missing() {
        let mut r = ranges();
        let all = MAX_HOLES as u64 + 1000;
        for i in 0..all {
            r.see(110 + i * 20, 120 + i * 20, Sent::at(0));
        }
        assert_eq!(r.missing.as_ref().unwrap().holes.len(), MAX_HOLES);
        assert_eq!(r.missing_below(r.next()), all * 10);
        assert_eq!(r.missing_below(r.next() + 7), all * 10 + 7);
        // Where a hole was given up, nothing shows whether a frame fills it.
        assert_eq!(r.see(100, 110, Sent::at(1)), Novelty::Unknown);
        assert_eq!(r.see(110, 120, Sent::at(1)), Novelty::Unknown);
        let filled = r.see(r.next() - 20, r.next() - 10, Sent::at(1));
        assert!(matches!(filled, Novelty::Filling { .. }), "{filled:?}");
        assert_eq!(r.see(r.next() - 20, r.next(), Sent::at(2)), Novelty::Seen);
    }

    proptest! {
        /// Every second segment of a window may be lost, and be sent again in any order.
        #[test]
        fn what_was_seen_is_known_byte_for_byte(
            lost in prop::collection::vec(any::<bool>(), 1..2000),
            again in prop::collection::vec((0..2000usize, 1..4usize), 0..2000),
        ) {
            const SEGMENT: u64 = 10;
            let at = |i: usize| 100 + i as u64 * SEGMENT;
            let mut r = ranges();
            let mut seen = vec![false; lost.len()];
            for i in (0..lost.len()).filter(|i| !lost[*i]) {
                prop_assert_eq!(r.see(at(i), at(i + 1), Sent::at(0)), Novelty::Next);
                seen[i] = true;
            }
            let known = lost.iter().rposition(|lost| !lost).map_or(0, |last| last + 1);
            for (i, segments) in again {
                if i + segments > known {
                    continue;
                }
                let these = &mut seen[i..i + segments];
                let new = these.iter().filter(|seen| !**seen).count() as u64;
                these.fill(true);
                let new_bytes = match r.see(at(i), at(i + segments), Sent::at(1)) {
                    Novelty::Filling { new_bytes, .. } => new_bytes,
                    Novelty::Seen => 0,
                    other => panic!("{other:?}"),
                };
                prop_assert_eq!(new_bytes, new * SEGMENT);
            }
            let missing = seen[..known].iter().filter(|seen| !**seen).count() as u64;
            prop_assert_eq!(r.missing_below(at(known)), missing * SEGMENT);
        }
    }
}
