//! Frames of one direction by how many segments they carry, and what became of each sort.

mod odd;

use crate::lengths::Lengths;
use crate::outstanding::Fate;
use crate::passes::{Amid, Pass, Passes};
use crate::segment::{Count, SegmentSize, Size, WarmUp, is_full};
pub(crate) use odd::{Gaps, Odd};

/// Examples kept of each sort: ten to show, and one to show that there are more.
const EXAMPLES: usize = 11;

/// The segment size of Ethernet, while the true one is not known.
const MOST_COMMON: u32 = 1460;

/// Frames of several segments, merged or not segmented yet: the vantage decides later which. All other frames are
/// single and need no counting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Multi {
    pub(crate) frames: u64,
    /// Segments in them.
    pub(crate) segments: u64,
    pub(crate) max: u32,
    /// By segments: 2, 3-4, 5-8, 9-16, 17-32, 33-64, more.
    pub(crate) histogram: [u32; 7],
}

impl Multi {
    /// Segments in `data_frames` frames, which include the frames counted here.
    pub(crate) fn segments_of(&self, data_frames: u64) -> u64 {
        data_frames.saturating_sub(self.frames) + self.segments
    }
}

/// Fates of first transmissions, by sort.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fates {
    pub(crate) multi: u32,
    pub(crate) multi_repeated: u32,
    pub(crate) single: u32,
    pub(crate) single_repeated: u32,
    /// Of the single frames: those about as long as a segment.
    pub(crate) full: u32,
    pub(crate) full_repeated: u32,
}

/// State that most directions do not need.
#[derive(Clone, Debug, Default)]
struct Rare {
    odd: Odd,
    /// Without single frames that arrived.
    fates: Fates,
    multi: Multi,
    /// What became of frames of several segments, by length.
    by_length: Lengths,
    passes: Passes,
    examples: Examples,
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
        // Memory for all at once: where there is one example there are more.
        list.reserve_exact(EXAMPLES - list.len());
        list.push(number);
    }
}

/// What a payload is of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Less, or not known.
    Less,
    Full,
    /// Several segments.
    More,
}

/// Counts segments and fates; frames before the segment size is settled wait for it.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Tally {
    /// First transmissions of single frames, whatever became of them.
    single: u32,
    /// Of single frames, the ones about as long as a segment.
    full: u32,
    rare: Option<Box<Rare>>,
    pub(crate) segment: SegmentSize,
}

impl Tally {
    /// Reads the box, if there is one: see [`crate::table::Table::warm`].
    pub(crate) fn touch_box(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.multi.frames)
    }

    /// Examples, to add to.
    pub(crate) fn examples(&mut self) -> &mut Examples {
        &mut self.rare().examples
    }

    /// The rare counters.
    pub(crate) fn odd(&self) -> Odd {
        self.rare.as_ref().map(|rare| rare.odd).unwrap_or_default()
    }

    /// The rare counters, to change them.
    #[cold]
    pub(crate) fn note_odd(&mut self) -> &mut Odd {
        &mut self.rare().odd
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Fates of first transmissions.
    pub(crate) fn fates(&self) -> Fates {
        let rare = self.rare.as_ref().map(|rare| rare.fates);
        Fates {
            single: self.single,
            full: self.full,
            ..rare.unwrap_or_default()
        }
    }

    /// What became of frames of several segments, by length.
    pub(crate) fn by_length(&self) -> Lengths {
        let rare = self.rare.as_ref();
        rare.map(|rare| rare.by_length.clone()).unwrap_or_default()
    }

    /// Examples, if there are any.
    pub(crate) fn known_examples(&self) -> Option<&Examples> {
        self.rare.as_ref().map(|rare| &rare.examples)
    }

    /// Frames of several segments.
    pub(crate) fn multi(&self) -> Multi {
        self.rare
            .as_ref()
            .map(|rare| rare.multi)
            .unwrap_or_default()
    }

    /// Counts a data frame.
    #[inline(always)]
    pub(crate) fn add(&mut self, payload: u32, number: u64) {
        if !self.segment.is_surely_single(payload) && !self.segment.add_again(payload) {
            self.add_any(payload, number);
        }
    }

    /// Counts a data frame whose bytes were all sent before.
    #[cold]
    pub(crate) fn add_repeat(&mut self, payload: u32, number: u64) {
        let count = self.segment.add_repeat(payload, number);
        self.take(count, number);
    }

    #[inline(never)]
    fn add_any(&mut self, payload: u32, number: u64) {
        let count = self.segment.add(payload, number);
        self.take(count, number);
    }

    #[inline]
    fn take(&mut self, count: Count, number: u64) {
        match count {
            Count::Later => {}
            Count::One(payload) => self.count(payload, 1, number),
            Count::All(early) => self.settled(&early),
            Count::Correct { payload, earlier } => self.correct(payload, earlier),
        }
    }

    #[inline]
    fn count(&mut self, payload: u32, frames: u64, number: u64) {
        match self.segment.size() {
            Some(size) if payload > size.limit => match size.segments(payload) {
                1 => {}
                segments => self.count_multi(segments, frames, number),
            },
            None if payload > MOST_COMMON => {
                let longest = &mut self.note_odd().longest_unknown;
                *longest = payload.max(*longest);
            }
            _ => {}
        }
    }

    #[inline]
    fn count_multi(&mut self, segments: u32, frames: u64, number: u64) {
        let Rare {
            multi, examples, ..
        } = self.rare();
        multi.frames += frames;
        multi.segments += frames * u64::from(segments);
        multi.histogram[bucket(segments)] += frames as u32;
        multi.max = multi.max.max(segments);
        note(&mut examples.multi, number);
    }

    fn settled(&mut self, early: &WarmUp) {
        for length in early.lengths() {
            self.count(length.payload, u64::from(length.frames), length.first);
        }
        for (fate, times, last) in early.fates() {
            self.count_fates(fate, times);
            if fate.repeated && self.is_multi(fate.len) {
                self.rare().passes.lost(last, i64::MIN);
            }
        }
    }

    /// Corrects frames that were counted as two segments and were one.
    fn correct(&mut self, payload: u32, earlier: u32) {
        let n = u64::from(earlier);
        let Rare {
            multi, examples, ..
        } = self.rare();
        multi.frames = multi.frames.saturating_sub(n);
        multi.segments = multi.segments.saturating_sub(2 * n);
        multi.histogram[0] = multi.histogram[0].saturating_sub(earlier);
        if multi.frames == 0 {
            multi.max = 0;
            examples.multi.clear();
        }
        self.count(payload, 1, 0);
    }

    /// Counts a fate.
    #[inline(always)]
    pub(crate) fn count_fate(&mut self, fate: Fate) {
        if !fate.repeated && self.segment.is_surely_single(fate.len) {
            self.single += 1;
            self.full += u32::from(self.segment.is_full(fate.len));
        } else {
            self.count_any(fate);
        }
    }

    #[inline(never)]
    fn count_any(&mut self, fate: Fate) {
        if !self.segment.keep_fate(fate) {
            self.count_fates(fate, 1);
        }
    }

    fn count_fates(&mut self, fate: Fate, times: u32) {
        let is_multi = self.is_multi(fate.len);
        if !is_multi {
            self.single += times;
            self.full += times * u32::from(self.segment.is_full(fate.len));
        }
        if is_multi || fate.repeated {
            self.count_rare_fate(fate, times, is_multi);
        }
    }

    /// Counts a retransmitted frame; `in_vain` if an earlier retransmission had not helped.
    pub(crate) fn retry(&mut self, payload: u32, pass: Pass, in_vain: bool) {
        let size = self.largest_segment();
        let is_full = size.is_some_and(|size| payload <= size && is_full(payload, size));
        let odd = self.note_odd();
        odd.retried += u32::from(is_full);
        odd.retried_in_vain += u32::from(is_full && in_vain);
        match (is_full || self.spares(payload), in_vain) {
            (true, false) => self.rare().passes.arrived(pass),
            (true, true) => self.rare().passes.arrived_only_now(pass),
            (false, _) => {}
        }
    }

    /// Whether frames of several segments are lost, but only longer ones than this one.
    fn spares(&self, payload: u32) -> bool {
        let rare = self.rare.as_ref();
        self.is_multi(payload) && rare.is_some_and(|rare| rare.by_length.spares(payload))
    }

    /// Where full frames that were sent again arrived, while frames of several segments were being lost, none of
    /// which was sent before this time.
    pub(crate) fn amid(&self, begin_ns: i64) -> Amid {
        let rare = self.rare.as_ref();
        // One that was sent again may have been lost, too, if nothing of these bytes followed.
        let amid = rare.map(|rare| rare.passes.amid(2)).unwrap_or_default();
        Amid {
            last_lost_ns: amid.last_lost_ns.map(|last| last.max(begin_ns)),
            ..amid
        }
    }

    /// Whether a frame with so much payload carries one segment; also true while the segment size is not known.
    pub(crate) fn is_one_segment(&self, payload: u32) -> bool {
        self.part_of_segment(payload) != Part::More
    }

    /// What a payload is of a segment, as far as known now.
    pub(crate) fn part_of_segment(&self, payload: u32) -> Part {
        match self.largest_segment() {
            Some(size) if payload > size => Part::More,
            Some(size) if is_full(payload, size) => Part::Full,
            _ => Part::Less,
        }
    }

    fn count_rare_fate(&mut self, fate: Fate, times: u32, is_multi: bool) {
        let is_full = !is_multi && self.segment.is_full(fate.len);
        let Rare {
            fates,
            examples,
            by_length,
            passes,
            ..
        } = self.rare();
        let repeated = times * u32::from(fate.repeated);
        if !is_multi {
            fates.single_repeated += repeated;
            fates.full_repeated += repeated * u32::from(is_full);
            return;
        }
        fates.multi += times;
        fates.multi_repeated += repeated;
        if !fate.repeated && fates.multi_repeated > 0 && by_length.spares(fate.len) {
            passes.spared(fate.start);
        }
        by_length.add(fate.len, times - repeated, repeated);
        if fate.repeated {
            note(&mut examples.multi_repeated, fate.number);
            passes.lost(fate.start, i64::MIN);
        }
    }

    /// Bytes of a segment, or the most common size while the size is not known.
    #[inline]
    pub(crate) fn segment_bytes(&self) -> u64 {
        u64::from(self.size().map_or(MOST_COMMON, |size| size.bytes))
    }

    /// Whether so many bytes fill two segments: a receiver acknowledges at least every second segment at once (RFC
    /// 5681, 4.2).
    #[inline]
    pub(crate) fn is_two_segments(&self, bytes: u64) -> bool {
        bytes >= 2 * self.segment_bytes()
    }

    /// Whether a frame with so much payload carries several segments, as far as known now.
    #[inline]
    pub(crate) fn is_multi(&self, payload: u32) -> bool {
        self.size().is_some_and(|size| size.segments(payload) > 1)
    }

    /// Payload of the largest segment that the sender may have sent so far, if that is known.
    pub(crate) fn largest_segment(&self) -> Option<u32> {
        let fell = self.size().is_some_and(|size| size.before.is_some());
        let settled = self.size().map(|size| size.limit).filter(|_| !fell);
        let Some(bound) = self.segment.bound() else {
            return settled;
        };
        // A size far below the bound of the SYNs is the path's; else it may be the result of a router's "packet too
        // big".
        settled
            .filter(|size| *size < bound - bound / 7)
            .or(Some(bound))
    }

    pub(crate) fn size(&self) -> Option<Size> {
        self.segment.size()
    }

    /// Settles the segment size, if it is not yet, and counts what waited for it.
    pub(crate) fn finish(&mut self) {
        let early = self.segment.settle();
        self.settled(&early);
    }
}

/// Index of the class: 2, 3-4, 5-8, 9-16, 17-32, 33-64, more.
fn bucket(segments: u32) -> usize {
    (segments.saturating_sub(1).max(1).ilog2()).min(6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_powers_of_two() {
        let buckets = [2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000].map(bucket);
        assert_eq!(buckets, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }

    #[test]
    fn a_segment_is_as_large_as_the_syns_allow_until_the_path_shows_a_smaller_one() {
        let mut tally = Tally::default();
        assert_eq!(tally.largest_segment(), None);
        tally.segment.set_bound(8948);
        assert_eq!(tally.largest_segment(), Some(8948));
        (0..64).for_each(|number| tally.add(1448 * (1 + number as u32 % 3), number));
        tally.finish();
        assert!(tally.largest_segment() < Some(1500));
        tally.segment.set_bound(1460);
        assert_eq!(tally.largest_segment(), Some(1460));
    }

    /// One long frame among many short ones is as long as it is.
    #[test]
    fn the_longest_frame_of_an_unknown_segment_size_is_known() {
        let mut tally = Tally::default();
        (0..10).for_each(|number| tally.add(100, number));
        tally.add(10_396, 10);
        tally.finish();
        assert_eq!((tally.size(), tally.multi().frames), (None, 0));
        assert_eq!(tally.odd().longest_unknown, 10_396);
    }

    #[test]
    fn what_comes_before_the_size_is_known_is_counted_when_it_is() {
        let mut tally = Tally::default();
        tally.segment.set_bound(1448);
        tally.add(2896, 1);
        tally.count_fate(Fate {
            len: 2896,
            repeated: true,
            number: 1,
            start: 0,
        });
        assert_eq!(tally.multi().frames, 0);
        tally.finish();
        assert_eq!(
            (
                tally.multi().frames,
                tally.multi().segments,
                tally.multi().max
            ),
            (1, 2, 2)
        );
        assert_eq!((tally.fates().multi, tally.fates().multi_repeated), (1, 1));
        assert_eq!(tally.known_examples().unwrap().multi_repeated, [1]);
    }
}
