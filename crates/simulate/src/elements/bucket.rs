//! A token bucket: a shaper that delays, or a policer that drops.

use std::collections::VecDeque;

use super::{Outbox, Why};
use crate::packet::Packet;
use crate::schedule::{Nanos, SECOND};
use crate::side::Side;

/// A token bucket in one direction. Tokens are counted as time: the bucket is full when `full_at`
/// is past, and holds nothing when it is `depth` ahead (the generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct Bucket {
    toward: Side,
    rate_bps: u64,
    burst: usize,
    depth: Nanos,
    queue: usize,
    full_at: Nanos,
    waiting: VecDeque<(Nanos, usize)>,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(toward: Side, rate_bps: u64, burst: usize, queue: usize) -> Self {
        Self {
            toward,
            rate_bps,
            burst,
            depth: burst as u64 * 8 * SECOND / rate_bps,
            queue,
            full_at: 0,
            waiting: VecDeque::new(),
        }
    }

    /// A packet asks for tokens.
    pub(crate) fn handle(&mut self, packet: Packet, now: Nanos, out: &mut Outbox) {
        if packet.toward != self.toward {
            out.onward.push((now, packet));
            return;
        }
        let bytes = packet.frame_len();
        let after = self.full_at.max(now) + bytes as u64 * 8 * SECOND / self.rate_bps;
        let leaves = now.max(after.saturating_sub(self.depth));
        if leaves == now || self.may_wait(bytes, now) {
            self.full_at = after;
            self.waiting.push_back((leaves, bytes));
            out.onward.push((leaves, packet));
        } else {
            let why = self.refusal(&packet);
            out.dropped.push((packet, why));
        }
    }

    /// A packet longer than bucket and queue together never passes.
    fn refusal(&self, packet: &Packet) -> Why {
        let most = self.burst.max(self.queue);
        if packet.frame_len() > most {
            let around = packet.frame_len() - packet.ip_len();
            return Why::Longer(most.saturating_sub(around));
        }
        Why::Full
    }

    fn may_wait(&mut self, bytes: usize, now: Nanos) -> bool {
        while self
            .waiting
            .front()
            .is_some_and(|(leaves, _)| *leaves <= now)
        {
            self.waiting.pop_front();
        }
        let queued: usize = self.waiting.iter().map(|(_, bytes)| bytes).sum();
        queued + bytes <= self.queue
    }
}
