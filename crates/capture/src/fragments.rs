//! IP fragments: a datagram's TCP payload counts once it is whole.
//!
//! Only lengths are kept, never bytes, so a datagram costs the same whatever its size. Overlaps
//! count once (RFC 8200 4.5 forbids them, RFC 791 does not).

use std::collections::VecDeque;

use crate::frame::{Frame, Name, Odd, Piece};
use crate::row::Kind;

/// Datagrams under assembly. Linux keeps up to 4 MB of fragments (`ipfrag_high_thresh`), about
/// this many datagrams of full size.
const MAX_DATAGRAMS: usize = 64;
/// Pieces of one datagram: 65,535 bytes in 576-byte packets.
const MAX_PIECES: usize = 128;
/// Linux gives up on a datagram after 30 s (`ipfrag_time`).
const TIMEOUT_NS: i64 = 30_000_000_000;

#[derive(Debug)]
struct Datagram {
    name: Name,
    /// The first fragment's frame.
    frame: Option<Frame>,
    /// Covered ranges of the IP payload.
    pieces: Vec<(u32, u32)>,
    /// Length of the IP payload, once the last fragment is known.
    total: Option<u32>,
    begun_ns: i64,
}

impl Datagram {
    fn is_whole(&self) -> bool {
        let Some(total) = self.total else {
            return false;
        };
        let mut pieces = self.pieces.clone();
        pieces.sort_unstable();
        let covered = pieces.iter().fold(0, |covered, &(start, end)| {
            if start <= covered {
                end.max(covered)
            } else {
                covered
            }
        });
        covered >= total && self.frame.is_some()
    }
}

/// The datagrams of one point that are not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    datagrams: VecDeque<Datagram>,
    incomplete: u64,
}

impl Fragments {
    /// Adds a fragment; the slot has the headers if it is the first one. When the datagram is whole, its frame is put
    /// into the slot, with the time and length of the fragment that completed it.
    pub(crate) fn add(&mut self, piece: Piece, is_first: bool, slot: &mut Frame) -> Kind {
        let now_ns = slot.time_ns;
        let i = self.find_or_begin(piece.name, now_ns);
        let datagram = &mut self.datagrams[i];
        if is_first {
            datagram.frame = Some(slot.clone());
        }
        if !piece.more {
            datagram.total = Some(piece.end);
        }
        if datagram.pieces.len() < MAX_PIECES {
            datagram.pieces.push((piece.start, piece.end));
        }
        if datagram.is_whole() {
            self.finish(i, slot)
        } else {
            Kind::Other
        }
    }

    fn find_or_begin(&mut self, name: Name, now_ns: i64) -> usize {
        while self
            .datagrams
            .front()
            .is_some_and(|old| now_ns - old.begun_ns > TIMEOUT_NS)
        {
            self.drop_oldest();
        }
        if let Some(i) = self
            .datagrams
            .iter()
            .position(|datagram| datagram.name == name)
        {
            return i;
        }
        if self.datagrams.len() == MAX_DATAGRAMS {
            self.drop_oldest();
        }
        let (frame, pieces, total) = (None, Vec::new(), None);
        self.datagrams.push_back(Datagram {
            name,
            frame,
            pieces,
            total,
            begun_ns: now_ns,
        });
        self.datagrams.len() - 1
    }

    fn drop_oldest(&mut self) {
        self.datagrams.pop_front();
        self.incomplete += 1;
    }

    fn finish(&mut self, i: usize, slot: &mut Frame) -> Kind {
        let whole = self.datagrams.remove(i);
        let Some((frame, total)) = whole.and_then(|d| d.frame.zip(d.total)) else {
            return Kind::Other;
        };
        let (time_ns, original_len) = (slot.time_ns, slot.original_len);
        *slot = frame;
        (slot.time_ns, slot.original_len) = (time_ns, original_len);
        slot.payload = total.saturating_sub(u32::from(slot.tcp_header));
        slot.add(Odd::FRAGMENTED);
        Kind::Tcp
    }

    /// Datagrams given up, and those still waiting.
    pub(crate) fn incomplete(&self) -> u64 {
        self.incomplete + self.datagrams.len() as u64
    }
}
