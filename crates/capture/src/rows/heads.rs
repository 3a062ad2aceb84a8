//! How payloads begin, as far as the analysis asks.
//!
//! The first byte tells the phases of TLS. Where several points are compared, the first 16 stand for a connection whose
//! numbers a firewall rewrites, and for a UDP datagram: but of few frames only, so that most rows need none.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::datagrams;
use crate::hop;
use crate::row::{Ends, Kind, Row};

/// TCP flags (RFC 9293, 3.1).
const SYN: u16 = 2;
const RST: u16 = 4;
/// Frames in order of a direction whose heads are kept: twice as many as leave tokens whatever their number.
const FIRST: u8 = 2 * hop::FIRST_FRAMES as u8;
/// Connections that are remembered: 64 MiB. Then all are forgotten, and heads of more frames are kept than anybody asks for.
const REMEMBERED: usize = 1 << 19;

/// Whose payloads are going to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// Those of a point that is not compared with others.
    Alone,
    /// Those of one that is.
    Compared,
}

/// A direction: the sequence number that comes next, and how many frames came in order.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    next: u32,
    frames: u8,
}

/// Keeps the heads that are asked for, and no others.
pub(super) struct Keeper {
    heads: Heads,
    begun: HashMap<Ends, [Begun; 2], FixedState>,
    datagrams: usize,
}

impl Keeper {
    pub(super) fn new(heads: Heads) -> Self {
        Self {
            heads,
            begun: HashMap::default(),
            datagrams: 0,
        }
    }

    /// Shortens a row's head to what is asked for.
    #[inline]
    pub(super) fn keep(&mut self, row: &mut Row) {
        if self.heads == Heads::Compared && row.kind == Kind::Tcp && row.flags & SYN != 0 {
            self.begun.remove(&row.ends);
        }
        if row.head_len == 0 {
            return;
        }
        match (self.heads, row.kind) {
            (Heads::Compared, Kind::Udp) => self.keep_datagram(row),
            (Heads::Compared, _) if self.is_token(row) => {}
            (_, Kind::Udp) => cut(row, 0),
            _ if is_tls(row) => cut(row, 3),
            _ => cut(row, 0),
        }
    }

    /// Of those that come later than can be remembered, it counts only that they could have been.
    fn keep_datagram(&mut self, row: &mut Row) {
        if usize::from(row.head_len) < row.head.len() {
            return;
        }
        if self.datagrams == datagrams::REMEMBERED {
            row.head = [0; 16];
        } else {
            self.datagrams += 1;
        }
    }

    /// Whether the head may stand for the connection.
    fn is_token(&mut self, row: &Row) -> bool {
        let is_begin = row.kind == Kind::FirstFragment || self.is_begin(row);
        (is_begin || hop::is_sampled(row.seq)) && hop::is_telling(&row.head, row.head_len)
    }

    /// Whether a frame is among the first of its direction. Those out of order do not count.
    fn is_begin(&mut self, row: &Row) -> bool {
        if row.flags & (SYN | RST) != 0 {
            return true;
        }
        if self.begun.len() == REMEMBERED {
            self.begun.clear();
        }
        let begun = self.begun.entry(row.ends).or_default();
        let begun = &mut begun[usize::from(row.marks & 1)];
        if begun.frames == FIRST {
            return false;
        }
        begun.frames += u8::from(begun.next == row.seq);
        begun.next = row.seq.wrapping_add(row.payload);
        true
    }
}

fn cut(row: &mut Row, len: u8) {
    row.head_len = row.head_len.min(len);
    row.head[usize::from(row.head_len)..].fill(0);
}

/// Whether it may be a TLS record, as [`crate::phases`] looks for it.
fn is_tls(row: &Row) -> bool {
    row.head_len >= 3 && (20..=23).contains(&row.head[0]) && row.head[1] == 3
}
