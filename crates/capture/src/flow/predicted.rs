//! The parts of header prediction that concern one direction; see
//! [`crate::connection::Connection::track`].

use coalescope_wire::Flags;

use super::{Around, Flow, Late, STRAY};
use crate::frame::Frame;
use crate::outstanding::{Common, Transmission};

impl Flow {
    /// Whether an ordinary frame begins where the direction stands.
    #[inline(always)]
    pub(crate) fn expects(&self, frame: &Frame) -> bool {
        self.started && frame.seq == self.ranges.next() as u32
    }

    /// Whether an acknowledgment of this direction is of more than was acknowledged.
    #[inline(always)]
    pub(crate) fn is_advanced_by(&self, frame: &Frame) -> bool {
        let more = u64::from(frame.ack.wrapping_sub(self.una as u32));
        more > 0 && more < STRAY
    }

    /// Whether positions can be told.
    #[inline]
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Whether there is data that the other side has not acknowledged.
    #[inline]
    pub(crate) fn has_outstanding(&self) -> bool {
        self.ranges.next() > self.una.max(1)
    }

    /// Takes an expected frame; gives its position.
    #[inline(always)]
    pub(crate) fn send_next(
        &mut self,
        frame: &Frame,
        signature: u64,
        around: Around,
        common: &mut Common,
    ) -> u64 {
        let start = self.ranges.next();
        if frame.payload > 0 {
            self.note_idle(frame, start, around);
            self.ranges.see_next(start + u64::from(frame.payload));
            self.count_new_data(frame);
            self.outstanding
                .push_last(Transmission::new(frame, start), common);
        }
        common.copies.add(frame, signature);
        self.counts.frames += 1;
        self.probe_with(frame);
        self.look_at_checksum(frame);
        start
    }

    #[inline(always)]
    fn count_new_data(&mut self, frame: &Frame) {
        self.note_time(frame);
        self.last_push = frame.flags.has(Flags::PSH);
        self.counts.payload_bytes += u64::from(frame.payload);
        self.tally.add(frame.payload, frame.number);
    }

    /// Takes what an ordinary frame of the other direction acknowledges; true if that advances.
    #[inline(always)]
    pub(crate) fn acknowledged_plainly(
        &mut self,
        frame: &Frame,
        late: Late,
        common: &mut Common,
    ) -> bool {
        self.echo(frame, late.waited);
        let una = self.position(frame.ack);
        self.take_una(una, frame, late.after_hole, common)
    }
}
