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
    /// Places of the first frame of this length, and of the last one with new bytes, among all frames until the size was
    /// settled.
    pub(crate) places: (u32, u32),
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
    /// Place of the last frame of the first frame's length that brought new bytes.
    last_of_first: u32,
    /// Fates, each with its count and where the last of these frames began.
    fates: Vec<(Fate, u32, u64)>,
    frames: u32,
}

impl WarmUp {
    /// Frames by length, in the order in which the lengths came.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = Length> {
        let alone = u32::from(self.frames).saturating_sub(1);
        let first = Length {
            payload: self.payload,
            frames: u32::from(self.frames),
            first: self.first,
            places: (
                0,
                self.others
                    .as_ref()
                    .map_or(alone, |others| others.last_of_first),
            ),
        };
        let others = self.others.iter().flat_map(|others| &others.lengths);
        self.any.then_some(first).into_iter().chain(others.copied())
    }

    /// Fates of transmissions, each with its count and, of those that were not like the first frame's, where the last
    /// began.
    pub(crate) fn fates(&self) -> impl Iterator<Item = (Fate, u32, u64)> {
        let arrived = Fate {
            len: self.payload,
            repeated: false,
            number: self.first,
            start: 0,
        };
        let others = self.others.iter().flat_map(|others| &others.fates);
        let first = (arrived, u32::from(self.arrived), 0);
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
        self.add_at(payload, number, self.frames());
    }

    /// Adds a frame of bytes that were sent before: such a frame ends where the segments of before ended, whatever the sender's
    /// segments are by now.
    pub(super) fn add_repeat(&mut self, payload: u32, number: u64) {
        let known = self.lengths().find(|known| known.payload == payload);
        let place = known.map_or(self.frames(), |known| known.places.1);
        self.add_at(payload, number, place);
    }

    fn add_at(&mut self, payload: u32, number: u64, place: u32) {
        if !self.any {
            (self.any, self.payload, self.first) = (true, payload, number);
        }
        if payload == self.payload {
            self.add_first(place);
        } else {
            let first = u32::from(self.frames) - 1;
            self.others_after(first).add(payload, number, place);
        }
    }

    /// Counts a frame of the first frame's length.
    #[inline]
    fn add_first(&mut self, place: u32) {
        self.frames += 1;
        if let Some(others) = &mut self.others {
            others.last_of_first = place;
        }
    }

    /// Other lengths and fates; where there were none, frames until this place had the first frame's length.
    fn others_after(&mut self, place: u32) -> &mut Others {
        self.others.get_or_insert_with(|| {
            Box::new(Others {
                last_of_first: place,
                ..Others::default()
            })
        })
    }

    /// Adds a frame of the same length as the first one; false if it has another length, or the size is now to be
    /// settled.
    #[inline]
    pub(super) fn add_again(&mut self, payload: u32) -> bool {
        let place = self.frames();
        let again = payload == self.payload && place + 1 < WARM_UP;
        if again {
            self.add_first(place);
        }
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
        let last = u32::from(self.frames).saturating_sub(1);
        self.others_after(last).add_fate(fate);
    }
}

impl Others {
    fn add(&mut self, payload: u32, number: u64, place: u32) {
        self.frames += 1;
        let known = self
            .lengths
            .iter_mut()
            .find(|known| known.payload == payload);
        match known {
            Some(known) => {
                known.frames += 1;
                known.places.1 = place;
            }
            None => self.lengths.push(Length {
                payload,
                frames: 1,
                first: number,
                places: (place, place),
            }),
        }
    }

    fn add_fate(&mut self, fate: Fate) {
        match self
            .fates
            .iter_mut()
            .find(|(known, ..)| known.is_like(fate))
        {
            Some((_, times, last)) => {
                *times += 1;
                *last = fate.start.max(*last);
            }
            None => self.fates.push((fate, 1, fate.start)),
        }
    }
}
