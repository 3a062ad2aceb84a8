//! Marks instead of losses (RFC 3168).

use super::super::sender::Transmission;
use super::Endpoint;
use crate::packet::{CWR, ECE, MARKED, MAY_BE_MARKED, Packet, RST, SYN, Tcp};

impl Endpoint {
    /// Echoes marks on arriving packets until their sender sends CWR (RFC 3168 section 6.1.3).
    pub(super) fn hear_marks(&mut self, packet: &Packet, tcp: &Tcp) {
        self.echoes = packet.ecn == MARKED || self.echoes && tcp.flags & CWR == 0;
        let heard = tcp.flags & ECE != 0 && tcp.flags & SYN == 0;
        if let Some((sender, _)) = self.halves.as_mut().filter(|_| heard) {
            sender.hear_mark();
        }
    }

    pub(super) fn cwr_flag(&mut self, transmission: &Transmission) -> u8 {
        let sender = self
            .halves
            .as_mut()
            .filter(|_| !transmission.lens.is_empty());
        let is_reduced = sender.is_some_and(|(sender, _)| sender.take_cwr());
        if is_reduced { CWR } else { 0 }
    }

    /// Only what carries data may be marked (RFC 3168 section 6.1.4).
    pub(super) fn ecn_of(&self, tcp: &Tcp) -> u8 {
        if self.host.ecn && tcp.len() > 0 && tcp.flags & (SYN | RST) == 0 {
            MAY_BE_MARKED
        } else {
            0
        }
    }
}
