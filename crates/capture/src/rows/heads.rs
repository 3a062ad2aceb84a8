//! How payloads begin, as far as the analysis needs it.
//!
//! The first byte shows the phases of TLS. Where several points are compared, the first 16 bytes identify a connection
//! whose numbers a firewall rewrites, and a UDP datagram. Only few frames are needed for that, so that most rows have
//! no head.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::datagrams;
use crate::hop;
use crate::row::{Ends, Kind, Row};

/// TCP flags (RFC 9293, 3.1).
const SYN: u16 = 2;
const RST: u16 = 4;
/// Frames in order, of each direction, whose heads are kept: twice as many as leave tokens whatever their number.
const FIRST: u8 = 2 * hop::FIRST_FRAMES as u8;
/// Connections that are remembered: 64 MiB. At that number all are forgotten, and heads of more frames are kept than
/// needed.
const REMEMBERED: usize = 1 << 19;

/// Which payload heads the analysis will need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// The heads of a point that is not compared with others.
    Alone,
    /// The heads of a point that is compared with others.
    Compared,
}

/// A direction: the sequence number that comes next, and how many frames came in order.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    next: u32,
    frames: u8,
}

/// Keeps the heads that are needed, and no others.
pub(super) struct Keeper {
    heads: Heads,
    begun: HashMap<Ends, [Begun; 2], FixedState>,
    /// The direction of the frame before, if it is beyond its first frames: many frames of a direction come in a row.
    beyond: Option<(Ends, u8)>,
    datagrams: usize,
}

impl Keeper {
    pub(super) fn new(heads: Heads) -> Self {
        Self {
            heads,
            begun: HashMap::default(),
            beyond: None,
            datagrams: 0,
        }
    }

    /// Shortens a row's head to the bytes that are needed.
    #[inline]
    pub(super) fn keep(&mut self, row: &mut Row) {
        if self.heads == Heads::Compared && row.kind == Kind::Tcp && row.flags & SYN != 0 {
            self.begun.remove(&row.ends);
            self.beyond = None;
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

    /// Keeps a datagram's head, as long as a point remembers datagrams. Beyond that the length of the head stays, which
    /// shows that the datagram could have been remembered.
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

    /// Whether the head may identify the connection.
    fn is_token(&mut self, row: &Row) -> bool {
        let is_begin = row.kind == Kind::FirstFragment || self.is_begin(row);
        (is_begin || hop::is_sampled(row.seq)) && hop::is_telling(&row.head, row.head_len)
    }

    /// Whether a frame is among the first of its direction. Frames out of order do not count.
    fn is_begin(&mut self, row: &Row) -> bool {
        if row.flags & (SYN | RST) != 0 {
            return true;
        }
        let direction = (row.ends, row.marks & 1);
        if self.beyond == Some(direction) {
            return false;
        }
        if self.begun.len() == REMEMBERED {
            self.begun.clear();
            self.beyond = None;
        }
        let begun = self.begun.entry(row.ends).or_default();
        let begun = &mut begun[usize::from(row.marks & 1)];
        if begun.frames == FIRST {
            self.beyond = Some(direction);
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

/// Whether the payload may be a TLS record, as [`crate::phases`] looks for it.
fn is_tls(row: &Row) -> bool {
    row.head_len >= 3 && (20..=23).contains(&row.head[0]) && row.head[1] == 3
}
