//! What is settled once a direction has ended, or only one direction was captured.

use super::Flow;
use crate::outstanding::Common;

/// At the end of a capture without acknowledgments: a sender has sent lost data again within this time, five of Linux's
/// shortest timeouts.
const TAIL_NS: i64 = 1_000_000_000;

impl Flow {
    /// In a capture of one direction: data counts as arrived if it was not sent again for so long.
    #[cold]
    pub(super) fn count_unacknowledged(&mut self, sent_before_ns: i64, common: &mut Common) {
        let (tally, longest) = (&mut self.tally, &mut self.longest);
        let sent = &mut self.outstanding;
        sent.settle_sent_before(sent_before_ns, common, |fate| longest.count(fate, tally));
    }

    /// Bytes that the other side acknowledged and this capture does not have.
    pub(crate) fn missed_bytes(&self) -> u64 {
        // A FIN takes one number; it may itself be what the capture missed.
        let missing = if self.acked {
            self.ranges.missing_below(self.una)
        } else {
            0
        };
        missing.saturating_sub(u64::from(self.una == self.ranges.next() + 1))
    }

    /// Payload bytes, each once.
    pub(crate) fn unique_bytes(&self) -> u64 {
        self.counts.payload_bytes - self.tally.odd().repeated_bytes
    }

    /// Whether data is left of which the acknowledgments were not captured: none was, or the sender went farther than the
    /// largest window lets it, which a capture without pure ACKs shows behind the handshake.
    fn lacks_acknowledgments(&self, largest_window: Option<u32>) -> bool {
        let ahead = self.ranges.next().saturating_sub(self.una);
        !self.acked || largest_window.is_some_and(|window| ahead > 2 * u64::from(window))
    }

    /// Settles what is still open.
    pub(crate) fn finish(&mut self, common: &mut Common, now_ns: i64, largest_window: Option<u32>) {
        self.tally.finish();
        self.end_trial();
        if self.lacks_acknowledgments(largest_window) {
            self.count_unacknowledged(now_ns - TAIL_NS, common);
            let (tally, longest) = (&mut self.tally, &mut self.longest);
            self.outstanding
                .settle_unrepaired(common, |fate| longest.count(fate, tally));
        }
        let (tally, longest) = (&mut self.tally, &mut self.longest);
        self.outstanding
            .finish(common, |fate| longest.count(fate, tally));
        self.acks.finish(now_ns);
    }
}
