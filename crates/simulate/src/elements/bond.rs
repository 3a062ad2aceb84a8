//! A round-robin bond: each frame takes the next line, so that they overtake each other.

use super::Outbox;
use super::link::LinkState;
use crate::packet::Packet;
use crate::path::{Lane, Link};

/// Lines of each bond have streams of chance of their own, apart from those of other elements.
const STREAMS: u64 = 1_000_000;
/// More lines than a bond has.
const LINES: u64 = 64;

/// The lines of a bond, and whose turn it is.
#[derive(Debug)]
pub(crate) struct BondState {
    lines: Vec<LinkState>,
    next: [usize; 2],
}

impl BondState {
    /// Idle lines.
    pub(crate) fn new(lanes: &[Lane], seed: u64, stream: u64) -> Self {
        let lines = lanes.iter().zip(0..).map(|(lane, number)| {
            let stream = STREAMS + stream * LINES + number;
            LinkState::new(&Link::both(lane.clone()), seed, stream)
        });
        Self {
            lines: lines.collect(),
            next: [0; 2],
        }
    }

    /// A packet enters.
    pub(crate) fn handle(&mut self, packet: Packet, now: u64, out: &mut Outbox) {
        let turn = &mut self.next[packet.toward.index()];
        let count = self.lines.len().max(1);
        let line = *turn % count;
        *turn = (line + 1) % count;
        if let Some(line) = self.lines.get_mut(line) {
            line.handle(packet, now, out);
        }
    }
}
