//! How many ACKs a receiver sends for one direction's data: an estimate.

/// Segments after which an ACK is due at the latest (RFC 9293 section 3.8.6.3, RFC 5681 section
/// 4.2).
const EVERY: u64 = 2;

/// A receiver that acknowledges every second segment, and a merged frame at once, as Linux does since a merged frame is
/// more than one full segment (`__tcp_ack_snd_check`).
///
/// Every segment counts as a full one. The delayed ACK's timer never fires; segments left at the end are acknowledged
/// once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Receiver {
    sent: u64,
    pending: u64,
}

impl Receiver {
    /// Takes a frame of so many segments.
    pub(crate) fn take(&mut self, segments: u64) {
        self.pending += segments;
        if self.pending >= EVERY {
            self.sent += 1;
            self.pending = 0;
        }
    }

    /// Number of ACKs for all frames.
    pub(crate) fn acks(&self) -> u64 {
        self.sent + u64::from(self.pending > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acks(frames: &[u64]) -> u64 {
        let mut receiver = Receiver::default();
        frames.iter().for_each(|&segments| receiver.take(segments));
        receiver.acks()
    }

    #[test]
    fn every_second_segment() {
        assert_eq!(acks(&[]), 0);
        assert_eq!(acks(&[1]), 1);
        assert_eq!(acks(&[1; 10]), 5);
        assert_eq!(acks(&[1; 11]), 6);
    }

    #[test]
    fn a_merged_frame_at_once() {
        assert_eq!(acks(&[44]), 1);
        assert_eq!(acks(&[1, 44, 1]), 2);
        assert_eq!(acks(&[3, 1, 1, 3]), 3);
    }

    #[test]
    fn merging_never_costs_any() {
        for frames in [&[1, 2][..], &[2, 1], &[1, 3, 1], &[1, 1, 1, 2]] {
            let segments = frames.iter().sum::<u64>() as usize;
            assert!(acks(frames) <= acks(&vec![1; segments]), "{frames:?}");
        }
    }
}
