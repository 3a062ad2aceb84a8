//! The applications: who sends how much when, and what the bytes look like.

use crate::scenario::{Content, Turn};
use crate::schedule::Nanos;
use crate::side::Side;

/// Bytes of TLS plaintext in a full record (RFC 8446 section 5.1).
const RECORD: usize = 16_384;

/// One side's application on one connection.
#[derive(Debug)]
pub(crate) struct App {
    turns: Vec<Turn>,
    side: Side,
    turn: usize,
    /// Bytes of the current turn already written.
    written: u64,
    /// Bytes that the peer will have sent when its turns up to the current one are over.
    expected: u64,
    write_at: Option<Nanos>,
}

impl App {
    /// An application that will follow these turns.
    pub(crate) fn new(turns: &[Turn], side: Side) -> Self {
        let turns = turns.to_vec();
        Self {
            turns,
            side,
            turn: 0,
            written: 0,
            expected: 0,
            write_at: None,
        }
    }

    /// When the application must be called.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        self.write_at
    }

    /// Whether all turns are over.
    pub(crate) fn is_done(&self) -> bool {
        self.turn == self.turns.len()
    }

    /// Whether all turns that are left are the peer's.
    pub(crate) fn has_spoken(&self) -> bool {
        let mut left = self.turns.iter().skip(self.turn);
        left.all(|turn| turn.from != self.side)
    }

    /// The size of a write that is due, given how much has been received so far.
    pub(crate) fn poll(&mut self, now: Nanos, received: u64) -> Option<u64> {
        while let Some(turn) = self.turns.get(self.turn) {
            if turn.from == self.side {
                return self.speak(now);
            }
            if received < self.expected + turn.bytes {
                return None;
            }
            self.expected += turn.bytes;
            self.turn += 1;
        }
        None
    }

    fn speak(&mut self, now: Nanos) -> Option<u64> {
        let turn = &self.turns[self.turn];
        let at = *self.write_at.get_or_insert(now + turn.think);
        if at > now {
            return None;
        }
        let left = turn.bytes - self.written;
        let size = if turn.write == 0 {
            left
        } else {
            left.min(turn.write)
        };
        self.written += size;
        self.write_at = Some(now + turn.pause);
        if self.written == turn.bytes {
            self.turn += 1;
            self.written = 0;
            self.write_at = None;
        }
        Some(size)
    }
}

/// All bytes that a side will send on a connection.
pub(crate) fn stream(turns: &[Turn], side: Side) -> Vec<u8> {
    let mut out = Vec::new();
    for turn in turns.iter().filter(|turn| turn.from == side) {
        let end = out.len() + turn.bytes as usize;
        match turn.content {
            Content::Plain => fill(&mut out, end),
            Content::Handshake => handshake(&mut out, end, side),
            Content::Records => records(&mut out, end),
        }
    }
    out
}

/// Bytes that differ along the stream, so that a test notices a wrong offset. Multiplying by an odd
/// constant (Knuth's) spreads the counter over the high bits.
fn fill(out: &mut Vec<u8>, end: usize) {
    while out.len() < end {
        let word = (out.len() as u32).wrapping_mul(2_654_435_761);
        out.push((word >> 24) as u8);
    }
}

/// Handshake records: client hello is message type 1, server hello type 2 (RFC 8446 section 4).
fn handshake(out: &mut Vec<u8>, end: usize, side: Side) {
    let len = (end - out.len()).saturating_sub(5);
    let kind = if side == Side::Client { 1 } else { 2 };
    let body = len.saturating_sub(4) as u16;
    out.extend_from_slice(&[0x16, 3, 1]);
    out.extend_from_slice(&(len as u16).to_be_bytes());
    out.extend_from_slice(&[kind, 0]);
    out.extend_from_slice(&body.to_be_bytes());
    fill(out, end);
    out.truncate(end);
}

fn records(out: &mut Vec<u8>, end: usize) {
    while out.len() < end {
        let len = (end - out.len()).saturating_sub(5).min(RECORD);
        let stop = out.len() + 5 + len;
        out.extend_from_slice(&[0x17, 3, 3]);
        out.extend_from_slice(&(len as u16).to_be_bytes());
        fill(out, stop);
    }
    out.truncate(end);
}
