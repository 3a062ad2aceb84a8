//! How far the receivers' windows let the senders go.

use coalescope_wire::Flags;

use super::{Connection, HIGH, LOW};
use crate::frame::Frame;

impl Connection {
    /// Follows the right edge of both receive windows: the frame's sender may have reached the edge of one, and the
    /// frame announces the edge of the other.
    #[inline(always)]
    pub(super) fn follow_edge(&mut self, frame: &Frame, is_reached: bool, is_awaited: bool) {
        if is_reached {
            self.reach_edge(frame);
        }
        if is_awaited {
            self.announce_edge(frame);
        }
    }

    #[inline(never)]
    fn reach_edge(&mut self, frame: &Frame) {
        let halves = self.halves();
        let turn_ns = if frame.from_low == self.client_is_low {
            halves.to_client_ns
        } else {
            halves.to_server_ns
        };
        let rtt_ns = self.rtt_ns;
        let (sender, receiver) = self.sides(frame);
        sender.reach_edge(frame.time_ns, &receiver.acks, (turn_ns, rtt_ns));
    }

    #[inline(never)]
    fn announce_edge(&mut self, frame: &Frame) {
        if frame.flags.has(Flags::SYN | Flags::RST) || !frame.flags.has(Flags::ACK) {
            return;
        }
        let (sender, receiver) = self.sides(frame);
        receiver.announce_edge(&sender.acks, frame.time_ns);
    }

    /// For how long a side with this direction's data has been waited for: since the other one's data, if it sent any.
    pub(crate) fn waited_ns(&self, index: usize) -> i64 {
        let other = &self.flows[1 - index];
        if other.counts.data_frames > 0 {
            self.last_ns - other.last_data_ns
        } else {
            0
        }
    }

    /// Scale of the windows of a direction, where no handshake shows it but all else does.
    pub(crate) fn inferred_scale(&self, index: usize) -> Option<u8> {
        let client = if self.client_is_low { LOW } else { HIGH };
        let syn = if index == client {
            self.handshake.syn
        } else {
            self.handshake.syn_ack
        };
        self.flows[1 - index].inferred_scale(syn.map(|syn| syn.window))
    }

    /// Time for which the receiver's window held back the data of a direction, as far as the window's scale is known.
    pub(crate) fn held_back_ns(&self, index: usize) -> i64 {
        let scale = self.flows[1 - index].acks.scale();
        let is_known = scale.or_else(|| self.inferred_scale(1 - index)).is_some();
        if is_known {
            self.flows[index].edge_ns
        } else {
            0
        }
    }
}
