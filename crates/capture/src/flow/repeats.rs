//! Repeated bytes, and bytes that came late.

use std::ops::Range;

use super::{Around, Data, Flow, MIN_RTO_NS};
use crate::frame::Frame;
use crate::passes::Pass;
use crate::tally::note;

/// Where the round trip is not known, bytes that are late by less than this were reordered and not lost; Wireshark
/// takes the same limit.
const REORDER_NS: i64 = 3_000_000;

/// Timestamps of frames that are written one after the other go back by less than this where a capturing host empties
/// several queues in turn, or a file's records were put together; by more where somebody set the clock: ntpd steps no clock for less
/// than 128 ms.
const IN_TURNS_NS: i64 = 128_000_000;

/// Whether a frame was captured before the frame that opened its hole: it was overtaken in the file only.
pub(super) fn is_written_late(age_ns: i64) -> bool {
    (-IN_TURNS_NS..0).contains(&age_ns)
}

impl Flow {
    /// The shortest time in which a repair can come: one round trip. The handshake may have waited in a queue behind
    /// other frames.
    fn repair_takes_ns(&self, around: Around) -> Option<i64> {
        let halves_ns = self.turn.min_ns().zip(around.turn_ns);
        let shortest_ns = halves_ns.map(|(there, back)| there + back);
        let handshake_ns = (around.rtt_ns > 0).then_some(around.rtt_ns);
        shortest_ns.into_iter().chain(handshake_ns).min()
    }

    /// New bytes below the mark are late, that is sent again, if their stamps say so; else if a repair can have come by then. Of what
    /// left in order a box on the way may have sent a copy, with the first stamps: where no round trip shows how soon, a
    /// timeout's time later.
    #[cold]
    pub(super) fn out_of_order(
        &mut self,
        frame: &Frame,
        age_ns: i64,
        is_after: Option<bool>,
        around: Around,
    ) -> Data {
        let unknown_ns = is_after.map_or(REORDER_NS, |_| MIN_RTO_NS);
        let repair_ns = self.repair_takes_ns(around).unwrap_or(unknown_ns);
        let is_late = is_after == Some(true) || age_ns >= repair_ns;
        let odd = self.tally.note_odd();
        odd.out_of_order += 1;
        odd.late += u32::from(is_late);
        if is_late {
            odd.note_repair(age_ns);
        }
        note(&mut self.tally.examples().out_of_order, frame.number);
        Data::OutOfOrder
    }

    #[cold]
    pub(super) fn repeat(&mut self, frame: &Frame, start: u64, end: u64, around: Around) -> Data {
        let alone = self.tally.is_one_segment(frame.payload);
        let before = self.outstanding.repeat(start..end, frame.time_ns, alone);
        note(&mut self.tally.examples().retransmitted, frame.number);
        let pass = Pass {
            before: self.ranges.next(),
            time_ns: frame.time_ns,
        };
        self.tally.retry(frame.payload, pass, before.in_vain);
        let waited_ns = before.time_ns.map_or(0, |before| frame.time_ns - before);
        self.follow_tried(start, end);
        self.note_lately(start..end);
        let odd = self.tally.note_odd();
        odd.retransmitted += 1;
        // The receiver had the data: a sender without SACK goes back and sends all of it again (RFC 5681, 3.1). With
        // SACK a D-SACK reports such data.
        odd.spurious += u32::from(around.without_sack && self.acked && end <= self.una);
        odd.note_repair(waited_ns);
        if waited_ns >= MIN_RTO_NS + around.least_rtt_ns {
            odd.timeout += 1;
            odd.stuck.add(start, end, waited_ns);
            // Data up to here is sent again without a new timeout (RFC 6298 5.4, RFC 5681 3.1).
            odd.recovery_until = self.ranges.next();
        } else if around.loss_reported {
            odd.fast += 1;
        } else if start < odd.recovery_until {
            odd.timeout += 1;
        }
        Data::Repeat
    }

    fn note_lately(&mut self, range: Range<u64>) {
        let slow = self.slow.get_or_insert_default();
        slow.lately.get_or_insert_default().add(range);
    }

    /// Whether some of these bytes were sent again lately.
    pub(super) fn has_repeated(&self, range: &Range<u64>) -> bool {
        let lately = self.slow.as_ref().and_then(|slow| slow.lately.as_ref());
        lately.is_some_and(|lately| lately.has_some_of(range))
    }

    /// Follows one retransmission at a time: it arrived if its bytes are acknowledged, and did not if they are sent
    /// once more.
    fn follow_tried(&mut self, start: u64, end: u64) {
        let (tried, len) = self.tally.odd().tried;
        if !self.end_trial() && len > 0 && start > tried {
            return;
        }
        self.tally.note_odd().tried = (end, (end - start) as u32);
    }

    /// Counts the followed retransmission as arrived if it has been acknowledged; true if so.
    pub(super) fn end_trial(&mut self) -> bool {
        let (tried, len) = self.tally.odd().tried;
        let has_arrived = len > 0 && self.acked && self.una >= tried;
        if has_arrived {
            self.longest.arrived(len);
        }
        has_arrived
    }
}
