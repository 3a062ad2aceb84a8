//! Frames of one direction by how many segments they carry, and what became of each sort.

use crate::outstanding::Fate;
use crate::segment::{Count, SegmentSize, Size};

/// Examples kept of each sort.
const EXAMPLES: usize = 10;

/// Frames of several segments, merged or not cut yet: the vantage tells later which.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Multi {
    pub(crate) frames: u64,
    /// Segments of all data frames.
    pub(crate) segments: u64,
    pub(crate) max: u32,
    pub(crate) histogram: [u32; 8],
}

/// Fates of first transmissions, by sort.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fates {
    pub(crate) multi: u32,
    pub(crate) multi_repeated: u32,
    pub(crate) single: u32,
    pub(crate) single_repeated: u32,
}

/// Frame numbers of examples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Examples {
    pub(crate) multi: Vec<u64>,
    pub(crate) multi_repeated: Vec<u64>,
    pub(crate) retransmitted: Vec<u64>,
    pub(crate) out_of_order: Vec<u64>,
    pub(crate) zero_windows: Vec<u64>,
    pub(crate) rejected: Vec<u64>,
}

/// Notes a frame number while there is room.
pub(crate) fn note(list: &mut Vec<u64>, number: u64) {
    if list.len() < EXAMPLES {
        list.push(number);
    }
}

/// The count of segments and fates; what comes before the segment size is settled waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) segment: SegmentSize,
    pub(crate) multi: Multi,
    pub(crate) fates: Fates,
    early: Vec<Fate>,
    examples: Option<Box<Examples>>,
}

impl Tally {
    /// Examples, to add to.
    pub(crate) fn examples(&mut self) -> &mut Examples {
        self.examples.get_or_insert_default()
    }

    /// Examples, to take away.
    pub(crate) fn take_examples(&mut self) -> Examples {
        self.examples
            .take()
            .map(|examples| *examples)
            .unwrap_or_default()
    }

    /// Counts a data frame.
    #[inline]
    pub(crate) fn add(&mut self, payload: u32, number: u64) {
        match self.segment.add(payload, number) {
            Count::Later => {}
            Count::One(payload) => self.count(payload, number),
            Count::All(lengths) => self.settled(&lengths),
            Count::Correct { payload, earlier } => self.correct(payload, earlier),
        }
    }

    #[inline]
    fn count(&mut self, payload: u32, number: u64) {
        let segments = self.segment.size().map_or(1, |size| size.segments(payload));
        self.multi.segments += u64::from(segments);
        self.multi.histogram[bucket(segments)] += 1;
        if segments > 1 {
            self.count_multi(segments, number);
        }
    }

    #[inline]
    fn count_multi(&mut self, segments: u32, number: u64) {
        self.multi.frames += 1;
        self.multi.max = self.multi.max.max(segments);
        if self.multi.frames <= EXAMPLES as u64 {
            note(&mut self.examples().multi, number);
        }
    }

    fn settled(&mut self, lengths: &[(u32, u64)]) {
        for &(payload, number) in lengths {
            self.count(payload, number);
        }
        for fate in std::mem::take(&mut self.early) {
            self.tell(fate);
        }
    }

    /// Frames counted as two segments were one.
    fn correct(&mut self, payload: u32, earlier: u32) {
        let n = u64::from(earlier);
        self.multi.frames = self.multi.frames.saturating_sub(n);
        self.multi.segments = self.multi.segments.saturating_sub(n);
        self.multi.histogram[1] = self.multi.histogram[1].saturating_sub(earlier);
        self.multi.histogram[0] += earlier;
        if self.multi.frames == 0 {
            self.multi.max = 0;
            self.examples().multi.clear();
        }
        self.count(payload, 0);
    }

    /// Counts a fate.
    #[inline]
    pub(crate) fn tell(&mut self, fate: Fate) {
        if !self.segment.is_settled() {
            self.early.push(fate);
        } else if self.is_multi(fate.len) {
            self.fates.multi += 1;
            self.fates.multi_repeated += u32::from(fate.repeated);
            if fate.repeated {
                note(&mut self.examples().multi_repeated, fate.number);
            }
        } else {
            self.fates.single += 1;
            self.fates.single_repeated += u32::from(fate.repeated);
        }
    }

    /// Whether a frame with so much payload carries several segments, as far as known now.
    #[inline]
    pub(crate) fn is_multi(&self, payload: u32) -> bool {
        self.size().is_some_and(|size| size.segments(payload) > 1)
    }

    pub(crate) fn size(&self) -> Option<Size> {
        self.segment.size()
    }

    /// Settles the segment size, if it is not yet, and counts what waited for it.
    pub(crate) fn finish(&mut self) {
        let lengths = self.segment.settle();
        self.settled(&lengths);
    }
}

/// 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, more.
fn bucket(segments: u32) -> usize {
    (u32::BITS - segments.saturating_sub(1).leading_zeros()).min(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_powers_of_two() {
        let buckets = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000].map(bucket);
        assert_eq!(buckets, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
    }

    #[test]
    fn what_comes_before_the_size_is_known_is_counted_when_it_is() {
        let mut tally = Tally::default();
        tally.segment.set_bound(1448);
        tally.add(2896, 1);
        tally.tell(Fate {
            len: 2896,
            repeated: true,
            number: 1,
        });
        assert_eq!(tally.multi.frames, 0);
        tally.finish();
        assert_eq!(
            (tally.multi.frames, tally.multi.segments, tally.multi.max),
            (1, 2, 2)
        );
        assert_eq!((tally.fates.multi, tally.fates.multi_repeated), (1, 1));
        assert_eq!(tally.take_examples().multi_repeated, [1]);
    }
}
