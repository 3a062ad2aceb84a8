//! Which of two frames of one sender left first, whatever became of them on the way.

use crate::frame::Frame;

/// Most packets that a sender's IDs count between two frames. IDs that are drawn at random (OpenBSD) differ by no more in one of
/// eight pairs; frames farther apart are told apart by their times.
const COUNTED: u16 = 4_096;

/// When a frame came, and what its sender wrote into it when it left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// When it came.
    pub(crate) time_ns: i64,
    tsval: Option<u32>,
    id: u16,
}

impl Sent {
    #[inline]
    pub(crate) fn of(frame: &Frame) -> Self {
        Self {
            time_ns: frame.time_ns,
            tsval: frame.timestamps().map(|(tsval, _)| tsval),
            id: frame.id,
        }
    }

    /// A frame of which only the time is known.
    pub(crate) fn at(time_ns: i64) -> Self {
        Self {
            time_ns,
            ..Self::default()
        }
    }

    /// Whether this frame left after another one; none if that does not show. A sender's timestamps never go back and are made
    /// anew for a retransmission (RFC 7323, 5.4; RFC 3522, 3.2); between two ticks, or without timestamps, its IDs count
    /// on, as those of Linux and Windows do.
    pub(crate) fn is_after(self, other: Self) -> Option<bool> {
        let ticks = self.tsval.zip(other.tsval);
        let ticks = ticks.map_or(0, |(own, others)| own.wrapping_sub(others) as i32);
        let counted = self.id.wrapping_sub(other.id) as i16;
        match (ticks, counted) {
            (0, 0) => None,
            (0, counted) => (counted.unsigned_abs() <= COUNTED).then_some(counted > 0),
            (ticks, _) => Some(ticks > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tsval: Option<u32>, id: u16) -> Sent {
        Sent {
            time_ns: 0,
            tsval,
            id,
        }
    }

    /// Numbers wrap; timestamps outrank IDs; no timestamp is not a timestamp of 0.
    #[test]
    fn timestamps_tell_the_order_and_ids_where_these_are_the_same() {
        let max = u32::MAX;
        for (own, other, expected) in [
            (sent(Some(8), 1), sent(Some(7), 9), Some(true)),
            (sent(Some(7), 9), sent(Some(8), 1), Some(false)),
            (sent(Some(3), 0), sent(Some(max), 0), Some(true)),
            (sent(Some(max), 0), sent(Some(3), 0), Some(false)),
            (sent(Some(7), 9), sent(Some(7), 8), Some(true)),
            (sent(None, 2), sent(None, 65_535), Some(true)),
            (sent(None, 65_535), sent(None, 2), Some(false)),
            (sent(None, 9_000), sent(None, 2), None),
            (sent(None, 0), sent(None, 0), None),
            (sent(Some(7), 0), sent(Some(7), 0), None),
            (sent(Some(1), 5), sent(None, 6), Some(false)),
        ] {
            assert_eq!(own.is_after(other), expected, "{own:?} {other:?}");
        }
    }
}
