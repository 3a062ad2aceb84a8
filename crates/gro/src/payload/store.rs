//! What is kept of the payload of held frames: references, or a copy.

use core::ops::Range;

use alloc::vec::Vec;

use coalescope_wire::checksum::sum;
use coalescope_wire::{prefetch_at, prefetch_value};

use crate::frame::template::MAX_HEADER;
use crate::out::outgoing::{About, Outgoing, Part};

/// Where the engine puts payload. Slots are numbered from 0 without gaps.
pub(crate) trait Store {
    /// What the caller hands in with a frame.
    type Token;
    /// What the caller gets back.
    type Out<'a>
    where
        Self: 'a;

    /// Holds a frame in a slot; `payload` is its payload.
    fn start(&mut self, slot: u32, frame: &[u8], payload: Range<usize>, token: Self::Token);

    /// Appends a frame's payload; an empty one was absorbed.
    fn append(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        token: Self::Token,
        outlet: &impl Outlet<Self>,
    ) where
        Self: Sized;

    /// Appends a frame's payload if its sum (RFC 1071) is right; else returns the token. The held frame must have no
    /// padding.
    #[inline]
    fn append_if(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        token: Self::Token,
        outlet: &impl Outlet<Self>,
        is_right: impl FnOnce(u64) -> bool,
    ) -> Result<(), Self::Token>
    where
        Self: Sized,
    {
        if !is_right(sum(&frame[payload.clone()])) {
            return Err(token);
        }
        self.append(slot, frame, payload, token, outlet);
        Ok(())
    }

    /// Puts a frame's payload in front.
    fn prepend(
        &mut self,
        slot: u32,
        frame: &[u8],
        payload: Range<usize>,
        token: Self::Token,
        outlet: &impl Outlet<Self>,
    ) where
        Self: Sized;

    /// Sends out the frame in a slot as it came in.
    fn single(&mut self, slot: u32, about: About) -> Option<Self::Out<'_>>;

    /// Sends out the frame in a slot merged, with new headers.
    fn merged<'a>(
        &'a mut self,
        slot: u32,
        header: &'a mut [u8; MAX_HEADER],
        about: About,
    ) -> Self::Out<'a>;

    /// The frame in a slot that nothing has joined yet, if the store can reach it.
    fn first_frame<'s>(&'s self, slot: u32, outlet: &'s impl Outlet<Self>) -> Option<&'s [u8]>
    where
        Self: Sized;

    /// Whether a segment of the frame in a slot that nothing has joined yet has the right sum (RFC 1071), as far as the
    /// store can reach it. Called when another frame is about to join.
    fn is_first_right(
        &mut self,
        slot: u32,
        segment: Range<usize>,
        outlet: &impl Outlet<Self>,
        is_right: impl FnOnce(u64) -> bool,
    ) -> bool
    where
        Self: Sized,
    {
        is_segment_right(self.first_frame(slot, outlet), segment, is_right)
    }

    /// Prefetches where a slot keeps its payload.
    #[inline(always)]
    fn fetch_slot(&self, _slot: u32) {}

    /// Prefetches where the next payload will be put; after [`Self::fetch_slot`].
    #[inline(always)]
    fn fetch_next(&self, _slot: u32) {}

    /// Prefetches the frame in a slot, if it is read only once another joins it, and none has.
    #[inline(always)]
    fn fetch_first(&self, _slot: u32, _outlet: &impl Outlet<Self>)
    where
        Self: Sized,
    {
    }

    /// Lets a frame pass.
    fn pass<'a>(&'a mut self, frame: &'a [u8], token: Self::Token, about: About) -> Self::Out<'a>;
}

/// The way out of the engine, to a caller's sink. It depends only on the store, so that one engine serves sinks of both
/// kinds.
pub(crate) trait Outlet<S: Store> {
    /// Takes a frame.
    fn take<'a>(&mut self, out: S::Out<'a>)
    where
        S: 'a;

    /// The frame that a token stands for, if the caller still has it.
    fn frame_of(&self, _: &S::Token) -> Option<&[u8]> {
        None
    }
}

/// Whether a segment of a frame has the right sum, as far as it can be had.
#[inline]
pub(crate) fn is_segment_right(
    frame: Option<&[u8]>,
    segment: Range<usize>,
    is_right: impl FnOnce(u64) -> bool,
) -> bool {
    let segment = frame.and_then(|frame| frame.get(segment));
    segment.is_none_or(|segment| is_right(sum(segment)))
}

/// References: the caller's tokens.
#[derive(Clone, Debug)]
pub(crate) struct Parts<T> {
    slots: Vec<Vec<Part<T>>>,
}

impl<T> Parts<T> {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| Vec::new()).collect(),
        }
    }
}

#[inline]
fn part<T>(token: T, payload: &Range<usize>) -> Part<T> {
    Part {
        token,
        payload: payload.start as u32..payload.end as u32,
    }
}

impl<T> Store for Parts<T> {
    type Token = T;
    type Out<'a>
        = Outgoing<'a, T>
    where
        T: 'a;

    #[inline(always)]
    fn start(&mut self, slot: u32, _: &[u8], payload: Range<usize>, token: T) {
        self.slots[slot as usize].push(part(token, &payload));
    }

    #[inline(always)]
    fn append(
        &mut self,
        slot: u32,
        _: &[u8],
        payload: Range<usize>,
        token: T,
        _: &impl Outlet<Self>,
    ) {
        self.slots[slot as usize].push(part(token, &payload));
    }

    fn prepend(
        &mut self,
        slot: u32,
        _: &[u8],
        payload: Range<usize>,
        token: T,
        _: &impl Outlet<Self>,
    ) {
        self.slots[slot as usize].insert(0, part(token, &payload));
    }

    #[inline]
    fn single(&mut self, slot: u32, about: About) -> Option<Outgoing<'_, T>> {
        let part = self.slots[slot as usize].pop()?;
        Some(Outgoing::Unchanged {
            token: part.token,
            about,
        })
    }

    #[inline]
    fn merged<'a>(
        &'a mut self,
        slot: u32,
        header: &'a mut [u8; MAX_HEADER],
        about: About,
    ) -> Outgoing<'a, T> {
        Outgoing::Merged {
            header: &mut header[..usize::from(about.header_len)],
            parts: self.slots[slot as usize].drain(..),
            about,
        }
    }

    #[inline(always)]
    fn fetch_slot(&self, slot: u32) {
        self.slots.get(slot as usize).map(prefetch_value);
    }

    #[inline(always)]
    fn fetch_next(&self, slot: u32) {
        if let Some(parts) = self.slots.get(slot as usize) {
            prefetch_at(parts.as_ptr().wrapping_add(parts.len()));
        }
    }

    fn first_frame<'s>(&'s self, slot: u32, outlet: &'s impl Outlet<Self>) -> Option<&'s [u8]> {
        let part = self.slots[slot as usize].first()?;
        outlet.frame_of(&part.token)
    }

    #[inline]
    fn pass<'a>(&'a mut self, _: &'a [u8], token: T, about: About) -> Outgoing<'a, T> {
        Outgoing::Unchanged { token, about }
    }
}
