//! The transmissions behind the oldest one, and those that wait for a D-SACK.

use std::collections::VecDeque;

use super::transmission::{Fate, Gone, Transmission};

/// A queue with room for more transmissions than this gives memory back when it is empty.
const MUCH: usize = 32;
/// Repeated transmissions that wait for a D-SACK before they count as lost.
const MAX_REPAIRED: usize = 32;

/// All of a direction's transmissions but the oldest one.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// In sequence order, none before the oldest one.
    pub(super) queue: VecDeque<Transmission>,
    /// Transmissions that were sent again and acknowledged.
    pub(super) repaired: VecDeque<Gone>,
}

impl Held {
    /// Takes an acknowledged transmission that had been sent again, or reported by SACK before.
    #[cold]
    pub(super) fn take_repeated(&mut self, gone: &Gone, settled: &mut impl FnMut(Fate)) {
        if !gone.fate.repeated {
            return settled(gone.fate);
        }
        let repaired = &mut self.repaired;
        if repaired.len() == MAX_REPAIRED
            && let Some(oldest) = repaired.pop_front()
        {
            settled(oldest.fate);
        }
        repaired.push_back(gone.clone());
    }

    /// Gives back the memory of a queue that was long.
    #[inline]
    pub(super) fn shrink(&mut self) {
        if self.queue.is_empty() && self.queue.capacity() > MUCH {
            self.queue.shrink_to(MUCH / 2);
        }
    }

    /// Inserts the new part of a transmission; false if nothing of it is new.
    pub(super) fn insert(&mut self, mut sent: Transmission) -> bool {
        let i = self.queue.partition_point(|old| old.start < sent.start);
        let before = i.checked_sub(1).and_then(|i| self.queue.get(i));
        let start = sent.start.max(before.map_or(0, Transmission::end));
        let end = sent
            .end()
            .min(self.queue.get(i).map_or(u64::MAX, |after| after.start));
        if start < end {
            sent.keep(start..end);
            self.queue.insert(i, sent);
        }
        start < end
    }

    pub(super) fn within(
        &mut self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = &mut Transmission> {
        let first = self.queue.partition_point(|sent| sent.end() <= start);
        let from = self.queue.range_mut(first..);
        from.take_while(move |sent| sent.start < end)
    }
}
