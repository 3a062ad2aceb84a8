//! Bytes that were sent again lately.

use std::ops::Range;

/// Ranges that are remembered: adjacent ones, as a burst of repeats leaves, are one.
const RANGES: usize = 16;

/// The last ranges of a direction that were sent again. A D-SACK of other bytes reports what the network doubled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lately {
    ranges: [(u64, u64); RANGES],
    last: usize,
}

impl Lately {
    pub(crate) fn add(&mut self, range: Range<u64>) {
        let (start, end) = &mut self.ranges[self.last];
        if *start <= range.start && range.start <= *end {
            *end = range.end.max(*end);
            return;
        }
        self.last = (self.last + 1) % RANGES;
        self.ranges[self.last] = (range.start, range.end);
    }

    /// Whether some of these bytes were sent again lately.
    pub(crate) fn has_some_of(&self, range: &Range<u64>) -> bool {
        let overlaps = |&(start, end): &(u64, u64)| start < range.end && range.start < end;
        self.ranges.iter().any(overlaps)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_is_one_range_and_the_oldest_goes_first() {
        let mut lately = Lately::default();
        assert!(!lately.has_some_of(&(0..10)));
        (0..100).for_each(|segment| lately.add(segment * 10..segment * 10 + 10));
        (1..RANGES as u64).for_each(|place| lately.add(place * 10_000..place * 10_000 + 10));
        assert!(lately.has_some_of(&(5..6)) && lately.has_some_of(&(999..2_000)));
        lately.add(900_000..900_010);
        assert!(!lately.has_some_of(&(0..1_000)));
    }

    proptest! {
        /// What is said to have been sent again was, and the last ranges are known.
        #[test]
        fn only_what_was_sent_again_is_known(
            all in prop::collection::vec((0..100_000_u64, 1..3_000_u64), 1..100),
            asked in 0..100_000_u64,
        ) {
            let mut lately = Lately::default();
            all.iter().for_each(|&(start, len)| lately.add(start..start + len));
            let has = |start: u64, len: u64| start <= asked && asked < start + len;
            let was = all.iter().any(|&(start, len)| has(start, len));
            let is_late = all.iter().rev().take(RANGES).any(|&(start, len)| has(start, len));
            let known = lately.has_some_of(&(asked..asked + 1));
            prop_assert!(was || !known);
            prop_assert!(known || !is_late);
        }
    }
}
