//! Timeouts of a sender that waits for acknowledgments that have passed here.

use super::{Around, Flow, MIN_RTO_NS};
use crate::frame::Frame;

/// The shortest tick of a timestamp clock (RFC 7323, 5.4).
const TICK_NS: i64 = 1_000_000;

impl Flow {
    /// Whether the sender had been waiting for an acknowledgment that had passed here, and had sent more than what this
    /// frame repeats, as data that was seen or acknowledged shows: a probe repeats the last segment, and may have waited for its application (RFC 8985, 7.3).
    pub(super) fn awaits_acknowledgment(
        &mut self,
        frame: &Frame,
        next: u64,
        around: Around,
    ) -> bool {
        if !self.acked || frame.payload == 0 || self.counts.data_frames == 0 {
            return false;
        }
        let end = self.position(frame.seq.wrapping_add(frame.payload));
        // A FIN takes one number.
        let is_last = end >= next && end + 1 >= self.una;
        let repeats = end <= self.una.min(next) && !is_last && !around.reset;
        if repeats {
            self.note_unheard(frame, around.least_rtt_ns);
        }
        repeats || self.goes_on_unheard(frame.time_ns)
    }

    /// Whether the frame before repeated what was acknowledged, and the next timeout was not due (RFC 6298, 5.5: twice as
    /// long). A longer silence is the application's.
    #[inline(always)]
    pub(super) fn goes_on_unheard(&self, now_ns: i64) -> bool {
        let unheard = self.tally.odd().unheard;
        let silence_ns = now_ns - self.last_data_ns;
        unheard.last_ns > 0
            && unheard.at_ns == self.last_data_ns
            && silence_ns <= unheard.last_ns.saturating_mul(2)
    }

    /// Counts a silence as long as a timeout, if the acknowledgment had the time to come to the sender, who waited as long: a
    /// round trip and the least variance that counts (RFC 6298, 2.3). In less it may be on its way, on a path that is not always as fast.
    #[cold]
    fn note_unheard(&mut self, frame: &Frame, rtt_ns: i64) {
        let silence_ns = frame.time_ns - self.last_data_ns;
        let in_time = frame.time_ns - self.last_ack_ns >= rtt_ns;
        let is_timeout = silence_ns >= MIN_RTO_NS + rtt_ns;
        let waited = in_time && is_timeout && self.is_sent_after(frame, silence_ns);
        let unheard = &mut self.tally.note_odd().unheard;
        (unheard.at_ns, unheard.last_ns) = (frame.time_ns, silence_ns);
        if waited {
            unheard.waits.add(silence_ns);
        }
    }

    /// Whether the sender made a frame about so long after the one before, by its timestamps: a path that stands still
    /// holds back frames that were made early.
    pub(super) fn is_sent_after(&self, frame: &Frame, silence_ns: i64) -> bool {
        let stamp = frame.timestamps().filter(|_| self.last_tsval != 0);
        stamp.is_none_or(|(tsval, _)| {
            let ticks = i64::from(tsval.wrapping_sub(self.last_tsval));
            ticks * TICK_NS >= silence_ns / 4 * 3
        })
    }
}
