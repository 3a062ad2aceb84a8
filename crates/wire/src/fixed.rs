//! The commonest frames, read at fixed places: Ethernet, IPv4 without options, and TCP with
//! timestamps, with timestamps and SACK, or without options.

mod constant;

use crate::cursor::{be16, be32};
use crate::framing::ether_types;
use crate::tcp::{Flags, TcpOptions, pair};
use crate::transport;
pub use constant::ConstantFields;

/// Ethernet, IPv4 and TCP without options.
const HEADERS: usize = 54;
/// Of these, IPv4.
const IP_LEN: u32 = 20;
/// Version 4, and a header of 20 bytes.
const VERSION_AND_LENGTH: u8 = 0x45;
/// NOP, NOP, timestamps: what nearly all frames of a connection carry (RFC 7323, appendix A).
const STAMP: u32 = 0x0101_080a;
/// NOP, NOP, and SACK with as many blocks as fit behind timestamps (RFC 2018, section 3).
const SACK: [u32; 3] = [0x0101_050a, 0x0101_0512, 0x0101_051a];
/// Offset of these blocks: behind timestamps.
const SACK_AT: usize = HEADERS + 12;

/// A view of such a frame. Each field is one load, made when its method is called.
#[derive(Clone, Copy, Debug)]
pub struct FixedTcp<'a> {
    frame: &'a [u8],
    header: &'a [u8; HEADERS],
    stamp: Option<&'a [u8; 12]>,
    sack: &'a [[u8; 8]],
    tcp_len: u8,
    payload_len: u32,
}

/// Views an Ethernet frame; `None` for a frame of any other shape, which [`crate::plain_tcp`] or [`crate::walk`]
/// parses.
#[inline(always)]
#[must_use]
pub fn fixed_tcp(frame: &[u8]) -> Option<FixedTcp<'_>> {
    let header = frame.first_chunk::<HEADERS>()?;
    let is_plain = be16(header, 12) == ether_types::IPV4
        && header[14] == VERSION_AND_LENGTH
        && be16(header, 20) & 0x3fff == 0
        && header[23] == transport::TCP;
    if !is_plain {
        return None;
    }
    let (stamp, sack) = match header[46] >> 4 {
        5 => (None, &[][..]),
        8 => (Some(stamp(frame)?), &[][..]),
        words => (Some(stamp(frame)?), sack(frame, words)?),
    };
    FixedTcp::new(frame, header, (stamp, sack), header[46] >> 4 << 2)
}

/// The begin of the option field, if it holds timestamps.
#[inline(always)]
fn stamp(frame: &[u8]) -> Option<&[u8; 12]> {
    let stamp = frame.get(HEADERS..)?.first_chunk::<12>()?;
    (be32(stamp, 0) == STAMP).then_some(stamp)
}

/// The SACK blocks behind the timestamps, if no other option is there; `words` is the length of the header.
#[inline]
fn sack(frame: &[u8], words: u8) -> Option<&[[u8; 8]]> {
    let (kind, blocks) = match words {
        11 => (SACK[0], 1),
        13 => (SACK[1], 2),
        15 => (SACK[2], 3),
        _ => return None,
    };
    let (head, rest) = frame.get(SACK_AT..)?.split_first_chunk::<4>()?;
    let blocks = rest.as_chunks().0.get(..blocks)?;
    (be32(head, 0) == kind).then_some(blocks)
}

#[expect(
    clippy::inline_always,
    reason = "each is a load, and a call would have the view written to memory"
)]
impl<'a> FixedTcp<'a> {
    #[inline(always)]
    fn new(
        frame: &'a [u8],
        header: &'a [u8; HEADERS],
        (stamp, sack): (Option<&'a [u8; 12]>, &'a [[u8; 8]]),
        tcp_len: u8,
    ) -> Option<Self> {
        // A total length of 0, or one too small, is for the general walk.
        let headers_len = IP_LEN + u32::from(tcp_len);
        let payload_len = u32::from(be16(header, 16)).checked_sub(headers_len)?;
        Some(Self {
            frame,
            header,
            stamp,
            sack,
            tcp_len,
            payload_len,
        })
    }

    /// Source and destination address.
    #[inline(always)]
    #[must_use]
    pub fn addresses(&self) -> u64 {
        u64::from(be32(self.header, 26)) << 32 | u64::from(be32(self.header, 30))
    }

    /// Source and destination port.
    #[inline(always)]
    #[must_use]
    pub fn ports(&self) -> u32 {
        be32(self.header, 34)
    }

    /// IPv4 identification.
    #[inline(always)]
    #[must_use]
    pub fn id(&self) -> u16 {
        be16(self.header, 18)
    }

    /// TTL.
    #[inline(always)]
    #[must_use]
    pub fn ttl(&self) -> u8 {
        self.header[22]
    }

    /// Sequence number.
    #[inline(always)]
    #[must_use]
    pub fn seq(&self) -> u32 {
        be32(self.header, 38)
    }

    /// Acknowledgment number.
    #[inline(always)]
    #[must_use]
    pub fn ack(&self) -> u32 {
        be32(self.header, 42)
    }

    /// Flags.
    #[inline(always)]
    #[must_use]
    pub fn flags(&self) -> Flags {
        Flags(be16(self.header, 46) & 0x01ff)
    }

    /// Window, unscaled.
    #[inline(always)]
    #[must_use]
    pub fn window(&self) -> u16 {
        be16(self.header, 48)
    }

    /// Checksum as stored.
    #[inline(always)]
    #[must_use]
    pub fn checksum(&self) -> u16 {
        be16(self.header, 50)
    }

    /// TSval and TSecr.
    #[inline(always)]
    #[must_use]
    pub fn timestamps(&self) -> Option<(u32, u32)> {
        self.stamp.map(|stamp| (be32(stamp, 4), be32(stamp, 8)))
    }

    /// Whether there are SACK blocks.
    #[inline(always)]
    #[must_use]
    pub fn has_sack(&self) -> bool {
        !self.sack.is_empty()
    }

    /// All options, as [`TcpOptions::parse`] reads them.
    #[must_use]
    pub fn options(&self) -> TcpOptions {
        let mut options = TcpOptions {
            timestamps: self.timestamps(),
            sack_count: self.sack.len() as u8,
            ..TcpOptions::default()
        };
        for (slot, block) in options.sack.iter_mut().zip(self.sack) {
            *slot = pair(block);
        }
        options
    }

    /// Length of the TCP header with options, in bytes.
    #[inline(always)]
    #[must_use]
    pub fn header_len(&self) -> u8 {
        self.tcp_len
    }

    /// Payload bytes on the wire.
    #[inline(always)]
    #[must_use]
    pub fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// The captured payload bytes, and padding behind them.
    #[inline(always)]
    #[must_use]
    pub fn after_headers(&self) -> &[u8] {
        let start = 34 + usize::from(self.header_len());
        self.frame.get(start..).unwrap_or_default()
    }
}
