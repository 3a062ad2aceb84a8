//! First transmissions that are not acknowledged yet, and what became of the acknowledged ones.

mod held;
mod resent;
mod times;
mod transmission;

use std::ops::Range;

use crate::doubled::{Copies, Place};
use held::Held;
use times::Times;
pub(crate) use transmission::{Fate, Transmission};

/// Transmissions kept for one direction; the oldest is given up without a verdict.
const MAX_PER_FLOW: usize = 8192;
/// A direction may always keep this many, whatever the others hold.
const MIN_PER_FLOW: usize = 16;
/// Transmissions kept for one point in all: 16 MiB of 32 bytes each, and up to as much again where queues have just grown.
pub(crate) const MAX_PER_POINT: usize = 512 * 1024;
/// Empty queues kept for reuse: few directions need a queue at any time, and a queue used a moment ago is still in the
/// CPU cache.
const MAX_SPARE: usize = 64;

/// What all connections of a point share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    /// Transmissions kept.
    used: usize,
    /// Frames are captured twice as a rule.
    pub(crate) doubling: bool,
    /// The last frames, to find copies.
    pub(crate) copies: Copies,
    /// There are so many connections that queues which are not needed go to other connections.
    pub(crate) crowded: bool,
    #[expect(clippy::vec_box, reason = "what moves in and out are the boxes")]
    spare: Vec<Box<Held>>,
}

impl Common {
    /// Transmissions kept.
    pub(crate) fn waiting(&self) -> usize {
        self.used
    }

    #[inline(never)]
    fn lend(&mut self) -> Box<Held> {
        self.spare.pop().unwrap_or_default()
    }

    fn give_back(&mut self, held: Box<Held>) {
        if self.spare.len() < MAX_SPARE {
            self.spare.push(held);
        }
    }
}

/// What had become of bytes before they are sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// When the first of them was sent.
    pub(crate) time_ns: Option<i64>,
    /// All of them had been sent again before, in frames of one segment, without success.
    pub(crate) in_vain: bool,
}

/// A frame all of whose bytes were new.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) start: u64,
    pub(crate) len: u32,
    /// Where it is remembered.
    pub(crate) place: Place,
}

/// The transmissions of one direction, in sequence order, without overlaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    /// The oldest transmission, here or in the queue: with many connections most have no more than one at any time.
    /// Empty if its length is 0.
    first: Transmission,
    /// With many connections: `None` while the queue would be empty.
    held: Option<Box<Held>>,
}

impl Outstanding {
    /// Adds a transmission of new bytes.
    #[inline]
    pub(crate) fn push(&mut self, sent: Transmission, common: &mut Common) {
        let newest = self.newest();
        if newest.len > 0 && newest.end() > sent.start {
            return self.insert(sent, common);
        }
        self.push_last(sent, common);
    }

    /// The transmission of the newest data; its length is 0 if there is none.
    #[inline]
    pub(crate) fn newest(&self) -> &Transmission {
        let queued = self.held.as_ref().and_then(|held| held.queue.back());
        queued.unwrap_or(&self.first)
    }

    /// Adds a transmission of bytes beyond all others.
    #[inline(always)]
    pub(crate) fn push_last(&mut self, sent: Transmission, common: &mut Common) {
        common.used += 1;
        let queued = self.held.as_ref().map_or(0, |held| held.queue.len());
        if queued == 0 && self.first.len == 0 {
            self.first = sent;
            return;
        }
        if queued + 1 >= MIN_PER_FLOW {
            self.make_room(common);
        }
        let held = self.held.get_or_insert_with(|| common.lend());
        held.queue.push_back(sent);
    }

    /// Gives up the oldest transmission if there is no room for another one.
    #[inline(never)]
    fn make_room(&mut self, common: &mut Common) {
        let len = self.len();
        if len >= MIN_PER_FLOW && (len >= MAX_PER_FLOW || common.used > MAX_PER_POINT) {
            self.give_up_oldest();
            common.used -= 1;
        }
    }

    fn len(&self) -> usize {
        let queued = self.held.as_ref().map_or(0, |held| held.queue.len());
        queued + usize::from(self.first.len > 0)
    }

    fn give_up_oldest(&mut self) {
        if self.first.len > 0 {
            self.first.len = 0;
        } else if let Some(held) = &mut self.held {
            held.queue.pop_front();
        }
    }

    /// Adds the new part of a transmission that fills a hole.
    #[cold]
    fn insert(&mut self, sent: Transmission, common: &mut Common) {
        common.used += 1;
        self.make_room(common);
        let held = self.held.get_or_insert_with(|| common.lend());
        if self.first.len > 0 {
            held.queue.push_front(std::mem::take(&mut self.first));
        }
        if !held.insert(sent) {
            common.used -= 1;
        }
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.first.len)
    }

    /// Like [`Self::touch`], for the box that the struct points to.
    pub(crate) fn touch_box(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.queue.len() as u64)
    }

    /// Like [`Self::touch`], for the queue in that box.
    pub(crate) fn touch_deeply(&self) -> u64 {
        let Some(held) = &self.held else { return 0 };
        let ends = [held.queue.front(), held.queue.back()];
        let ends = ends.map(|sent| sent.map_or(0, |sent| sent.start));
        ends[0] ^ ends[1]
    }

    /// Where the frame is remembered that first brought the byte at a position, if that byte is not acknowledged.
    pub(crate) fn place_of(&mut self, position: u64) -> Option<Place> {
        let sent = self.within(position, position + 1).next()?;
        sent.place()
    }

    /// The frame that first brought the byte at a position, if that byte is not acknowledged and all of the frame's were new.
    pub(crate) fn whole_at(&mut self, position: u64) -> Option<Whole> {
        let sent = self.within(position, position + 1).next()?;
        Some(Whole {
            start: sent.start,
            len: sent.len,
            place: sent.place()?,
        })
    }

    /// The transmissions that have bytes in a range.
    fn within(&mut self, start: u64, end: u64) -> impl Iterator<Item = &mut Transmission> {
        let first = (self.first.len > 0).then_some(&mut self.first);
        let first = first.filter(|sent| sent.start < end && sent.end() > start);
        let held = self.held.iter_mut();
        let queued = held.flat_map(move |held| held.within(start, end));
        first.into_iter().chain(queued)
    }

    /// Notes that a range was sent again, in a frame of one segment or of several.
    pub(crate) fn repeat(&mut self, range: Range<u64>, now_ns: i64, alone: bool) -> Before {
        let mut before = Before::default();
        for sent in self.within(range.start, range.end) {
            before.time_ns = before.time_ns.or(Some(sent.time_ns));
            before.in_vain |= sent.repeat(&range, now_ns, alone);
        }
        before
    }

    /// Removes acknowledged transmissions and settles the fate of each. Returns when the newest transmission that was
    /// never repeated was sent (Karn's rule), and whether the ACK waited for an older one that was sent later, into a
    /// hole: then the newest may have arrived long before (Linux `tcp_clean_rtx_queue` takes no round trip from an ACK
    /// of retransmitted data).
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        una: u64,
        common: &mut Common,
        mut settled: impl FnMut(Fate),
    ) -> Option<(i64, bool)> {
        let mut times = Times::default();
        if self.first.len > 0 {
            if self.first.end() > una {
                return None;
            }
            // The fate of a retransmitted segment waits: a D-SACK after this ACK may still clear the first transmission.
            match times.note(&self.first) {
                Some(fate) => settled(fate),
                None => self.take_first_repeated(&mut settled),
            }
            self.first.len = 0;
        }
        if let Some(held) = &mut self.held {
            while let Some(sent) = held.queue.front()
                && sent.end() <= una
            {
                match times.note(sent) {
                    Some(fate) => settled(fate),
                    None => held.take_repeated(&sent.gone(), &mut settled),
                }
                held.queue.pop_front();
            }
            held.shrink();
        }
        common.used = common.used.saturating_sub(times.count);
        times.newest_clean()
    }

    #[cold]
    fn take_first_repeated(&mut self, settled: &mut impl FnMut(Fate)) {
        let held = self.held.get_or_insert_default();
        held.take_repeated(&self.first.gone(), settled);
    }

    /// Removes the oldest transmissions that were last sent before this time, and reports the fate of each.
    pub(crate) fn settle_sent_before(
        &mut self,
        time_ns: i64,
        common: &mut Common,
        mut settled: impl FnMut(Fate),
    ) {
        while let Some(sent) = self.take_sent_before(time_ns) {
            common.used = common.used.saturating_sub(1);
            settled(sent.fate());
        }
    }

    fn take_sent_before(&mut self, time_ns: i64) -> Option<Transmission> {
        if self.first.len > 0 {
            let is_old = self.first.time_ns < time_ns;
            return is_old.then(|| std::mem::take(&mut self.first));
        }
        let queue = &mut self.held.as_mut()?.queue;
        queue.pop_front_if(|sent| sent.time_ns < time_ns)
    }

    /// Removes and returns the oldest transmission if it is acknowledged.
    fn take_acknowledged(&mut self, una: u64) -> Option<Transmission> {
        if self.first.len > 0 {
            let is_acknowledged = self.first.end() <= una;
            return is_acknowledged.then(|| std::mem::take(&mut self.first));
        }
        let queue = &mut self.held.as_mut()?.queue;
        queue.pop_front_if(|sent| sent.end() <= una)
    }

    /// Gives an empty queue to other connections, when no more frames are expected soon.
    #[inline]
    pub(crate) fn rest(&mut self, common: &mut Common) {
        let is_empty = |held: &mut Box<Held>| held.queue.is_empty() && held.repaired.is_empty();
        if let Some(held) = self.held.take_if(is_empty) {
            common.give_back(held);
        }
    }

    /// Takes a D-SACK: the receiver had these bytes already, so repeating them once was unnecessary. If they were
    /// repeated only once, the first transmission was not lost.
    pub(crate) fn was_spurious(&mut self, start: u64, end: u64) {
        self.within(start, end)
            .for_each(|sent| sent.take_back(start, end));
        let Some(held) = &mut self.held else { return };
        for gone in &mut held.repaired {
            gone.take_back(start, end);
        }
    }

    /// Whether there are frames with such bytes, and of each of them some bytes were sent again.
    pub(crate) fn was_repeated(&mut self, start: u64, end: u64) -> bool {
        let mut frames = self.within(start, end).peekable();
        frames.peek().is_some() && frames.all(|sent| sent.again.bytes() > 0)
    }

    /// Takes a report of bytes beyond a hole: those that were not sent again before have arrived. A range grows at its
    /// ends, so that frames behind one that is known to have arrived were looked at before.
    pub(crate) fn arrived(&mut self, start: u64, end: u64) {
        let is_news = |sent: &mut Transmission| sent.again.arrive();
        if self.first.start < end && start < self.first.end() {
            self.first.again.arrive();
        }
        let Some(held) = &mut self.held else { return };
        let from = held.queue.partition_point(|sent| sent.end() <= start);
        let to = held.queue.partition_point(|sent| sent.start < end);
        let last = held.queue.range_mut(from..to.max(from)).rev();
        last.map(is_news).take_while(|news| *news).count();
        let first = held.queue.range_mut(from..to.max(from));
        first.map(is_news).take_while(|news| *news).count();
    }

    /// For a capture without acknowledgments: data below the last repair that was not repaired itself has arrived,
    /// since a sender repairs the lowest data first (RFC 5681, 3.1; RFC 6675, 4).
    pub(crate) fn settle_unrepaired(&mut self, common: &mut Common, mut settled: impl FnMut(Fate)) {
        let held = self.held.as_ref();
        let all = held.into_iter().flat_map(|held| &held.queue);
        let all = std::iter::once(&self.first).chain(all);
        let repaired = all.filter(|sent| sent.len > 0 && sent.is_repeated());
        let Some(last) = repaired.map(|sent| sent.start).max() else {
            return;
        };
        while let Some(sent) = self.take_acknowledged(last) {
            common.used = common.used.saturating_sub(1);
            settled(sent.fate());
        }
    }

    /// Reports at the end the fates that waited. Transmissions that were not acknowledged have none, except for those
    /// that had to be sent again: these were lost at least once.
    pub(crate) fn finish(&mut self, common: &mut Common, mut settled: impl FnMut(Fate)) {
        common.used = common.used.saturating_sub(self.len());
        let (first, held) = (std::mem::take(&mut self.first), self.held.take());
        let repaired = held.iter().flat_map(|held| &held.repaired);
        repaired.for_each(|gone| settled(gone.fate));
        let queued = held.iter().flat_map(|held| &held.queue);
        let lost = std::iter::once(&first).chain(queued);
        let lost = lost.filter(|sent| sent.len > 0 && sent.is_repeated());
        lost.for_each(|sent| settled(sent.fate()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(start: u64, len: u32) -> Transmission {
        Transmission::numbered(start, len)
    }

    fn fates(outstanding: &mut Outstanding, una: u64) -> (Vec<Fate>, Option<(i64, bool)>) {
        let mut fates = Vec::new();
        let clean = outstanding.acknowledge(una, &mut Common::default(), |fate| fates.push(fate));
        (fates, clean)
    }

    #[test]
    fn a_merged_frame_is_repeated_only_when_every_byte_of_it_is() {
        let mut o = Outstanding::default();
        o.push(sent(0, 3000), &mut Common::default());
        o.push(sent(3000, 3000), &mut Common::default());
        assert_eq!(o.repeat(0..1000, 50, true).time_ns, Some(0));
        let before = o.repeat(3000..6000, 60, true);
        assert_eq!((before.time_ns, before.in_vain), (Some(3000), false));
        let (fates, clean) = fates(&mut o, 6000);
        assert_eq!(
            fates,
            [Fate {
                len: 3000,
                repeated: false,
                number: 0,
                start: 0,
            }]
        );
        assert_eq!(clean, None);
        let mut late = Vec::new();
        o.finish(&mut Common::default(), |fate| late.push(fate));
        assert_eq!(
            late,
            [Fate {
                len: 3000,
                repeated: true,
                number: 3000,
                start: 3000,
            }]
        );
    }

    /// A repeat and what is new behind it, merged: lost as one frame, which is none of a single segment.
    #[test]
    fn a_frame_that_begins_with_a_repeat_is_as_long_as_it_is() {
        let mut o = Outstanding::default();
        let common = &mut Common::default();
        o.push(sent(0, 1000), common);
        o.repeat(0..1000, 5, true);
        o.push(sent(1000, 2000).without(1000), common);
        let (mut fates, _) = fates(&mut o, 2000);
        o.finish(common, |fate| fates.push(fate));
        let lengths: Vec<_> = fates.iter().map(|fate| (fate.len, fate.number)).collect();
        assert_eq!(lengths, [(2000, 1000), (1000, 0)]);
    }

    /// Go-back-N without SACK: each repair acknowledges what had come long before it.
    #[test]
    fn an_acknowledgment_that_waited_for_a_repair_is_known() {
        let mut o = Outstanding::default();
        let common = &mut Common::default();
        (0..4).for_each(|i| o.push(sent(i * 10, 10), common));
        assert_eq!(fates(&mut o, 10).1, Some((0, false)));
        o.repeat(10..20, 500, true);
        assert_eq!(fates(&mut o, 40).1, Some((30, true)));
    }

    /// From behind the loss a repair is new, and comes later than what lies behind it.
    #[test]
    fn what_filled_a_hole_came_after_what_it_acknowledges() {
        let mut o = Outstanding::default();
        let common = &mut Common::default();
        o.push(sent(10, 10), common);
        let mut late = sent(0, 10);
        late.time_ns = 500;
        o.push(late, common);
        assert_eq!(fates(&mut o, 20).1, Some((10, true)));
    }

    #[test]
    fn what_is_sent_a_third_time_was_repeated_in_vain() {
        let mut o = Outstanding::default();
        o.push(sent(0, 3000), &mut Common::default());
        let tries = [(0, 1000), (1000, 2000), (2000, 3000), (1000, 2000)];
        let in_vain = tries.map(|(start, end)| o.repeat(start..end, 5, true).in_vain);
        assert_eq!(in_vain, [false, false, false, false]);
        assert!(o.repeat(1000..2000, 6, true).in_vain);
    }

    /// Merged, lost and sent again in vain as it was, then segment by segment: each of these arrives at the first try.
    #[test]
    fn the_second_half_of_a_frame_is_no_second_try_of_the_first() {
        let mut o = Outstanding::default();
        o.push(sent(0, 2896), &mut Common::default());
        let tries = [(0, 2896, false), (0, 1448, true), (1448, 2896, true)];
        let in_vain = tries.map(|(start, end, alone)| o.repeat(start..end, 5, alone).in_vain);
        assert_eq!(in_vain, [false; 3]);
        assert!(o.repeat(1448..2896, 6, true).in_vain);
    }

    /// That two segments sent again were lost together says nothing of one.
    #[test]
    fn what_was_repeated_with_others_was_not_repeated_alone() {
        let mut o = Outstanding::default();
        o.push(sent(0, 1000), &mut Common::default());
        let tries = [false, true, true].map(|alone| o.repeat(0..1000, 5, alone).in_vain);
        assert_eq!(tries, [false, false, true]);
    }

    /// One direction alone: of ten frames the fifth was sent again, and what lies beyond may be sent again yet.
    #[test]
    fn what_lies_below_a_repair_needed_none() {
        let mut o = Outstanding::default();
        let common = &mut Common::default();
        (0..10).for_each(|i| o.push(sent(i * 10, 10), common));
        o.repeat(40..50, 500, true);
        let mut fates = Vec::new();
        o.settle_unrepaired(common, |fate| fates.push(fate.repeated));
        o.finish(common, |fate| fates.push(fate.repeated));
        assert_eq!(fates, [false, false, false, false, true]);
    }

    #[test]
    fn transmissions_never_overlap() {
        let mut o = Outstanding::default();
        let common = &mut Common::default();
        for (start, len) in [
            (0, 100),
            (300, 100),
            (50, 200),
            (10, 20),
            (90, 400),
            (500, 10),
        ] {
            o.push(sent(start, len), common);
        }
        let queue = o.held.unwrap().queue;
        let all: Vec<_> = queue.iter().map(|sent| (sent.start, sent.end())).collect();
        assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{all:?}");
        assert_eq!(common.used, all.len());
    }

    #[test]
    fn a_d_sack_takes_the_loss_back() {
        let mut o = Outstanding::default();
        o.push(sent(0, 1000), &mut Common::default());
        o.repeat(0..1000, 5, true);
        fates(&mut o, 1000);
        o.was_spurious(0, 1000);
        let mut late = Vec::new();
        o.finish(&mut Common::default(), |fate| late.push(fate.repeated));
        assert_eq!(late, [false]);
    }

    /// The repair arrived, its acknowledgment was lost, and it was sent once more.
    #[test]
    fn a_d_sack_takes_back_one_of_two_repeats() {
        for told_before in [true, false] {
            let mut o = Outstanding::default();
            o.push(sent(0, 2000), &mut Common::default());
            for range in [0..1000, 0..1000, 1000..2000] {
                o.repeat(range, 5, true);
            }
            if told_before {
                o.was_spurious(0, 1000);
            }
            fates(&mut o, 2000);
            if !told_before {
                o.was_spurious(0, 1000);
            }
            let mut late = Vec::new();
            o.finish(&mut Common::default(), |fate| late.push(fate.repeated));
            assert_eq!(late, [true], "{told_before}");
        }
    }

    #[test]
    fn the_budget_bounds_all_but_the_first_few() {
        let mut common = Common {
            used: MAX_PER_POINT,
            ..Common::default()
        };
        let mut o = Outstanding::default();
        for i in 0..100 {
            o.push(sent(i * 10, 10), &mut common);
        }
        assert_eq!(o.len(), MIN_PER_FLOW);
    }
}
