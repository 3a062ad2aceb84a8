//! Takes frames into, and sends frames out of, a table that is in no cache: its entries are prefetched.

use coalescope_wire::{LinkType, Work};

use super::{Engine, Incoming};
use crate::merge::ahead::fetch_many;
use crate::merge::plain::{ALL, hash, version};
use crate::payload::store::{Outlet, Store};
use crate::reason::Reason;

/// Frames for which the table is prefetched at a time. 16, 32, 48 and 64 all measured alike.
const CHUNK: usize = 32;

/// Number of earlier frames looked up in the index from which on look-ups of the next frames count as likely: where
/// each frame goes to the slot that follows the last one's, prefetching would only cost time.
const SOUGHT: u32 = 8;

/// Frames that are prefetched ahead while held ones go up.
const FLUSHED_AHEAD: usize = 4;

/// A batch on its way through an engine for which [`Engine::is_far`] is true.
pub(crate) struct PushFar<'a, S, I, A, O> {
    pub(crate) engine: &'a mut Engine<S>,
    pub(crate) frames: I,
    /// The same frames, once more.
    pub(crate) ahead: A,
    pub(crate) now: u64,
    pub(crate) out: &'a mut O,
}

impl<'f, S, I, A, O> Work for PushFar<'_, S, I, A, O>
where
    S: Store,
    I: Iterator<Item = (&'f [u8], S::Token)>,
    A: Iterator<Item = &'f [u8]> + Clone,
    O: Outlet<S>,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            engine,
            frames,
            ahead,
            now,
            out,
        } = self;
        match engine.short {
            Some(LinkType::Ethernet) => engine.push_far::<14>(frames, ahead, now, out),
            _ => engine.push_far::<0>(frames, ahead, now, out),
        }
    }
}

impl<S: Store> Engine<S> {
    /// Whether it pays to prefetch held frames: the table is large, and no payload is read.
    pub(crate) fn is_far(&self) -> bool {
        self.table.is_large() && self.short.is_some() && !self.rules.check_tcp
    }

    /// Takes frames in, one after the other; `ahead` iterates over the same frames.
    #[inline(always)]
    fn push_far<'f, const LINK: usize>(
        &mut self,
        mut frames: impl Iterator<Item = (&'f [u8], S::Token)>,
        mut ahead: impl Iterator<Item = &'f [u8]> + Clone,
        now: u64,
        out: &mut impl Outlet<S>,
    ) {
        let seeks = self.table.take_sought() > SOUGHT;
        let mut taken = CHUNK;
        while taken == CHUNK {
            let chunk = ahead.clone().take(CHUNK);
            fetch_many(chunk.clone());
            if seeks {
                self.fetch_held_of::<LINK>(chunk);
            }
            taken = 0;
            for (frame, token) in frames.by_ref().take(CHUNK) {
                taken += 1;
                ahead.next();
                self.push_behind::<LINK, ALL>(Incoming { frame, token, now }, out);
            }
        }
    }

    /// Prefetches the held frames of the flows of some frames, or their free slots: each step for all frames, so that
    /// all loads of a step are in flight at once.
    #[inline(always)]
    fn fetch_held_of<'f, const LINK: usize>(&self, frames: impl Iterator<Item = &'f [u8]>) {
        let mut entries = [None; CHUNK];
        for (entry, frame) in entries.iter_mut().zip(frames) {
            *entry = self
                .hash_of::<LINK>(frame)
                .map(|hash| self.table.fetch_entry(hash));
        }
        let mut starts = 0;
        let slots = entries.map(|entry| {
            let slot = self.table.first(entry?).or_else(|| {
                starts += 1;
                self.table.free_after(starts - 1)
            });
            slot.inspect(|&slot| self.fetch_held(slot))
        });
        slots
            .into_iter()
            .flatten()
            .for_each(|slot| self.store.fetch_next(slot));
    }

    /// The hash of a frame that may be plain.
    #[inline(always)]
    fn hash_of<const LINK: usize>(&self, frame: &[u8]) -> Option<u64> {
        let head = frame.first_chunk()?;
        match version::<LINK>(head) {
            4 => Some(hash::<LINK, 20>(head, self.settings.seed)),
            6 => Some(hash::<LINK, 40>(head, self.settings.seed)),
            _ => None,
        }
    }

    fn fetch_held(&self, slot: u32) {
        if let Some(held) = self.table.slots.get(slot as usize) {
            held.fetch();
            self.store.fetch_slot(slot);
        }
    }

    /// Sends up all held frames.
    #[inline(never)]
    pub(super) fn flush_far(&mut self, reason: Reason, out: &mut impl Outlet<S>) {
        self.table.empty_index();
        for bucket in 0..self.table.buckets() {
            let mut ahead = self.table.oldest(bucket);
            for _ in 0..FLUSHED_AHEAD {
                ahead = self.fetch_newer(ahead);
            }
            while let Some(slot) = self.table.oldest(bucket) {
                ahead = self.fetch_newer(ahead);
                self.table.slots[slot as usize].open = false;
                self.emit(slot, reason, out);
            }
        }
    }

    /// Prefetches the frame that came after one in its bucket, and returns its slot.
    fn fetch_newer(&self, slot: Option<u32>) -> Option<u32> {
        let newer = self.table.newer(slot?);
        newer.inspect(|&slot| self.fetch_held(slot))
    }
}
