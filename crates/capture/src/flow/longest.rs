//! The longest frame that arrived.

use crate::outstanding::Fate;
use crate::tally::Tally;

/// Payload of the longest frame that arrived, at the first try or at another; 65,535 for that and more, so that the
/// number fits into the first cache line of its direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Longest(u16);

impl Longest {
    /// Counts what became of a transmission, here and in the tally.
    #[inline(always)]
    pub(crate) fn count(&mut self, fate: Fate, tally: &mut Tally) {
        if !fate.repeated {
            self.arrived(fate.len);
        }
        tally.count_fate(fate);
    }

    /// Notes the payload of a frame that arrived.
    #[inline(always)]
    pub(super) fn arrived(&mut self, len: u32) {
        if len > u32::from(self.0) {
            self.0 = u16::try_from(len).unwrap_or(u16::MAX);
        }
    }

    /// Payload of the longest frame in bytes; `None` if none arrived.
    pub(crate) fn bytes(self) -> Option<u32> {
        (self.0 > 0).then_some(u32::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_sent_again_did_not_arrive_and_the_longest_are_one() {
        let (mut longest, mut tally) = (Longest::default(), Tally::default());
        let mut after = |len, repeated| {
            let fate = Fate {
                len,
                repeated,
                number: 1,
                start: 0,
            };
            longest.count(fate, &mut tally);
            longest.bytes()
        };
        assert_eq!(after(9000, true), None);
        assert_eq!(after(1448, false), Some(1448));
        assert_eq!(after(100, false), Some(1448));
        assert_eq!(after(200_000, false), Some(65_535));
    }
}
