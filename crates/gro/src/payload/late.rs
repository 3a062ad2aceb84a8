//! Payload of a batch: copied when a second frame joins, and not before.

use core::ops::Range;

use alloc::vec::Vec;

use coalescope_wire::prefetch;

use crate::frame::template::MAX_HEADER;
use crate::out::outgoing::About;
use crate::payload::buffer::Buffer;
use crate::payload::store::{Outlet, Store};

/// A frame that comes out of a batch.
#[derive(Debug)]
pub(crate) enum OfBatch<'a> {
    /// A frame as it came in, by its number in the batch.
    Unchanged(u32, About),
    /// A merged frame.
    Merged(&'a [u8], About),
}

/// A held frame of a batch.
#[derive(Clone, Debug, Default)]
struct Joined {
    /// The first frame's number in the batch.
    first: u32,
    /// Where the payload of the first frame lies.
    payload: Range<usize>,
    /// The merged frame, once a second frame has joined.
    buffer: Buffer,
    /// Whether no second frame has joined yet.
    alone: bool,
}

/// Copies of frames that merge, made when the second frame joins.
#[derive(Clone, Debug)]
pub(crate) struct LateCopies {
    slots: Vec<Joined>,
}

impl LateCopies {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| Joined::default()).collect(),
        }
    }

    /// The buffer that a second frame joins, with the first one in it.
    #[inline]
    fn joined(&mut self, slot: u32, outlet: &impl Outlet<Self>) -> &mut Joined {
        let joined = &mut self.slots[slot as usize];
        if core::mem::replace(&mut joined.alone, false) {
            let first = outlet.frame_of(&joined.first);
            let first = first.and_then(|frame| frame.get(..joined.payload.end));
            joined.buffer.clear();
            joined.buffer.append(first.unwrap_or_default());
        }
        joined
    }
}

impl Store for LateCopies {
    type Token = u32;
    type Out<'a> = OfBatch<'a>;

    #[inline]
    fn start(&mut self, slot: u32, _: &[u8], payload: Range<usize>, token: u32) {
        let joined = &mut self.slots[slot as usize];
        joined.first = token;
        joined.payload = payload;
        joined.alone = true;
    }

    #[inline]
    fn append(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        _: u32,
        outlet: &impl Outlet<Self>,
    ) {
        let joined = self.joined(slot, outlet);
        joined.buffer.append(&frame[payload]);
    }

    #[inline]
    fn append_if(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        token: u32,
        outlet: &impl Outlet<Self>,
        is_right: impl FnOnce(u64) -> bool,
    ) -> Result<(), u32> {
        let joined = self.joined(slot, outlet);
        match joined.buffer.append_if(&frame[payload], is_right) {
            true => Ok(()),
            false => Err(token),
        }
    }

    fn prepend(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        _: u32,
        outlet: &impl Outlet<Self>,
    ) {
        let joined = self.joined(slot, outlet);
        let at = joined.payload.start;
        joined.buffer.replace(at..at, &frame[payload]);
    }

    #[inline]
    fn single(&mut self, slot: u32, about: About) -> Option<OfBatch<'_>> {
        Some(OfBatch::Unchanged(self.slots[slot as usize].first, about))
    }

    #[inline]
    fn merged<'a>(
        &'a mut self,
        slot: u32,
        header: &'a mut [u8; MAX_HEADER],
        about: About,
    ) -> OfBatch<'a> {
        let joined = &mut self.slots[slot as usize];
        let header = &header[..usize::from(about.header_len)];
        joined.buffer.replace(0..joined.payload.start, header);
        OfBatch::Merged(joined.buffer.as_slice(), about)
    }

    fn first_frame<'s>(&'s self, slot: u32, outlet: &'s impl Outlet<Self>) -> Option<&'s [u8]> {
        outlet.frame_of(&self.slots[slot as usize].first)
    }

    #[inline(always)]
    fn fetch_first(&self, slot: u32, outlet: &impl Outlet<Self>) {
        if let Some(joined) = self.slots.get(slot as usize)
            && joined.alone
            && let Some(frame) = outlet.frame_of(&joined.first)
        {
            prefetch(frame);
        }
    }

    #[inline]
    fn is_first_right(
        &mut self,
        slot: u32,
        segment: Range<usize>,
        outlet: &impl Outlet<Self>,
        is_right: impl FnOnce(u64) -> bool,
    ) -> bool {
        let joined = &mut self.slots[slot as usize];
        let first = outlet.frame_of(&joined.first);
        let Some(first) = first.and_then(|frame| frame.get(..segment.end)) else {
            return true;
        };
        let (before, segment) = first.split_at(segment.start);
        // Copied in the same pass, since a frame is about to join.
        joined.buffer.clear();
        joined.buffer.append(before);
        joined.alone = !joined.buffer.append_if(segment, is_right);
        !joined.alone
    }

    #[inline]
    fn pass<'a>(&'a mut self, _: &'a [u8], token: u32, about: About) -> OfBatch<'a> {
        OfBatch::Unchanged(token, about)
    }
}
