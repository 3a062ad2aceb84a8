//! One first transmission, and what became of it.

use std::ops::Range;

use super::resent::Again;
use crate::doubled::Place;
use crate::frame::Frame;

/// Bits of a frame's number: 2^44 of the shortest frames are over a petabyte.
const NUMBER_BITS: u32 = 44;
/// Highest bit: the rest is the place where the frame is remembered.
const HAS_PLACE: u64 = 1 << 63;
/// Without that bit the rest counts bytes, up to half a megabyte, as BIG TCP frames have.
const MOST_KNOWN: u64 = (HAS_PLACE >> NUMBER_BITS) - 1;

/// One first transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    /// The frame's number, and above it the place where the frame is remembered; or how many of the frame's bytes do
    /// not belong to this transmission, since they had been sent before. Two merged segments are lost together, even if
    /// one of them is a repeat.
    number_and_rest: u64,
    /// When any of these bytes was last sent.
    pub(crate) time_ns: i64,
    pub(crate) len: u32,
    pub(super) again: Again,
}

impl Transmission {
    /// The transmission of a whole frame.
    #[inline]
    pub(crate) fn new(frame: &Frame, start: u64) -> Self {
        Self {
            start,
            number_and_rest: frame.number & (u64::MAX >> (u64::BITS - NUMBER_BITS)),
            time_ns: frame.time_ns,
            len: frame.payload,
            again: Again::default(),
        }
    }

    /// Adds the place where the frame is remembered.
    #[inline]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.number_and_rest |= HAS_PLACE | u64::from(place.0) << NUMBER_BITS;
        self
    }

    /// The place where the frame is remembered, if the transmission is the whole frame.
    pub(super) fn place(&self) -> Option<Place> {
        let has_place = self.number_and_rest & HAS_PLACE != 0;
        has_place.then_some(Place((self.number_and_rest >> NUMBER_BITS) as u16))
    }

    /// How many bytes of the frame do not belong to this transmission.
    #[inline(always)]
    fn known(&self) -> u64 {
        if self.number_and_rest & HAS_PLACE == 0 {
            self.number_and_rest >> NUMBER_BITS
        } else {
            0
        }
    }

    /// Cuts off the first bytes, which had been sent before.
    pub(crate) fn without(mut self, known: u64) -> Self {
        self.forget(known.min(u64::from(self.len)));
        self
    }

    /// Keeps a range of bytes, as if the others had been sent before.
    pub(super) fn keep(&mut self, range: Range<u64>) {
        self.forget(u64::from(self.len).saturating_sub(range.end - range.start));
        self.start = range.start;
    }

    fn forget(&mut self, known: u64) {
        if known > 0 {
            self.len -= known as u32;
            let known = (known + self.known()).min(MOST_KNOWN);
            self.number_and_rest = known << NUMBER_BITS | self.number();
        }
    }

    /// Numbered by its position, and sent at that time, for tests.
    #[cfg(test)]
    pub(super) fn numbered(start: u64, len: u32) -> Self {
        Self {
            start,
            number_and_rest: start,
            time_ns: start as i64,
            len,
            again: Again::default(),
        }
    }

    fn number(&self) -> u64 {
        self.number_and_rest & (u64::MAX >> (u64::BITS - NUMBER_BITS))
    }

    /// Payload of the whole frame.
    fn frame_len(&self) -> u32 {
        self.len + self.known() as u32
    }

    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Notes that some bytes are sent again, in a frame of one segment or of several; true if a retransmission of one
    /// segment had been tried before, in vain. A retransmission among other data shows nothing of what happens to
    /// single frames.
    pub(super) fn repeat(&mut self, range: &Range<u64>, now_ns: i64, alone: bool) -> bool {
        self.time_ns = now_ns;
        let from = (self.start.max(range.start) - self.start) as u32;
        let to = (self.end().min(range.end) - self.start) as u32;
        let was_alone = self.again.was_alone_within(from..to);
        self.again.add(to - from, alone.then_some(from));
        was_alone && self.again.bytes() > self.len
    }

    /// Takes off bytes that were sent again once more than was necessary.
    pub(super) fn take_back(&mut self, start: u64, end: u64) {
        self.again
            .take_back(overlap(&(self.start..self.end()), start, end));
    }

    /// Whether all bytes were sent again, and none reported by SACK before.
    pub(super) fn is_repeated(&self) -> bool {
        self.again.bytes() >= self.len
    }

    pub(super) fn fate(&self) -> Fate {
        Fate {
            len: self.frame_len(),
            repeated: self.is_repeated(),
            number: self.number(),
            start: self.start,
        }
    }

    /// The fate of a transmission that arrived and was never sent again.
    #[inline(always)]
    pub(super) fn fate_at_first_try(&self) -> Fate {
        Fate {
            len: self.frame_len(),
            repeated: false,
            number: self.number(),
            start: self.start,
        }
    }

    /// What is kept of the transmission once it is acknowledged.
    pub(super) fn gone(&self) -> Gone {
        Gone {
            range: self.start..self.end(),
            again: self.again.bytes(),
            fate: self.fate(),
        }
    }
}

/// What is kept of an acknowledged transmission that was sent again.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    pub(super) range: Range<u64>,
    /// How many of its bytes were sent again, each time counted.
    pub(super) again: u32,
    pub(super) fate: Fate,
}

impl Gone {
    /// Takes off bytes that were sent again once more than was necessary; if fewer bytes are left than the transmission
    /// has, it had arrived at first.
    pub(super) fn take_back(&mut self, start: u64, end: u64) {
        let both = overlap(&self.range, start, end);
        if both > 0 {
            self.again = self.again.saturating_sub(both);
            self.fate.repeated &= u64::from(self.again) >= self.range.end - self.range.start;
        }
    }
}

/// How many bytes a range has in common with `start..end`.
fn overlap(range: &Range<u64>, start: u64, end: u64) -> u32 {
    range.end.min(end).saturating_sub(range.start.max(start)) as u32
}

/// What became of a first transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) len: u32,
    /// All bytes were sent again, and no report shows that this was unnecessary.
    pub(crate) repeated: bool,
    pub(crate) number: u64,
    /// Position of its first byte.
    pub(crate) start: u64,
}

impl Fate {
    /// Whether two fates differ in their numbers and positions only.
    #[inline]
    pub(crate) fn is_like(self, other: Self) -> bool {
        (self.len, self.repeated) == (other.len, other.repeated)
    }
}
