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
/// Emptied queues kept for directions that need one: those that few directions at a time have are
/// in the cache already.
const MAX_SPARE: usize = 64;
/// Repeated transmissions that wait for a D-SACK before their loss is believed.
const MAX_REPAIRED: usize = 32;

/// What all connections of a point share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    /// Transmissions kept.
    used: usize,
    /// The capture has each frame twice.
    pub(crate) doubling: bool,
    /// There are so many connections that what they do not need goes to others.
    pub(crate) crowded: bool,
    #[expect(clippy::vec_box, reason = "what moves in and out are the boxes")]
    spare: Vec<Box<Held>>,
}

impl Common {
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

    /// Whether all of it was sent again.
    fn is_repeated(&self) -> bool {
        self.repeated >= self.len
    }

    fn fate(&self) -> Fate {
        Fate {
            len: self.len,
            repeated: self.is_repeated(),
            number: self.number,
        }
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

impl Fate {
    /// Whether the two need not be told apart, but for their numbers.
    #[inline]
    pub(crate) fn is_like(self, other: Self) -> bool {
        (self.len, self.repeated) == (other.len, other.repeated)
    }
}

/// The transmissions of one direction, in sequence order, without overlaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    /// None while there are no transmissions, as is so of most connections at any time, if there
    /// are many.
    held: Option<Box<Held>>,
}

#[derive(Clone, Debug, Default)]
struct Held {
    queue: VecDeque<Transmission>,
    /// Transmissions that were sent again and acknowledged.
    repaired: VecDeque<(u64, Fate)>,
}

impl Outstanding {
    /// Adds a transmission of new bytes.
    #[inline]
    pub(crate) fn push(&mut self, sent: Transmission, common: &mut Common) {
        let last = self.held.as_ref().and_then(|held| held.queue.back());
        if last.is_some_and(|last| last.end() > sent.start) {
            return self.insert(sent, common);
        }
        self.push_last(sent, common);
    }

    /// Adds a transmission of bytes beyond all others.
    #[inline]
    pub(crate) fn push_last(&mut self, sent: Transmission, common: &mut Common) {
        let held = self.held.get_or_insert_with(|| common.lend());
        held.make_room(common);
        common.used += 1;
        held.queue.push_back(sent);
    }

    /// Adds what is new of a transmission that fills a hole.
    #[cold]
    fn insert(&mut self, sent: Transmission, common: &mut Common) {
        if let Some(held) = &mut self.held {
            held.make_room(common);
            held.insert(sent, common);
        }
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.queue.len())
    }

    /// The same for what that leads to.
    pub(crate) fn touch_deeply(&self) -> u32 {
        let front = self.held.as_ref().and_then(|held| held.queue.front());
        front.map_or(0, |sent| sent.len)
    }

    /// The transmission that began with this byte.
    pub(crate) fn starting_at(&self, start: u64) -> Option<&Transmission> {
        let queue = &self.held.as_ref()?.queue;
        let i = queue.partition_point(|sent| sent.start < start);
        queue.get(i).filter(|sent| sent.start == start)
    }

    /// Notes that `start..end` was sent again; gives when the first of it was sent before.
    pub(crate) fn repeat(&mut self, start: u64, end: u64, now_ns: i64) -> Option<i64> {
        let mut before = None;
        for sent in self.held.as_mut()?.within(start, end) {
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
        tell: impl FnMut(Fate),
    ) -> Option<i64> {
        let held = self.held.as_mut()?;
        let clean = held.acknowledge(una, common, tell);
        if held.queue.is_empty() {
            if held.queue.capacity() > MUCH {
                held.queue.shrink_to(MUCH / 2);
            }
            if common.crowded {
                self.give_back(common);
            }
        }
        clean
    }

    fn give_back(&mut self, common: &mut Common) {
        if let Some(held) = self.held.take_if(|held| held.repaired.is_empty()) {
            common.give_back(held);
        }
    }

    /// A D-SACK says that the receiver had these bytes already: repeating them was unnecessary,
    /// so the first transmission was not lost.
    pub(crate) fn was_spurious(&mut self, start: u64, end: u64) {
        let Some(held) = &mut self.held else { return };
        held.within(start, end).for_each(|sent| sent.repeated = 0);
        for (at, fate) in &mut held.repaired {
            if *at < end && start < *at + u64::from(fate.len) {
                fate.repeated = false;
            }
        }
    }

    /// Ends it: tells the fates that waited. What is not acknowledged has none, but for what had
    /// to be sent again: that was lost at least once.
    pub(crate) fn finish(&mut self, common: &mut Common, mut tell: impl FnMut(Fate)) {
        let Some(held) = self.held.take() else { return };
        common.used = common.used.saturating_sub(held.queue.len());
        held.repaired.iter().for_each(|(_, fate)| tell(*fate));
        let lost = held.queue.iter().filter(|sent| sent.is_repeated());
        lost.for_each(|sent| tell(sent.fate()));
    }
}

impl Held {
    #[inline]
    fn make_room(&mut self, common: &mut Common) {
        let len = self.queue.len();
        if len >= MIN_PER_FLOW && (len >= MAX_PER_FLOW || common.used >= MAX_PER_POINT) {
            self.queue.pop_front();
            common.used -= 1;
        }
    }

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

    /// The transmissions that have bytes in a range.
    fn within(&mut self, start: u64, end: u64) -> impl Iterator<Item = &mut Transmission> {
        let first = self.queue.partition_point(|sent| sent.end() <= start);
        let from = self.queue.range_mut(first..);
        from.take_while(move |sent| sent.start < end)
    }

    #[inline]
    fn acknowledge(
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
            if sent.is_repeated() {
                self.wait_for_d_sack(sent, &mut tell);
            } else {
                tell(sent.fate());
            }
        }
        clean
    }

    #[cold]
    fn wait_for_d_sack(&mut self, sent: Transmission, tell: &mut impl FnMut(Fate)) {
        if self.repaired.len() == MAX_REPAIRED
            && let Some((_, oldest)) = self.repaired.pop_front()
        {
            tell(oldest);
        }
        self.repaired.push_back((sent.start, sent.fate()));
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
        let queue = o.held.unwrap().queue;
        let all: Vec<_> = queue.iter().map(|sent| (sent.start, sent.end())).collect();
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
            ..Common::default()
        };
        let mut o = Outstanding::default();
        for i in 0..100 {
            o.push(sent(i * 10, 10), &mut common);
        }
        assert_eq!(o.held.unwrap().queue.len(), MIN_PER_FLOW);
    }
}
