//! The same connection at two points.
//!
//! Addresses change at NAT, at IPVS and inside tunnels; sequence numbers, options and payload do
//! not, with few exceptions. So each point leaves tokens, hashes of what survives, and a token
//! found at both links their connections: the initial sequence numbers first, then the numbers of
//! sampled data frames; for firewalls that rewrite numbers the SYN's timestamp, identification and window, then payload and
//! timestamps alone.

use std::hash::{BuildHasher, Hasher};

use coalescope_wire::Flags;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::event::{Event, Passing};
use crate::frame::Frame;

/// Tokens kept at one point: about 16 MiB. Beyond that those so far are forgotten: a connection
/// that the other point has not shown by then is not going to be matched.
const MAX_TOKENS: usize = 256 * 1024;
/// Data frames of each direction that always leave a token.
pub(crate) const FIRST_FRAMES: u64 = 4;
/// Later frames leave one if their sequence number is sampled: the same choice at every point.
const SAMPLED: u32 = 16;
/// Distinct bytes that the head of a payload must have to identify its frame.
const DISTINCT: usize = 8;

/// How a connection was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchedBy {
    Handshake,
    /// By a SYN whose number is another one.
    Syn,
    Numbers,
    /// By bytes of one direction, between the same ends.
    Bytes,
    Payload,
}

impl MatchedBy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Handshake | Self::Syn => "handshake",
            Self::Numbers | Self::Bytes => "sequence numbers",
            Self::Payload => "payload",
        }
    }

    /// Whether another connection may look like this one.
    pub(super) fn is_vague(self) -> bool {
        matches!(self, Self::Syn | Self::Payload)
    }
}

/// Where a token was left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) connection: u32,
    pub(crate) from_low: bool,
    pub(crate) position: u64,
    pub(crate) time_ns: i64,
    /// Two connections of one point left this token: it identifies neither.
    ambiguous: bool,
}

impl Mark {
    pub(crate) fn new(connection: u32, frame: &Frame, position: u64) -> Self {
        let (from_low, time_ns) = (frame.from_low, frame.time_ns);
        Self {
            connection,
            from_low,
            position,
            time_ns,
            ambiguous: false,
        }
    }

    /// With another position.
    pub(super) fn moved(self, by: i64) -> Self {
        let position = self.position.wrapping_add_signed(by);
        Self { position, ..self }
    }

    /// Of a frame that showed the byte at a position, which is the same there modulo 2^32; none if the frame did not.
    pub(super) fn of_bytes(connection: u32, passing: &Passing, position: u64) -> Option<Self> {
        let Event::Data(seen) = passing.event else {
            return None;
        };
        let into = (position as u32).wrapping_sub(seen.start as u32);
        (into < seen.len).then_some(Self {
            connection,
            from_low: passing.from_low,
            position: seen.start + u64::from(into),
            time_ns: seen.own_ns,
            ambiguous: false,
        })
    }
}

/// The tokens of both points of a hop.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    marks: [HashMap<u64, Mark, FixedState>; 2],
}

impl Linker {
    /// Leaves the tokens of a frame of `side`; returns what the other side left for one of them.
    pub(crate) fn offer(
        &mut self,
        side: usize,
        connection: u32,
        frame: &Frame,
        position: u64,
        nth: u64,
    ) -> Option<(MatchedBy, Mark)> {
        let mark = Mark::new(connection, frame, position);
        tokens(frame, nth)
            .into_iter()
            .flatten()
            .find_map(|(by, token)| {
                self.leave(side, token, mark);
                let found = self.marks[1 - side]
                    .get(&token)
                    .filter(|found| !found.ambiguous)?;
                Some((by, *found))
            })
    }

    fn leave(&mut self, side: usize, token: u64, mark: Mark) {
        let marks = &mut self.marks[side];
        if marks.len() >= MAX_TOKENS {
            marks.clear();
        }
        marks
            .entry(token)
            .and_modify(|old| old.ambiguous |= old.connection != mark.connection)
            .or_insert(mark);
    }
}

fn tokens(frame: &Frame, nth: u64) -> [Option<(MatchedBy, u64)>; 2] {
    let (tsval, tsecr) = frame.timestamps().unwrap_or_default();
    if frame.flags.has(Flags::SYN) {
        let ack = if frame.flags.has(Flags::ACK) {
            frame.ack
        } else {
            0
        };
        let rewritten = [tsval, tsecr, u32::from(frame.id), u32::from(frame.window)];
        return [
            Some((MatchedBy::Handshake, hash(1, &[frame.seq, ack, tsval], &[]))),
            (tsval != 0).then(|| (MatchedBy::Syn, hash(4, &rewritten, &[]))),
        ];
    }
    if frame.payload == 0 || nth >= FIRST_FRAMES && !is_sampled(frame.seq) {
        return [None, None];
    }
    let numbers = hash(2, &[frame.seq, frame.ack, tsval, tsecr], &[]);
    let payload =
        is_telling(&frame.head, frame.head_len).then(|| hash(3, &[tsval, tsecr], &frame.head));
    [
        Some((MatchedBy::Numbers, numbers)),
        payload.map(|token| (MatchedBy::Payload, token)),
    ]
}

/// Whether a later data frame with this sequence number leaves a token.
pub(crate) fn is_sampled(seq: u32) -> bool {
    (seq.wrapping_mul(0x9E37_79B1) >> 16) < 65536 / SAMPLED
}

/// Whether the payload's head is unlikely to come twice.
pub(crate) fn is_telling(head: &[u8; 16], head_len: u8) -> bool {
    let mut bytes = *head;
    bytes.sort_unstable();
    let distinct = 1 + bytes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    usize::from(head_len) == bytes.len() && distinct >= DISTINCT
}

fn hash(kind: u8, numbers: &[u32], bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0x636f_616c).build_hasher();
    hasher.write_u8(kind);
    for number in numbers {
        hasher.write_u32(*number);
    }
    hasher.write(bytes);
    hasher.finish()
}
