//! How much of a transmission was sent again, in four bytes.

use std::ops::Range;

/// How many bytes of a transmission were sent again, in the lowest 20 bits. Highest bit: the last retransmission was a frame
/// of one segment; the bits between say where that began, in units of 64 bytes, so that the second half of a merged frame is
/// not taken for a second try of the first. All bits: the receiver had reported some of the bytes (SACK) before any of them
/// was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Again(u32);

const ALONE: u32 = 1 << 31;
const PLACE: u32 = 20;
const BYTES: u32 = (1 << PLACE) - 1;
const MOST: u32 = BYTES - 1;
/// Bytes of a unit of places.
const UNIT: u32 = 64;
const ARRIVED: Again = Again(u32::MAX);

impl Again {
    /// Nothing was sent again, and nothing reported.
    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn bytes(self) -> u32 {
        if self == ARRIVED { 0 } else { self.0 & BYTES }
    }

    /// Counts bytes sent again, in a frame of several segments, or in one of one segment that begins at that byte.
    pub(super) fn add(&mut self, bytes: u32, alone: Option<u32>) {
        if *self != ARRIVED {
            let all = self.bytes().saturating_add(bytes).min(MOST);
            let place = alone.map(|at| at / UNIT);
            let place = place.filter(|place| *place < (ALONE >> PLACE));
            self.0 = all | place.map_or(0, |place| ALONE | place << PLACE);
        }
    }

    /// Takes off bytes whose retransmission was unnecessary.
    pub(super) fn take_back(&mut self, bytes: u32) {
        if *self != ARRIVED {
            let left = self.bytes().saturating_sub(bytes);
            self.0 = if left > 0 { left | self.0 & !BYTES } else { 0 };
        }
    }

    /// Whether the last retransmission was a frame of one segment that began within these bytes.
    pub(super) fn was_alone_within(self, bytes: Range<u32>) -> bool {
        let place = (self.0 & !ALONE) >> PLACE;
        let is_alone = self != ARRIVED && self.0 & ALONE != 0;
        let (first, last) = (bytes.start / UNIT, bytes.end / UNIT);
        // A segment that begins where these bytes end is none of them, and shares a unit with them.
        is_alone && (first..last.max(first + 1)).contains(&place)
    }

    /// Notes that the receiver reported some of the bytes: unless any were sent again, the first transmission brought
    /// them. False if this was noted before.
    pub(super) fn arrive(&mut self) -> bool {
        let is_known = *self == ARRIVED;
        if self.is_none() {
            *self = ARRIVED;
        }
        !is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrived_is_never_sent_again_and_what_was_sent_again_never_arrived() {
        let (mut arrived, mut again) = (Again::default(), Again::default());
        assert!(arrived.arrive() && !arrived.arrive());
        arrived.add(1448, Some(0));
        assert_eq!(
            (arrived.bytes(), arrived.was_alone_within(0..1448)),
            (0, false)
        );
        again.add(1448, Some(2896));
        assert!(again.was_alone_within(2896..4344) && again.was_alone_within(0..4344));
        assert!(!again.was_alone_within(0..2896) && !again.was_alone_within(4344..5792));
        assert!(again.arrive());
        again.add(u32::MAX, None);
        assert_eq!(
            (again.bytes(), again.was_alone_within(0..u32::MAX)),
            (MOST, false)
        );
    }
}
