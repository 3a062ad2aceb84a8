//! A firewall that drops what ends further ahead of the last acknowledgment than it takes the receiver's window for.

use std::collections::HashMap;

use super::{Outbox, Why};
use crate::packet::{ACK, Packet, Tcp};
use crate::schedule::Nanos;
use crate::side::Side;

/// The firewall, and what it knows of each connection.
#[derive(Debug)]
pub(crate) struct WindowCheck {
    toward: Side,
    bytes: u32,
    acknowledged: HashMap<usize, u32>,
}

impl WindowCheck {
    /// A firewall that has seen nothing.
    pub(crate) fn new(toward: Side, bytes: u32) -> Self {
        Self {
            toward,
            bytes,
            acknowledged: HashMap::new(),
        }
    }

    /// A packet arrives.
    pub(crate) fn handle(&mut self, packet: Packet, now: Nanos, out: &mut Outbox) {
        let tcp = packet.tcp().filter(|tcp| tcp.flags & ACK != 0);
        if packet.toward != self.toward {
            self.acknowledged
                .extend(tcp.map(|tcp| (packet.flow, tcp.ack)));
        } else if tcp.is_some_and(|tcp| self.is_beyond(packet.flow, tcp)) {
            out.dropped.push((packet, Why::Chance));
            return;
        }
        out.onward.push((now, packet));
    }

    fn is_beyond(&self, flow: usize, tcp: &Tcp) -> bool {
        let end = tcp.seq.wrapping_add(tcp.len() as u32);
        let ahead = self
            .acknowledged
            .get(&flow)
            .map_or(0, |from| end.wrapping_sub(*from) as i32);
        tcp.len() > 0 && ahead > self.bytes as i32
    }
}
