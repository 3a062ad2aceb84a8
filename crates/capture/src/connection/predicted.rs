//! Header prediction (Van Jacobson, "4BSD Header Prediction", 1990): nearly every frame is the
//! next data of its direction or a plain acknowledgment, on a connection of which all is known.
//! Such a frame passes every check of the general path without effect, so it is taken without them.

#[cfg(test)]
mod tests;

use super::{Connection, HIGH, LOW, Tracked};
use crate::flow::{Around, Data, Late};
use crate::frame::Frame;
use crate::outstanding::Common;

impl Connection {
    /// Whether a frame is what was to be expected next. If so, [`Connection::track_predicted`]
    /// does what [`Connection::track_any`] would.
    #[inline(always)]
    pub(super) fn predicts(&self, frame: &Frame, signature: u64, common: &Common) -> bool {
        let [low, high] = &self.flows;
        let (sender, receiver) = if frame.from_low {
            (low, high)
        } else {
            (high, low)
        };
        frame.is_ordinary()
            && sender.expects(frame)
            && receiver.is_started()
            && !self.awaits_handshake
            // A copy carries no next data, and acknowledges nothing more.
            && (frame.payload > 0
                || receiver.is_advanced_by(frame)
                || !common.copies.may_know(frame, signature))
    }

    /// Takes a frame that was predicted.
    #[inline(always)]
    pub(super) fn track_predicted(
        &mut self,
        frame: &Frame,
        signature: u64,
        common: &mut Common,
    ) -> Tracked {
        self.last_ns = self.last_ns.max(frame.time_ns);
        let least_rtt_ns = self.least_rtt_ns();
        let [low, high] = &mut self.flows;
        let (sender, receiver) = if frame.from_low {
            (low, high)
        } else {
            (high, low)
        };
        let around = Around {
            loss_reported: false,
            // Only what was sent again is asked for it.
            without_sack: false,
            rtt_ns: self.rtt_ns,
            least_rtt_ns,
            // Only what fills a hole is asked for it.
            turn_ns: None,
            asked_ns: receiver.last_data_ns,
        };
        let waited = sender.may_have_waited(frame, least_rtt_ns);
        let start = sender.send_next(frame, signature, around, common);
        let late = Late {
            after_hole: sender.acks.is_repeating(),
            waited,
        };
        let acked = receiver
            .acknowledged_plainly(frame, late, common)
            .then_some(receiver.una);
        sender.acks.add_plain(frame, receiver.has_outstanding());
        let from = if frame.from_low { LOW } else { HIGH };
        self.follow_edge(frame, from);
        if frame.payload == 0 {
            return Tracked {
                start: 0,
                data: Data::None,
                acked,
            };
        }
        self.phases.data(frame, (from == LOW) == self.client_is_low);
        self.learn_rtt();
        Tracked {
            start,
            data: Data::New,
            acked,
        }
    }
}
