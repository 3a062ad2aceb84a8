//! The receiving half of a TCP connection: order, acknowledgements, window.

use std::collections::BTreeMap;

use crate::scenario::{Host, Reader};
use crate::schedule::Nanos;

/// SACK blocks in one header; with timestamps no more than three fit (RFC 2018 section 3).
const BLOCKS: usize = 3;

/// The receiving half.
#[derive(Debug)]
pub(crate) struct Receiver {
    mss: u64,
    buffer: u64,
    /// The window as far as it has grown, and bytes received since it did.
    grown: (u64, u64),
    reader: Reader,
    scale: u8,
    every: u32,
    delay: Nanos,
    most_quick: u32,
    next: u64,
    fin: Option<u64>,
    early: BTreeMap<u64, u64>,
    latest: Option<u64>,
    duplicate: Option<(u64, u64)>,
    stale: bool,
    filled: Option<(u64, u64)>,
    unread: u64,
    read_at: Option<Nanos>,
    edge: u64,
    pending: u64,
    quick: u32,
    ack_at: Option<Nanos>,
}

impl Receiver {
    /// A receiver after the handshake.
    pub(crate) fn new(mss: u64, host: &Host) -> Self {
        Self {
            mss,
            buffer: host.receive_buffer,
            grown: (host.first_window.unwrap_or(host.receive_buffer), 0),
            reader: host.reader,
            scale: host.window_scale,
            every: host.ack_every,
            delay: host.ack_delay,
            most_quick: host.quick_acks,
            next: 0,
            fin: None,
            early: BTreeMap::new(),
            latest: None,
            duplicate: None,
            stale: host.stale_sack,
            filled: None,
            unread: 0,
            read_at: None,
            edge: host.first_window.unwrap_or(host.receive_buffer),
            pending: 0,
            quick: host.quick_acks,
            ack_at: None,
        }
    }

    /// Next byte expected, the FIN counted once it is in order.
    pub(crate) fn next(&self) -> u64 {
        self.next + u64::from(self.is_closed())
    }

    /// Bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.next
    }

    /// The peer's FIN has been received in order.
    pub(crate) fn is_closed(&self) -> bool {
        self.fin == Some(self.next)
    }

    /// When the receiver wants to be called.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        [self.ack_at, self.read_at].into_iter().flatten().min()
    }

    /// Takes in a frame of `segments` segments; true if it must be acknowledged at once.
    pub(crate) fn receive(&mut self, start: u64, len: u64, segments: usize, now: Nanos) -> bool {
        let end = start + len;
        let before = self.next;
        if end <= self.next {
            self.duplicate = Some((start, end));
            self.quick = self.most_quick;
            return true;
        }
        if start > self.next {
            self.insert_early(start, end);
            self.quick = self.most_quick;
            return true;
        }
        let had_gap = !self.early.is_empty();
        self.next = end;
        self.absorb();
        self.filled = (had_gap && self.stale).then_some((before, self.next));
        self.unread += self.next - before;
        self.widen(self.next - before);
        self.read(now);
        self.pending += len;
        self.must_acknowledge(had_gap, segments, now)
    }

    /// The window doubles when as much as it holds was received (as in Linux's `tcp_rcv_space_adjust`).
    fn widen(&mut self, received: u64) {
        let (window, since) = self.grown;
        let is_due = since + received >= window && window < self.buffer;
        self.grown = if is_due {
            ((2 * window).min(self.buffer), 0)
        } else {
            (window, since + received)
        };
    }

    /// Every second segment, or after 40 ms (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).
    fn must_acknowledge(&mut self, had_gap: bool, segments: usize, now: Nanos) -> bool {
        let merged = segments > 1 && self.every <= 2;
        let enough = self.pending >= u64::from(self.every) * self.mss;
        if had_gap || merged || enough || self.quick > 0 {
            return true;
        }
        self.ack_at = self.ack_at.or(Some(now + self.delay));
        false
    }

    /// Takes in a FIN after the byte before `at`; it's always acknowledged at once.
    pub(crate) fn finish(&mut self, at: u64) {
        self.fin = Some(at);
    }

    fn insert_early(&mut self, start: u64, end: u64) {
        let known = self.early.range(..=start).next_back();
        if let Some((&left, &right)) = known.filter(|(_, right)| **right >= end) {
            self.duplicate = Some((start, end));
            self.latest = Some(left);
            debug_assert!(right >= end);
            return;
        }
        let (mut left, mut right) = (start, end);
        let touching = |(&from, &to): (&u64, &u64)| (from, to);
        let near: Vec<_> = self
            .early
            .range(..=end)
            .map(touching)
            .filter(|(_, to)| *to >= start)
            .collect();
        for (from, to) in near {
            left = left.min(from);
            right = right.max(to);
            self.early.remove(&from);
        }
        self.early.insert(left, right);
        self.latest = Some(left);
    }

    /// Moves over early data that is now in order.
    fn absorb(&mut self) {
        while let Some((&from, &to)) = self.early.first_key_value() {
            if from > self.next {
                break;
            }
            self.next = self.next.max(to);
            self.early.remove(&from);
        }
    }

    /// Lets the application read if it is time to.
    fn read(&mut self, now: Nanos) {
        match self.reader {
            Reader::AtOnce => self.unread = 0,
            Reader::Steady { every, .. } => {
                self.read_at = self.read_at.or((self.unread > 0).then_some(now + every));
            }
            Reader::Pausing { every, pause } => {
                let into = now % every.max(1);
                if into >= pause {
                    self.unread = 0;
                } else if self.unread > 0 {
                    self.read_at = self.read_at.or(Some(now - into + pause));
                }
            }
        }
    }

    /// Called at the time asked for; true if there is something to acknowledge or to announce.
    pub(crate) fn on_time(&mut self, now: Nanos) -> bool {
        let due = self.ack_at.is_some_and(|at| at <= now);
        if self.read_at.is_none_or(|at| at > now) {
            return due;
        }
        self.read_at = None;
        if let Reader::Steady { bytes, .. } = self.reader {
            self.unread -= self.unread.min(bytes);
        }
        self.read(now);
        // A window update is worth a segment when it opens a window that was as good as closed.
        let shut = self.edge.saturating_sub(self.next) < self.mss;
        due || shut && self.new_edge() > self.edge
    }

    /// Where the window's right edge may be now: receiver-side silly window avoidance (RFC 9293
    /// section 3.8.6.2.2), in whole segments as Linux does it (`__tcp_select_window`), without
    /// which a window would never close entirely.
    fn new_edge(&self) -> u64 {
        let free = self.grown.0.saturating_sub(self.unread);
        let edge = self.next + free - free % self.mss;
        let worth = self.mss.min(self.buffer / 2);
        if edge >= self.edge + worth {
            edge
        } else {
            self.edge
        }
    }

    /// The window field of an acknowledgement that is being sent; delayed ones are settled by it.
    pub(crate) fn window(&mut self) -> u16 {
        self.edge = self.new_edge();
        self.pending = 0;
        self.ack_at = None;
        self.quick = self.quick.saturating_sub(1);
        let window = self.edge.saturating_sub(self.next()) >> self.scale;
        window.min(0xffff) as u16
    }

    /// SACK blocks for an acknowledgement: a duplicate first (RFC 2883), then the newest.
    pub(crate) fn blocks(&mut self) -> Vec<(u64, u64)> {
        let filled = self.filled.take();
        let mut blocks: Vec<_> = self.duplicate.take().or(filled).into_iter().collect();
        let newest = self.latest.and_then(|left| self.early.get_key_value(&left));
        blocks.extend(newest.map(|(from, to)| (*from, *to)));
        let others = self.early.iter().rev().map(|(from, to)| (*from, *to));
        let others: Vec<_> = others
            .filter(|block| Some(block.0) != self.latest)
            .collect();
        blocks.extend(others);
        blocks.truncate(BLOCKS);
        blocks
    }
}
