//! Header prediction (Van Jacobson, "4BSD Header Prediction", 1990): nearly every frame is the
//! next data of its direction or a plain acknowledgment, on a connection of which all is known.
//! Such a frame passes every check of the general path without effect, so it is taken without them.

#[cfg(test)]
mod tests;

use super::{Connection, Tracked};
use crate::flow::Data;
use crate::frame::Frame;
use crate::outstanding::Common;

/// What a predicted frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// Data at the next position of its direction, soon after the data before.
    NextData,
    /// No data; the acknowledgment advances.
    Acknowledgment,
    /// No data; the acknowledgment does not advance, and the frame is no copy of another.
    Repeated,
}

impl Connection {
    /// What a frame is, if it was to be expected next. If so, [`Connection::take_predicted`]
    /// does what [`Connection::track_any`] would.
    #[inline(always)]
    pub(super) fn predicts(&self, frame: &Frame, common: &Common) -> Option<Prediction> {
        let [low, high] = &self.flows;
        let (sender, receiver) = if frame.from_low {
            (low, high)
        } else {
            (high, low)
        };
        if !frame.is_ordinary() || !self.is_steady || !sender.expects(frame) {
            return None;
        }
        if frame.payload > 0 {
            // A copy of an earlier frame never has the next data.
            return sender
                .goes_on_at(frame.time_ns)
                .then_some(Prediction::NextData);
        }
        // Nor does a copy advance the acknowledgment.
        if receiver.is_advanced_by(frame) {
            return Some(Prediction::Acknowledgment);
        }
        let is_new = !self.may_be_copy(frame, common);
        is_new.then_some(Prediction::Repeated)
    }

    #[inline(never)]
    fn may_be_copy(&self, frame: &Frame, common: &Common) -> bool {
        let [low, high] = &self.flows;
        let (sender, receiver) = if frame.from_low {
            (low, high)
        } else {
            (high, low)
        };
        let first = receiver.first_acknowledged(frame, &sender.acks);
        let signature = frame.plain_signature(self.ends);
        common.copies.may_know(frame, signature, first, self.ends)
    }

    /// Takes a frame that was predicted.
    #[inline(always)]
    pub(super) fn track_predicted(
        &mut self,
        frame: &Frame,
        prediction: Prediction,
        common: &mut Common,
    ) -> Tracked {
        let (sender, _) = self.sides(frame);
        let start = sender.ranges.next();
        let acked = self.take_predicted(frame, prediction, common);
        let (start, data) = match prediction {
            Prediction::NextData => (start, Data::New),
            Prediction::Acknowledgment | Prediction::Repeated => (0, Data::None),
        };
        Tracked { start, data, acked }
    }

    /// Takes a frame that was predicted; returns the position that it acknowledges, if that advances.
    #[inline(always)]
    pub(super) fn take_predicted(
        &mut self,
        frame: &Frame,
        prediction: Prediction,
        common: &mut Common,
    ) -> Option<u64> {
        match prediction {
            Prediction::NextData => self.take_next_data(frame, common),
            Prediction::Acknowledgment => self.take_acknowledgment(frame, true, common),
            Prediction::Repeated => self.take_acknowledgment(frame, false, common),
        }
    }

    /// Not inlined, so that the compiler allocates registers for this function alone.
    #[inline(never)]
    fn take_next_data(&mut self, frame: &Frame, common: &mut Common) -> Option<u64> {
        self.last_ns = self.last_ns.max(frame.time_ns);
        let (rtt_ns, ends) = (self.rtt_ns, self.ends);
        let (sender, receiver) = self.sides(frame);
        sender.note_idle_before(frame, receiver.last_data_ns, rtt_ns);
        sender.send_next(frame, ends, common);
        // The data came soon after the data before, so its sender had not waited.
        let acked = receiver.acknowledged_plainly(frame, &sender.acks, common);
        sender.acks.add_data(frame);
        let (is_reached, is_awaited) = (sender.is_at_edge(), receiver.awaits_edge());
        self.phases
            .data(frame, frame.from_low == self.client_is_low);
        self.learn_rtt();
        self.follow_edge(frame, is_reached, is_awaited);
        acked
    }

    /// Not inlined, like `take_next_data`.
    #[inline(never)]
    fn take_acknowledgment(
        &mut self,
        frame: &Frame,
        advances: bool,
        common: &mut Common,
    ) -> Option<u64> {
        self.last_ns = self.last_ns.max(frame.time_ns);
        let ends = self.ends;
        let (sender, receiver) = self.sides(frame);
        let signature = frame.plain_signature(ends);
        if advances {
            sender.remember_advance(frame, signature, ends, common);
        } else {
            common.copies.add(frame, signature);
        }
        sender.send_acknowledgment(frame);
        let acked = receiver.acknowledged_plainly(frame, &sender.acks, common);
        sender.acks.add_pure(frame, receiver.has_outstanding());
        let is_awaited = receiver.awaits_edge();
        self.follow_edge(frame, false, is_awaited);
        acked
    }
}
