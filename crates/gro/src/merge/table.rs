//! Held frames: found by flow, and ordered by age.

use alloc::vec::Vec;
use core::mem::size_of;

use coalescope_wire::{prefetch_head, prefetch_value};

use crate::frame::held::{Held, NONE, Place};
use crate::profile;

/// Size of a processor's own caches: more than one to two megabytes of the second-level cache, since some of the table
/// is used more than the rest.
const OWN_CACHE: usize = 4 << 20;

/// Entries of the index in two cache lines: emptying them takes less time than waiting for one line.
const ENTRIES: usize = 32;

/// Held frames of one bucket, by age.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    oldest: u32,
    newest: u32,
    count: u32,
}

/// All slots, an index over flows, and buckets in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) slots: Vec<Held>,
    free: Vec<u32>,
    /// The first slot of each chain. A power of two of them.
    index: Vec<u32>,
    /// The slot that was last opened or joined, if it is still open.
    last: u32,
    /// Number of look-ups in the index for a waiting slot.
    sought: u32,
    buckets: Vec<Bucket>,
    per_bucket: u32,
}

impl Table {
    pub(crate) fn new(size: profile::Table) -> Self {
        let buckets = size.buckets.max(1).next_power_of_two();
        let per_bucket = size.per_bucket.max(1);
        // One slot more, so that a new frame has a slot before the oldest one goes up.
        let slots = buckets.saturating_mul(per_bucket).saturating_add(1);
        let empty = Bucket {
            oldest: NONE,
            newest: NONE,
            count: 0,
        };
        Self {
            slots: (0..slots).map(|_| Held::new()).collect(),
            free: (0..slots).rev().collect(),
            index: (0..slots.next_power_of_two() * 2).map(|_| NONE).collect(),
            last: 0,
            sought: 0,
            buckets: (0..buckets).map(|_| empty).collect(),
            per_bucket,
        }
    }

    pub(crate) fn bucket_of(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & (self.buckets.len() as u32 - 1)
    }

    #[inline]
    fn index_of(&self, hash: u64) -> usize {
        hash as usize & (self.index.len() - 1)
    }

    /// The first slot of the chain that a hash belongs to.
    #[inline]
    pub(crate) fn chain(&self, hash: u64) -> u32 {
        self.index[self.index_of(hash)]
    }

    /// A slot that waits for the segment at a place. It is looked for first in the slot of the last frame, then in the
    /// one that followed it the last time, and only then by the flow's hash, at the head of its chain. The slot may be
    /// closed, or not the newest of its flow: no frame is alike to it then.
    #[inline(always)]
    pub(crate) fn waiting(&mut self, place: Place, hash: impl FnOnce() -> u64) -> Option<u32> {
        let last = self.slots.get(self.last as usize)?;
        let mut slot = self.last;
        if last.next != place {
            slot = last.follower;
            if !self.waits(slot, place) {
                self.sought = self.sought.wrapping_add(1);
                slot = self.chain(hash());
                if !self.waits(slot, place) {
                    return None;
                }
                self.turn_to(slot);
            }
            self.last = slot;
        }
        Some(slot)
    }

    #[inline(always)]
    fn waits(&self, slot: u32, place: Place) -> bool {
        let held = self.slots.get(slot as usize);
        held.is_some_and(|held| held.next == place)
    }

    /// Number of look-ups by hash since the last call.
    pub(crate) fn take_sought(&mut self) -> u32 {
        core::mem::take(&mut self.sought)
    }

    /// The slot to which the second frame from now will likely go, if the last slot has so many segments.
    #[inline(always)]
    pub(crate) fn after_next(&self, segments: u32) -> Option<u32> {
        let last = self.slots.get(self.last as usize)?;
        let next = self.slots.get(last.follower as usize)?;
        (last.segments == segments).then_some(next.follower)
    }

    /// Called before a newer frame of a flow is held: no frame may join the older ones without a look at the newer one,
    /// which [`Self::waiting`] does not take.
    pub(crate) fn outdate(&mut self, hash: u64) {
        let mut slot = self.chain(hash);
        while let Some(held) = self.slots.get_mut(slot as usize) {
            if held.hash == hash {
                held.alike_len = 0;
            }
            slot = held.chain;
        }
    }

    /// Notes that a frame goes to a slot other than the last one.
    #[inline(always)]
    fn turn_to(&mut self, slot: u32) {
        if let Some(last) = self.slots.get_mut(self.last as usize) {
            last.follower = slot;
        }
        self.last = slot;
    }

    /// The oldest frame of a bucket.
    pub(crate) fn oldest(&self, bucket: u32) -> Option<u32> {
        let slot = self.buckets[bucket as usize].oldest;
        (slot != NONE).then_some(slot)
    }

    /// Prefetches the frame that came after one in its bucket: with more frames held than fit in the cache, the flush
    /// would wait for it.
    #[inline(always)]
    pub(crate) fn fetch_newer(&self, slot: u32) {
        let newer = self.slots[slot as usize].newer;
        if let Some(held) = self.slots.get(newer as usize) {
            prefetch_head::<{ size_of::<Held>() }>(&held.header);
        }
    }

    /// Prefetches the entry of the index for a hash, and returns its number.
    #[inline(always)]
    pub(crate) fn fetch_entry(&self, hash: u64) -> usize {
        let at = self.index_of(hash);
        self.index.get(at).map(prefetch_value);
        at
    }

    /// The first slot of a chain, by the number of its entry in the index.
    pub(crate) fn first(&self, entry: usize) -> Option<u32> {
        self.index.get(entry).copied().filter(|&slot| slot != NONE)
    }

    /// The free slot that will be taken after `others` others.
    pub(crate) fn free_after(&self, others: usize) -> Option<u32> {
        self.free.iter().rev().nth(others).copied()
    }

    /// The frame that came after one in its bucket.
    pub(crate) fn newer(&self, slot: u32) -> Option<u32> {
        let held = self.slots.get(slot as usize)?;
        Some(held.newer).filter(|&newer| newer != NONE)
    }

    /// Whether the table is too large for the processor's own caches.
    pub(crate) fn is_large(&self) -> bool {
        self.slots.len() * size_of::<Held>() > OWN_CACHE
    }

    /// Whether so many frames are held that emptying the index takes less time than looking up each of them there.
    pub(crate) fn is_crowded(&self) -> bool {
        let held = self.slots.len() - self.free.len();
        held * ENTRIES >= self.index.len()
    }

    /// Removes all slots from the index. Each is still [closed](Self::close) when it is released.
    pub(crate) fn empty_index(&mut self) {
        self.index.fill(NONE);
    }

    pub(crate) fn buckets(&self) -> u32 {
        self.buckets.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Whether a bucket holds all that it may.
    #[inline]
    pub(crate) fn is_full(&self, bucket: u32) -> bool {
        self.buckets[bucket as usize].count >= self.per_bucket
    }

    /// Takes a free slot as the newest of a bucket. The caller made room if the bucket was full.
    #[inline(always)]
    pub(crate) fn take(&mut self, bucket: u32) -> Option<u32> {
        let slot = self.free.pop()?;
        let list = &mut self.buckets[bucket as usize];
        list.count += 1;
        let before = core::mem::replace(&mut list.newest, slot);
        match before {
            NONE => list.oldest = slot,
            before => self.slots[before as usize].newer = slot,
        }
        let held = &mut self.slots[slot as usize];
        held.bucket = bucket;
        held.older = before;
        held.newer = NONE;
        held.open = false;
        Some(slot)
    }

    /// Like [`Self::take`], for a slot that frames find by a hash.
    #[inline(always)]
    pub(crate) fn open(&mut self, bucket: u32, hash: u64) -> Option<(u32, &mut Held)> {
        let slot = self.take(bucket)?;
        let at = self.index_of(hash);
        let next = core::mem::replace(&mut self.index[at], slot);
        self.turn_to(slot);
        let held = &mut self.slots[slot as usize];
        held.hash = hash;
        held.chain = next;
        held.open = true;
        Some((slot, held))
    }

    /// Closes a slot: no frame finds it any more.
    #[inline(always)]
    pub(crate) fn close(&mut self, slot: u32) {
        let held = &mut self.slots[slot as usize];
        // The slot may be `last`, which is looked at without the index.
        held.alike_len = 0;
        if !core::mem::replace(&mut held.open, false) {
            return;
        }
        let (hash, next) = (held.hash, held.chain);
        let at = self.index_of(hash);
        if self.index[at] == slot {
            self.index[at] = next;
            return;
        }
        let mut before = self.index[at];
        while let Some(held) = self.slots.get_mut(before as usize) {
            if held.chain == slot {
                held.chain = next;
                return;
            }
            before = held.chain;
        }
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(crate) fn release(&mut self, slot: u32) {
        self.close(slot);
        let held = &self.slots[slot as usize];
        let (bucket, older, newer) = (held.bucket, held.older, held.newer);
        let list = &mut self.buckets[bucket as usize];
        list.count -= 1;
        match older {
            NONE => list.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.buckets[bucket as usize].newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        self.free.push(slot);
    }
}
