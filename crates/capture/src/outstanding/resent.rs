//! How much of a transmission was sent again, in four bytes.

/// How many bytes of a transmission were sent again. Highest bit: the last retransmission was a frame of one segment.
/// All bits: the receiver had reported some of the bytes (SACK) before any of them was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Again(u32);

const ALONE: u32 = 1 << 31;
const MOST: u32 = ALONE - 2;
const ARRIVED: Again = Again(u32::MAX);

impl Again {
    /// Nothing was sent again, and nothing reported.
    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn bytes(self) -> u32 {
        if self == ARRIVED { 0 } else { self.0 & !ALONE }
    }

    /// Counts bytes sent again, in a frame of one segment or of several.
    pub(super) fn add(&mut self, bytes: u32, alone: bool) {
        if *self != ARRIVED {
            let all = self.bytes().saturating_add(bytes).min(MOST);
            self.0 = all | if alone { ALONE } else { 0 };
        }
    }

    /// Takes off bytes whose retransmission was unnecessary.
    pub(super) fn take_back(&mut self, bytes: u32) {
        if *self != ARRIVED {
            let left = self.bytes().saturating_sub(bytes);
            self.0 = if left > 0 { left | self.0 & ALONE } else { 0 };
        }
    }

    /// Whether the last retransmission was a frame of one segment.
    pub(super) fn was_alone(self) -> bool {
        self != ARRIVED && self.0 & ALONE != 0
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
        arrived.add(1448, true);
        assert_eq!((arrived.bytes(), arrived.was_alone()), (0, false));
        again.add(1448, true);
        assert!(again.was_alone() && again.arrive());
        again.add(u32::MAX, false);
        assert_eq!((again.bytes(), again.was_alone()), (MOST, false));
    }
}
