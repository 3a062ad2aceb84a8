//! Payload that is copied as frames come in.

use core::ops::Range;

use alloc::vec::Vec;

use crate::frame::template::MAX_HEADER;
use crate::out::outgoing::{About, OutgoingBytes};
use crate::payload::buffer::Buffer;
use crate::payload::store::{Outlet, Store};

/// Copies: one buffer for each slot.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    slots: Vec<Buffer>,
    /// Length of the headers that each buffer starts with.
    header_lens: Vec<usize>,
    /// Number of padding bytes behind each first payload.
    paddings: Vec<usize>,
}

impl Copies {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| Buffer::default()).collect(),
            header_lens: (0..slots).map(|_| 0).collect(),
            paddings: (0..slots).map(|_| 0).collect(),
        }
    }

    /// The buffer, after removal of the padding that the first frame came with.
    #[inline]
    fn unpadded(&mut self, slot: u32) -> &mut Buffer {
        let padding = core::mem::take(&mut self.paddings[slot as usize]);
        let buffer = &mut self.slots[slot as usize];
        buffer.shorten(padding);
        buffer
    }
}

impl Store for Copies {
    type Token = ();
    type Out<'a> = OutgoingBytes<'a>;

    #[inline]
    fn start(&mut self, slot: u32, frame: &[u8], payload: Range<usize>, (): ()) {
        self.header_lens[slot as usize] = payload.start;
        self.paddings[slot as usize] = frame.len() - payload.end;
        let buffer = &mut self.slots[slot as usize];
        buffer.clear();
        buffer.append(frame);
    }

    #[inline]
    fn append(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        (): (),
        _: &impl Outlet<Self>,
    ) {
        self.unpadded(slot).append(&frame[payload]);
    }

    #[inline]
    fn append_if(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        (): (),
        _: &impl Outlet<Self>,
        is_right: impl FnOnce(u64) -> bool,
    ) -> Result<(), ()> {
        match self.unpadded(slot).append_if(&frame[payload], is_right) {
            true => Ok(()),
            false => Err(()),
        }
    }

    fn prepend(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        (): (),
        _: &impl Outlet<Self>,
    ) {
        let at = self.header_lens[slot as usize];
        self.unpadded(slot).replace(at..at, &frame[payload]);
    }

    #[inline]
    fn single(&mut self, slot: u32, about: About) -> Option<OutgoingBytes<'_>> {
        Some(OutgoingBytes {
            bytes: self.slots[slot as usize].as_slice(),
            about,
        })
    }

    #[inline]
    fn merged<'a>(
        &'a mut self,
        slot: u32,
        header: &'a mut [u8; MAX_HEADER],
        about: About,
    ) -> OutgoingBytes<'a> {
        let old = self.header_lens[slot as usize];
        let buffer = &mut self.slots[slot as usize];
        buffer.replace(0..old, &header[..usize::from(about.header_len)]);
        OutgoingBytes {
            bytes: buffer.as_slice(),
            about,
        }
    }

    fn first_frame<'s>(&'s self, slot: u32, _: &'s impl Outlet<Self>) -> Option<&'s [u8]> {
        self.slots.get(slot as usize).map(Buffer::as_slice)
    }

    #[inline]
    fn pass<'a>(&'a mut self, frame: &'a [u8], (): (), about: About) -> OutgoingBytes<'a> {
        OutgoingBytes {
            bytes: frame,
            about,
        }
    }
}
