//! When an element comes into the path.

use std::collections::HashMap;

use crate::packet::Packet;
use crate::path::Begin;
use crate::schedule::Nanos;

/// Whether it is there yet.
#[derive(Debug)]
pub(crate) struct Since {
    begin: Begin,
    /// Bytes that each connection has sent so far.
    sent: HashMap<usize, u64>,
}

impl Since {
    /// Before any packet.
    pub(crate) fn new(begin: Begin) -> Self {
        Self {
            begin,
            sent: HashMap::new(),
        }
    }

    /// Whether a packet meets the element.
    pub(crate) fn has_begun(&mut self, packet: &Packet, now: Nanos) -> bool {
        match self.begin {
            Begin::At(time) => now >= time,
            Begin::Bytes(toward, bytes) => {
                let sent = self.sent.entry(packet.flow).or_default();
                let has_begun = *sent >= bytes;
                if packet.toward == toward {
                    *sent += packet.ip_len() as u64;
                }
                has_begun
            }
        }
    }
}
