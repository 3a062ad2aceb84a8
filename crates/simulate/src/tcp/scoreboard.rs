//! The segments in flight, and their state (RFC 6675's scoreboard).

use std::collections::VecDeque;

use super::rtt::Rtt;
use crate::schedule::Nanos;

/// A segment that has been sent and not yet been acknowledged. Its limits never change, so a
/// retransmission is always this segment alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) len: u32,
    pub(crate) fin: bool,
    sent_at: Nanos,
    sends: u32,
    sacked: bool,
    /// Thought to be lost, and not sent again since.
    lost: bool,
}

impl Chunk {
    /// A segment sent for the first time.
    pub(crate) fn new(start: u64, len: u32, fin: bool, now: Nanos) -> Self {
        Self {
            start,
            len,
            fin,
            sent_at: now,
            sends: 1,
            sacked: false,
            lost: false,
        }
    }

    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    fn cut(self, mss: u64) -> Vec<Self> {
        if u64::from(self.len) <= mss || self.sacked {
            return vec![self];
        }
        let starts = (0..u64::from(self.len)).step_by(mss.max(1) as usize);
        let part = |from: u64| Self {
            start: self.start + from,
            len: (u64::from(self.len) - from).min(mss) as u32,
            lost: true,
            ..self
        };
        starts.map(part).collect()
    }

    fn resend(&mut self, now: Nanos) -> Self {
        self.sent_at = now;
        self.sends += 1;
        self.lost = false;
        *self
    }
}

/// The segments under way, in order.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    chunks: VecDeque<Chunk>,
    /// When the most recently sent of those that arrived was sent (RFC 8985's RACK.xmit_ts).
    newest_arrived: Nanos,
}

impl Scoreboard {
    /// Enters a segment just sent.
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.chunks.push_back(chunk);
    }

    /// Nothing under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Segments under way.
    pub(crate) fn count(&self) -> usize {
        self.chunks.len()
    }

    /// The first segment not acknowledged.
    pub(crate) fn first(&self) -> Option<&Chunk> {
        self.chunks.front()
    }

    /// Some segment is marked lost.
    pub(crate) fn any_lost(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.lost)
    }

    /// Some segment has been acknowledged selectively.
    pub(crate) fn any_sacked(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.sacked)
    }

    /// Bytes thought to be in the network (RFC 6675 section 4, SetPipe).
    pub(crate) fn pipe(&self) -> u64 {
        let flying = self
            .chunks
            .iter()
            .filter(|chunk| !chunk.sacked && !chunk.lost);
        flying.map(|chunk| u64::from(chunk.len)).sum()
    }

    /// Removes acknowledged segments; returns the newly acknowledged bytes.
    pub(crate) fn acknowledge(&mut self, upto: u64, now: Nanos, rtt: &mut Rtt) -> u64 {
        let mut delivered = 0;
        let mut sample = None;
        while let Some(chunk) = self
            .chunks
            .front()
            .copied()
            .filter(|chunk| chunk.end() <= upto)
        {
            if !chunk.sacked {
                delivered += u64::from(chunk.len);
                self.arrived(&chunk, now, rtt);
                sample = (chunk.sends == 1).then_some(now - chunk.sent_at).or(sample);
            }
            self.chunks.pop_front();
        }
        if let Some(sample) = sample {
            rtt.sample(sample);
        }
        delivered
    }

    /// Marks selectively acknowledged segments; returns the newly acknowledged bytes.
    pub(crate) fn sack(&mut self, blocks: &[(u64, u64)], now: Nanos, rtt: &mut Rtt) -> u64 {
        let mut delivered = 0;
        for &(left, right) in blocks {
            let from = self.chunks.partition_point(|chunk| chunk.start < left);
            for index in from..self.chunks.len() {
                let chunk = self.chunks[index];
                if chunk.end() > right {
                    break;
                }
                if !chunk.sacked {
                    delivered += u64::from(chunk.len);
                    self.chunks[index].sacked = true;
                    self.chunks[index].lost = false;
                    self.arrived(&chunk, now, rtt);
                }
            }
        }
        delivered
    }

    /// Notes an arrival. RFC 8985 section 6.2 step 2: an arrival sooner than any round trip is of an earlier sending.
    fn arrived(&mut self, chunk: &Chunk, now: Nanos, rtt: &Rtt) {
        let ambiguous = chunk.sends > 1 && now - chunk.sent_at < rtt.least();
        if !ambiguous {
            self.newest_arrived = self.newest_arrived.max(chunk.sent_at);
        }
    }

    /// RFC 6675 section 4, IsLost: more than `above` bytes SACKed above a hole. Only for first
    /// sendings; the SACKs tell nothing about a retransmission.
    pub(crate) fn mark_holes(&mut self, above: u64) {
        let mut sacked = 0;
        for chunk in self.chunks.iter_mut().rev() {
            if chunk.sacked {
                sacked += u64::from(chunk.len);
            } else if sacked > above && chunk.sends == 1 {
                chunk.lost = true;
            }
        }
    }

    /// Marks segments lost if one sent more than `tolerance` later has arrived (RFC 8985 section 6.2 step 5).
    pub(crate) fn mark_overtaken(&mut self, tolerance: Nanos) {
        for chunk in self.chunks.iter_mut().filter(|chunk| !chunk.sacked) {
            if chunk.sent_at + tolerance < self.newest_arrived {
                chunk.lost = true;
            }
        }
    }

    /// Marks the first segment lost.
    pub(crate) fn mark_first(&mut self) {
        if let Some(chunk) = self.chunks.front_mut() {
            chunk.lost = true;
        }
    }

    /// Marks all segments lost that are not SACKed.
    pub(crate) fn lose_all(&mut self) {
        for chunk in self.chunks.iter_mut().filter(|chunk| !chunk.sacked) {
            chunk.lost = true;
        }
    }

    /// Cuts segments in flight that are longer than `mss`, and takes them for lost; returns how many segments that
    /// adds.
    pub(crate) fn recut(&mut self, mss: u64) -> usize {
        let before = self.chunks.len();
        let cut = |chunk: Chunk| chunk.cut(mss);
        self.chunks = self.chunks.drain(..).flat_map(cut).collect();
        self.chunks.len() - before
    }

    /// The first lost segment, as sent again now.
    pub(crate) fn resend_lost(&mut self, now: Nanos) -> Option<Chunk> {
        let chunk = self.chunks.iter_mut().find(|chunk| chunk.lost)?;
        Some(chunk.resend(now))
    }

    /// The last segment, as sent again now.
    pub(crate) fn resend_last(&mut self, now: Nanos) -> Option<Chunk> {
        self.chunks.back_mut().map(|chunk| chunk.resend(now))
    }
}
