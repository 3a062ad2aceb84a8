//! The parts of header prediction that concern one direction; see
//! [`crate::connection::Connection::track`].

use super::restarts::Newest;
use super::{Flow, MIN_RTO_NS, STRAY};
use crate::acks::Acks;
use crate::doubled::First;
use crate::frame::Frame;
use crate::outstanding::{Common, Transmission};

impl Flow {
    /// Whether an ordinary frame begins at the next position of the direction.
    #[inline(always)]
    pub(crate) fn expects(&self, frame: &Frame) -> bool {
        self.started && frame.seq == self.ranges.next() as u32
    }

    /// Whether a frame of the other direction acknowledges more of this one than was acknowledged before.
    #[inline(always)]
    pub(crate) fn is_advanced_by(&self, frame: &Frame) -> bool {
        let more = u64::from(frame.ack.wrapping_sub(self.una as u32));
        more > 0 && more < STRAY
    }

    /// Where to look for the frame that first acknowledged the position that a frame of the other direction
    /// acknowledges; `acks` are those of that direction.
    #[inline]
    pub(crate) fn first_acknowledged(&self, frame: &Frame, acks: &Acks) -> First {
        match frame.ack.wrapping_sub(self.una as u32) as i32 {
            0 => First::At(acks.advanced_at),
            ..0 => First::Anywhere,
            1.. => First::None,
        }
    }

    /// Whether the direction has begun, so that positions are defined.
    #[inline]
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Whether the data before is so recent that the sender waited neither for a timeout nor for its application.
    #[inline(always)]
    pub(crate) fn goes_on_at(&self, now_ns: i64) -> bool {
        now_ns - self.last_data_ns < MIN_RTO_NS && self.counts.data_frames > 0
    }

    /// Whether there is data that the other side has not acknowledged.
    #[inline]
    pub(crate) fn has_outstanding(&self) -> bool {
        self.ranges.next() > self.una.max(1)
    }

    /// Takes an expected frame with data.
    #[inline(always)]
    pub(crate) fn send_next(&mut self, frame: &Frame, ends: u64, common: &mut Common) {
        let signature = frame.plain_signature(ends);
        let place = common.copies.add_news(frame, signature, ends);
        let start = self.ranges.next();
        self.ranges.see_next(start + u64::from(frame.payload));
        self.note_time(frame);
        self.newest = Newest::of(frame);
        self.counts.payload_bytes += u64::from(frame.payload);
        self.tally.add(frame.payload, frame.number);
        self.outstanding
            .push_last(Transmission::new(frame, start).at(place), common);
        self.counts.frames += 1;
        self.note_stamp(frame);
        self.look_at_checksum(frame);
    }

    /// Remembers a frame without data that acknowledges more.
    #[inline(always)]
    pub(crate) fn remember_advance(
        &mut self,
        frame: &Frame,
        signature: u64,
        ends: u64,
        common: &mut Common,
    ) {
        self.acks.advanced_at = common.copies.add_news(frame, signature, ends);
    }

    /// Takes an expected frame without data.
    #[inline(always)]
    pub(crate) fn send_acknowledgment(&mut self, frame: &Frame) {
        self.counts.frames += 1;
        self.probe_with(frame);
        self.look_at_checksum(frame);
    }

    /// Processes the acknowledgment in an ordinary frame of the other direction; returns the position if it advances.
    /// `acks` are those of that direction, whose sender has not waited.
    #[inline(always)]
    pub(crate) fn acknowledged_plainly(
        &mut self,
        frame: &Frame,
        acks: &Acks,
        common: &mut Common,
    ) -> Option<u64> {
        if self.is_probing() {
            self.echo(frame, false);
        }
        self.acked = true;
        // Most frames with data acknowledge nothing new.
        if frame.ack == self.una as u32 {
            return None;
        }
        let una = self.position_from(self.ranges.next(), frame.ack);
        self.is_advance(una).then(|| {
            self.advance(una, frame, acks.is_repeating(), common);
            una
        })
    }
}
