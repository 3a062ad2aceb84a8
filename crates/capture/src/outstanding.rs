//! First transmissions that are not acknowledged yet, and what became of those that were.

use std::collections::VecDeque;

use crate::frame::Frame;

/// Transmissions kept for one direction; the oldest is given up without a verdict.
const MAX_PER_FLOW: usize = 8192;
/// A direction may always keep this many, whatever the others hold.
const MIN_PER_FLOW: usize = 16;
/// Transmissions kept for one point in all: about 24 MiB.
const MAX_PER_POINT: usize = 512 * 1024;
/// Room for more transmissions than this is given back when none are left.
const MUCH: usize = 32;
/// Repeated transmissions that wait for a D-SACK before their loss is believed.
const MAX_REPAIRED: usize = 32;

/// What all connections of a point share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Common {
    /// Transmissions kept.
    used: usize,
    /// The capture has each frame twice.
    pub(crate) doubling: bool,
}

/// One first transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    pub(crate) number: u64,
    /// When these bytes were sent last.
    pub(crate) time_ns: i64,
    pub(crate) len: u32,
    pub(crate) signature: u32,
    /// How many of its bytes were sent again.
    pub(crate) repeated: u32,
}

impl Transmission {
    /// The whole of a frame.
    #[inline]
    pub(crate) fn new(frame: &Frame, start: u64, signature: u32) -> Self {
        Self {
            start,
            number: frame.number,
            time_ns: frame.time_ns,
            len: frame.payload,
            signature,
            repeated: 0,
        }
    }

    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// What became of a first transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) len: u32,
    /// All of it was sent again, and nothing says that this was unnecessary.
    pub(crate) repeated: bool,
    pub(crate) number: u64,
}

/// The transmissions of one direction, in sequence order, without overlaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    queue: VecDeque<Transmission>,
    /// Boxed, since most directions have none.
    #[expect(
        clippy::box_collection,
        reason = "8 bytes instead of 32, in every connection"
    )]
    repaired: Option<Box<VecDeque<(u64, Fate)>>>,
}

impl Outstanding {
    /// Adds a transmission of new bytes.
    #[inline]
    pub(crate) fn push(&mut self, sent: Transmission, common: &mut Common) {
        if self
            .queue
            .back()
            .is_some_and(|last| last.end() > sent.start)
        {
            self.make_room(common);
            return self.insert(sent, common);
        }
        self.push_last(sent, common);
    }

    /// Adds a transmission of bytes beyond all others.
    #[inline]
    pub(crate) fn push_last(&mut self, sent: Transmission, common: &mut Common) {
        if self.queue.len() >= MIN_PER_FLOW {
            self.make_room(common);
        }
        common.used += 1;
        self.queue.push_back(sent);
    }

    #[inline]
    fn make_room(&mut self, common: &mut Common) {
        let len = self.queue.len();
        if len >= MIN_PER_FLOW && (len >= MAX_PER_FLOW || common.used >= MAX_PER_POINT) {
            self.queue.pop_front();
            common.used -= 1;
        }
    }

    /// Adds what is new of a transmission that fills a hole.
    #[cold]
    fn insert(&mut self, mut sent: Transmission, common: &mut Common) {
        let i = self.queue.partition_point(|old| old.start < sent.start);
        let before = i.checked_sub(1).and_then(|i| self.queue.get(i));
        let start = sent.start.max(before.map_or(0, Transmission::end));
        let end = sent
            .end()
            .min(self.queue.get(i).map_or(u64::MAX, |after| after.start));
        if start < end {
            (sent.start, sent.len) = (start, (end - start) as u32);
            common.used += 1;
            self.queue.insert(i, sent);
        }
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        let ends = [self.queue.front(), self.queue.back()];
        ends.into_iter()
            .flatten()
            .fold(0, |sum, sent| sum ^ sent.start)
    }

    /// The transmission that began with this byte.
    pub(crate) fn starting_at(&self, start: u64) -> Option<&Transmission> {
        let i = self.queue.partition_point(|sent| sent.start < start);
        self.queue.get(i).filter(|sent| sent.start == start)
    }

    /// Notes that `start..end` was sent again; gives when the first of it was sent before.
    pub(crate) fn repeat(&mut self, start: u64, end: u64, now_ns: i64) -> Option<i64> {
        let mut before = None;
        let first = self.queue.partition_point(|sent| sent.end() <= start);
        for sent in self
            .queue
            .range_mut(first..)
            .take_while(|sent| sent.start < end)
        {
            before = before.or(Some(sent.time_ns));
            let again = (sent.end().min(end) - sent.start.max(start)) as u32;
            sent.repeated = sent.repeated.saturating_add(again);
            sent.time_ns = now_ns;
        }
        before
    }

    /// Takes off what is acknowledged, tells the fate of each, and gives the time at which the
    /// newest one that was never repeated had been sent (Karn's rule).
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        una: u64,
        common: &mut Common,
        mut tell: impl FnMut(Fate),
    ) -> Option<i64> {
        let mut clean = None;
        while let Some(sent) = self.queue.front().filter(|sent| sent.end() <= una).copied() {
            self.queue.pop_front();
            common.used = common.used.saturating_sub(1);
            if sent.repeated == 0 {
                clean = Some(sent.time_ns);
            }
            self.close(sent, &mut tell);
        }
        if self.queue.is_empty() && self.queue.capacity() > MUCH {
            self.queue.shrink_to(MUCH / 2);
        }
        clean
    }

    #[inline]
    fn close(&mut self, sent: Transmission, tell: &mut impl FnMut(Fate)) {
        let repeated = sent.repeated >= sent.len;
        let fate = Fate {
            len: sent.len,
            repeated,
            number: sent.number,
        };
        if !repeated {
            return tell(fate);
        }
        let repaired = self.repaired.get_or_insert_default();
        if repaired.len() == MAX_REPAIRED
            && let Some((_, oldest)) = repaired.pop_front()
        {
            tell(oldest);
        }
        repaired.push_back((sent.start, fate));
    }

    /// A D-SACK says that the receiver had these bytes already: repeating them was unnecessary,
    /// so the first transmission was not lost.
    pub(crate) fn was_spurious(&mut self, start: u64, end: u64) {
        let first = self.queue.partition_point(|sent| sent.end() <= start);
        for sent in self
            .queue
            .range_mut(first..)
            .take_while(|sent| sent.start < end)
        {
            sent.repeated = 0;
        }
        for (at, fate) in self
            .repaired
            .iter_mut()
            .flat_map(|repaired| repaired.iter_mut())
        {
            if *at < end && start < *at + u64::from(fate.len) {
                fate.repeated = false;
            }
        }
    }

    /// Ends it: tells the fates that waited. What is not acknowledged has none, but for what had
    /// to be sent again: that was lost at least once.
    pub(crate) fn finish(&mut self, common: &mut Common, mut tell: impl FnMut(Fate)) {
        common.used = common.used.saturating_sub(self.queue.len());
        for (_, fate) in std::mem::take(&mut self.repaired)
            .into_iter()
            .flat_map(|repaired| *repaired)
        {
            tell(fate);
        }
        for sent in std::mem::take(&mut self.queue) {
            if sent.repeated >= sent.len {
                tell(Fate {
                    len: sent.len,
                    repeated: true,
                    number: sent.number,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(start: u64, len: u32) -> Transmission {
        Transmission {
            start,
            number: start,
            time_ns: start as i64,
            len,
            signature: 0,
            repeated: 0,
        }
    }

    fn fates(outstanding: &mut Outstanding, una: u64) -> (Vec<Fate>, Option<i64>) {
        let mut fates = Vec::new();
        let clean = outstanding.acknowledge(una, &mut Common::default(), |fate| fates.push(fate));
        (fates, clean)
    }

    #[test]
    fn a_merged_frame_is_repeated_only_when_every_byte_of_it_is() {
        let mut o = Outstanding::default();
        o.push(sent(0, 3000), &mut Common::default());
        o.push(sent(3000, 3000), &mut Common::default());
        assert_eq!(o.repeat(0, 1000, 50), Some(0));
        assert_eq!(o.repeat(3000, 6000, 60), Some(3000));
        let (told, clean) = fates(&mut o, 6000);
        assert_eq!(
            told,
            [Fate {
                len: 3000,
                repeated: false,
                number: 0
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
                number: 3000
            }]
        );
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
        let all: Vec<_> = o
            .queue
            .iter()
            .map(|sent| (sent.start, sent.end()))
            .collect();
        assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{all:?}");
        assert_eq!(common.used, all.len());
    }

    #[test]
    fn a_d_sack_takes_the_loss_back() {
        let mut o = Outstanding::default();
        o.push(sent(0, 1000), &mut Common::default());
        o.repeat(0, 1000, 5);
        fates(&mut o, 1000);
        o.was_spurious(0, 1000);
        let mut late = Vec::new();
        o.finish(&mut Common::default(), |fate| late.push(fate.repeated));
        assert_eq!(late, [false]);
    }

    #[test]
    fn the_budget_bounds_all_but_the_first_few() {
        let mut common = Common {
            used: MAX_PER_POINT,
            doubling: false,
        };
        let mut o = Outstanding::default();
        for i in 0..100 {
            o.push(sent(i * 10, 10), &mut common);
        }
        assert_eq!(o.queue.len(), MIN_PER_FLOW);
    }
}
