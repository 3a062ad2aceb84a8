//! Payload in one piece: each held frame has a buffer.

use core::ops::Range;

use alloc::vec::Vec;

use coalescope_wire::prefetch;

use crate::frame::template::MAX_HEADER;
use crate::out::outgoing::{About, OutgoingBytes};
use crate::payload::buffer::Buffer;
use crate::payload::store::{Outlet, Store, is_segment_right};

/// The first frame is copied when it comes in: it may be gone when another joins.
pub(crate) const AT_ONCE: bool = false;
/// The first frame is copied when another joins, and not before: the caller has it until the end of the batch.
pub(crate) const LATE: bool = true;

/// A frame that comes out.
#[derive(Debug)]
pub(crate) enum Copied<'a> {
    /// A held frame that was never copied, as it came in: its number in the batch.
    Unchanged(u32, About),
    Bytes(OutgoingBytes<'a>),
}

/// What is held of a frame.
#[derive(Clone, Debug, Default)]
struct Joined {
    /// The first frame's number in the batch.
    first: u32,
    /// Where that one's payload lies.
    payload: Range<usize>,
    /// The frame, or nothing of it as long as it is alone and copied late.
    buffer: Buffer,
    /// Whether nothing has joined yet.
    alone: bool,
}

/// Copies of frames, one buffer for each slot.
#[derive(Clone, Debug)]
pub(crate) struct Copies<const WHEN: bool> {
    slots: Vec<Joined>,
}

impl<const WHEN: bool> Copies<WHEN> {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| Joined::default()).collect(),
        }
    }

    /// The buffer that a frame joins, with the first one in it, without the padding that came behind.
    #[inline]
    fn joined(&mut self, slot: u32, outlet: &impl Outlet<Self>) -> &mut Joined {
        let joined = &mut self.slots[slot as usize];
        if core::mem::replace(&mut joined.alone, false) {
            let end = joined.payload.end;
            if WHEN == LATE {
                let first = outlet.frame_of(&joined.first);
                let first = first.and_then(|frame| frame.get(..end));
                joined.buffer.become_copy(first.unwrap_or_default());
            } else {
                joined.buffer.truncate(end);
            }
        }
        joined
    }
}

impl<const WHEN: bool> Store for Copies<WHEN> {
    type Token = u32;
    type Out<'a> = Copied<'a>;

    #[inline]
    fn start(&mut self, slot: u32, frame: &[u8], payload: Range<usize>, token: u32) {
        let joined = &mut self.slots[slot as usize];
        joined.first = token;
        joined.payload = payload;
        joined.alone = true;
        if WHEN == AT_ONCE {
            joined.buffer.become_copy(frame);
        }
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
    fn single(&mut self, slot: u32, about: About) -> Option<Copied<'_>> {
        let joined = &self.slots[slot as usize];
        Some(match WHEN {
            LATE => Copied::Unchanged(joined.first, about),
            AT_ONCE => Copied::Bytes(OutgoingBytes {
                bytes: joined.buffer.as_slice(),
                about,
            }),
        })
    }

    #[inline]
    fn merged<'a>(
        &'a mut self,
        slot: u32,
        header: &'a mut [u8; MAX_HEADER],
        about: About,
    ) -> Copied<'a> {
        let joined = &mut self.slots[slot as usize];
        let header = &header[..usize::from(about.header_len)];
        joined.buffer.replace(0..joined.payload.start, header);
        Copied::Bytes(OutgoingBytes {
            bytes: joined.buffer.as_slice(),
            about,
        })
    }

    #[inline]
    fn first_frame<'s>(&'s self, slot: u32, outlet: &'s impl Outlet<Self>) -> Option<&'s [u8]> {
        let joined = self.slots.get(slot as usize)?;
        match WHEN {
            LATE => outlet.frame_of(&joined.first),
            AT_ONCE => Some(joined.buffer.as_slice()),
        }
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
        if WHEN == AT_ONCE {
            return is_segment_right(self.first_frame(slot, outlet), segment, is_right);
        }
        let joined = &mut self.slots[slot as usize];
        let first = outlet.frame_of(&joined.first);
        let Some(first) = first.and_then(|frame| frame.get(..segment.end)) else {
            return true;
        };
        let (before, segment) = first.split_at(segment.start);
        // It is copied in the same pass, since it is going to be joined.
        joined.buffer.become_copy(before);
        joined.alone = !joined.buffer.append_if(segment, is_right);
        !joined.alone
    }

    #[inline]
    fn pass<'a>(&'a mut self, frame: &'a [u8], _: u32, about: About) -> Copied<'a> {
        Copied::Bytes(OutgoingBytes {
            bytes: frame,
            about,
        })
    }
}
