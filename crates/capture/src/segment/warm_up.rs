//! The first data frames of a direction, until its segment size is settled.

use super::WARM_UP;
use crate::outstanding::Fate;

/// Frames of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) payload: u32,
    pub(crate) frames: u32,
    /// Number of the first frame of this length.
    pub(crate) first: u64,
}

/// The first data frames, and what became of them before the size was settled. Nearly all have one
/// length and arrive, and most connections end before anything is settled: those are counted in
/// place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WarmUp {
    /// Whether there was a frame.
    any: bool,
    /// The first frame's number.
    first: u64,
    /// Payload of the first frame.
    payload: u32,
    /// Frames of that length, fewer than [`WARM_UP`].
    frames: u8,
    /// Transmissions of that length that arrived.
    arrived: u16,
    others: Option<Box<Others>>,
}

/// Frames of other lengths, and what became of transmissions otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Others {
    lengths: Vec<Length>,
    /// Fates, each with its count.
    fates: Vec<(Fate, u32)>,
    frames: u32,
}

impl WarmUp {
    /// Frames by length, in the order in which the lengths came.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = Length> {
        let first = Length {
            payload: self.payload,
            frames: u32::from(self.frames),
            first: self.first,
        };
        let others = self.others.iter().flat_map(|others| &others.lengths);
        self.any.then_some(first).into_iter().chain(others.copied())
    }

    /// Fates of transmissions, each with its count.
    pub(crate) fn fates(&self) -> impl Iterator<Item = (Fate, u32)> {
        let arrived = Fate {
            len: self.payload,
            repeated: false,
            number: self.first,
        };
        let others = self.others.iter().flat_map(|others| &others.fates);
        let first = (arrived, u32::from(self.arrived));
        std::iter::once(first).chain(others.copied())
    }

    /// The length of all frames, if they have the same.
    pub(super) fn only_length(&self) -> Option<Length> {
        let others = self.others.as_ref();
        let is_only = others.is_none_or(|others| others.lengths.is_empty());
        self.lengths().next().filter(|_| is_only)
    }

    /// How many frames there were.
    pub(super) fn frames(&self) -> u32 {
        u32::from(self.frames) + self.others.as_ref().map_or(0, |others| others.frames)
    }

    pub(super) fn add(&mut self, payload: u32, number: u64) {
        if !self.any {
            (self.any, self.payload, self.first) = (true, payload, number);
        }
        if payload == self.payload {
            self.frames += 1;
        } else {
            self.others.get_or_insert_default().add(payload, number);
        }
    }

    /// Adds a frame of the same length as the first one; false if it has another length, or the size is now to be
    /// settled.
    #[inline]
    pub(super) fn add_again(&mut self, payload: u32) -> bool {
        let again = payload == self.payload && self.frames() + 1 < WARM_UP;
        self.frames += u8::from(again);
        again
    }

    /// Counts a transmission of the first frame's length that arrived; false for any other.
    #[inline]
    pub(super) fn add_fate_again(&mut self, fate: Fate) -> bool {
        let again = fate.len == self.payload && !fate.repeated;
        self.arrived += u16::from(again);
        again
    }

    #[inline]
    pub(super) fn add_fate(&mut self, fate: Fate) {
        if !self.add_fate_again(fate) {
            self.add_other_fate(fate);
        }
    }

    #[cold]
    fn add_other_fate(&mut self, fate: Fate) {
        self.others.get_or_insert_default().add_fate(fate);
    }
}

impl Others {
    fn add(&mut self, payload: u32, number: u64) {
        self.frames += 1;
        let known = self
            .lengths
            .iter_mut()
            .find(|known| known.payload == payload);
        match known {
            Some(known) => known.frames += 1,
            None => self.lengths.push(Length {
                payload,
                frames: 1,
                first: number,
            }),
        }
    }

    fn add_fate(&mut self, fate: Fate) {
        match self.fates.iter_mut().find(|(known, _)| known.is_like(fate)) {
            Some((_, times)) => *times += 1,
            None => self.fates.push((fate, 1)),
        }
    }
}
