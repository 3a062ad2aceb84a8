//! Splitting a merged frame into the segments it was made of, or could have been: what devices call TSO and USO, and
//! kernels GSO.
//!
//! [`Splitter`] borrows the frame, checks once that it can be split, and then returns one segment after the other:
//! rewritten headers, and a slice of the frame's own payload. Nothing is allocated.
//!
//! ```
//! use gro::{Gso, SplitError, SplitSettings, Splitter};
//!
//! /// Sends a merged frame as the segments it is made of.
//! fn send(frame: &[u8], gso: Gso, socket: &mut impl FnMut(&[u8], &[u8])) -> Result<(), SplitError> {
//!     let mut splitter = Splitter::new(frame, gso, SplitSettings::default())?;
//!     while let Some(segment) = splitter.next_segment() {
//!         socket(segment.header(), segment.payload);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What is rewritten
//!
//! | field | in each segment | rule |
//! |---|---|---|
//! | IPv4 total length, IPv6 payload length, UDP length, PPPoE length | its own, at every level | `inet_gso_segment`, `ipv6_gso_segment`, `skb_udp_tunnel_segment`, RFC 2516 |
//! | IPv4 identification | one more each, or fixed, as [`Gso`] says for the level | `inet_gso_segment` |
//! | IPv4 header checksum | complete | RFC 791 |
//! | jumbo payload option | removed | `ipv6_gso_segment`, RFC 2675 section 3: not below 65,536 bytes |
//! | TCP sequence number | advanced by the payload before | `tcp_gso_segment` |
//! | FIN, PSH | on the last only | `tcp_gso_segment` |
//! | CWR | on the first only, unless [`Gso::accurate_ecn`] | `tcp_gso_segment`, RFC 3168 section 6.1.2 |
//! | TCP and UDP checksum | complete, or the pseudo-header's sum ([`SegmentChecksum`]) | RFC 9293, RFC 768 |
//! | checksum of a tunnel's UDP or GRE header | complete; none stays none | `skb_udp_tunnel_segment`, `gre_gso_segment`, RFC 6935 |
//!
//! Everything else is the same in all segments: addresses, TTL, flags such as URG with the urgent
//! pointer, acknowledgment, window, all options.
//!
//! [`Gso::segments`] is not read: the number of segments follows from the payload and [`Gso::segment_size`], as in the
//! kernel, so that a wrong count cannot lose a byte. A frame with no more payload than one segment, even none, is one
//! segment.
//!
//! The stored transport checksum is not read either, except for one value: a UDP checksum of 0 means that there is none
//! (RFC 768), and the segments have none either.

mod buffer;
mod error;
mod layout;
mod patch;

use alloc::vec::Vec;
use core::num::NonZeroU16;

use coalescope_wire::{LinkType, UdpTunnels};

use crate::gso::Gso;
use buffer::Buffer;
pub use buffer::MAX_SEGMENT_HEADER;
pub use error::SplitError;

use patch::{Layout, Piece};

/// What the transport checksum of a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SegmentChecksum {
    /// The checksum, computed from the payload.
    #[default]
    Complete,
    /// The pseudo-header's sum, not complemented, for a device that adds the rest
    /// (`CHECKSUM_PARTIAL`, virtio's `NEEDS_CSUM`). The payload is not read. Checksums of
    /// tunnels are complete all the same: they are right once the inner one is (local checksum
    /// offload).
    PseudoHeader,
}

/// Settings of a splitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitSettings {
    /// What the frame starts with: Ethernet, unless it comes from a TUN device
    /// ([`LinkType::Raw`]).
    pub link: LinkType,
    /// Which tunnels in UDP the engine that merged the frame may have entered: those of its profile
    /// ([`crate::profile::TunnelRules::in_udp`]), or all, if that is not known. An engine that does not enter a tunnel
    /// merges its datagrams as they are, and lengths show most such cases: where [`Gso::kind`] is UDP and the packet in
    /// the tunnel ends before the datagram around it does, datagrams were merged as they are.
    pub tunnels: UdpTunnels,
    /// What is stored as the transport checksum.
    pub checksum: SegmentChecksum,
    /// `None` to cut into segments. Otherwise partial GSO (`SKB_GSO_PARTIAL`): how many segments
    /// stay together in one chunk, for a device that cuts the chunks by copying the outer headers
    /// as they are.
    ///
    /// - All headers but the innermost TCP or UDP header are those of **one** segment of
    ///   [`Gso::segment_size`] bytes: lengths, checksums. Copied in front of every segment of the
    ///   chunk they are right, but for IPv4 identifications: each level holds its first segment's,
    ///   and the device counts on, or not, as [`Gso`] says.
    /// - The innermost TCP or UDP header is the whole chunk's, as every device expects that cuts
    ///   without knowing tunnels: its sequence number, its flags (the device keeps FIN and PSH
    ///   for the chunk's last segment and CWR for its first), its length in UDP, and as checksum
    ///   the pseudo-header's sum over the chunk's length.
    /// - A last segment shorter than the others is a chunk of its own, with its own lengths.
    /// - A chunk holds at most 65,527 payload bytes, whatever was asked for: what a UDP length
    ///   can say.
    pub chunk: Option<NonZeroU16>,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self {
            link: LinkType::Ethernet,
            tunnels: UdpTunnels::ALL,
            checksum: SegmentChecksum::Complete,
            chunk: None,
        }
    }
}

/// The most payload bytes of a chunk.
const MAX_CHUNK: usize = u16::MAX as usize - 8;

/// A merged frame that is being split. See the [module](self).
#[derive(Clone, Debug)]
pub struct Splitter<'a> {
    /// The headers of the segment that was returned last.
    header: Buffer,
    layout: Layout,
    /// Payload that was not returned yet.
    rest: &'a [u8],
    /// Payload bytes of one segment, at least 1.
    segment_size: usize,
    /// The most segments in a piece: 1, or those of a chunk.
    together: usize,
    /// Segments returned so far.
    given: usize,
    /// Whether the last segment was returned: a frame without payload is one segment too.
    done: bool,
}

/// One segment, or one chunk of them. It borrows the splitter's header buffer until the next call; the payload is the
/// frame's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'s, 'a> {
    header: &'s [u8],
    /// What follows the header: a slice of the merged frame.
    pub payload: &'a [u8],
    segments: u16,
}

impl<'a> Splitter<'a> {
    /// Checks a merged frame and prepares to split it.
    ///
    /// `frame` is the whole frame from its first byte; bytes behind the IP packet (Ethernet padding) are left out.
    /// `gso` describes how the frame was put together.
    ///
    /// # Errors
    ///
    /// A [`SplitError`] where the headers cannot be read, contradict `gso`, or cannot be repeated in front of every
    /// segment. The frame is unchanged, and may be sent unsplit.
    pub fn new(frame: &'a [u8], gso: Gso, settings: SplitSettings) -> Result<Self, SplitError> {
        let segment_size = usize::from(gso.segment_size);
        if segment_size == 0 {
            return Err(SplitError::NoSegmentSize);
        }
        let mut header = Buffer::default();
        let (layout, payload) = layout::read(frame, gso, settings, &mut header)?;
        layout.check_lengths(header.len(), segment_size.min(payload.len()))?;
        let asked = settings.chunk.map_or(1, |chunk| usize::from(chunk.get()));
        Ok(Self {
            header,
            layout,
            rest: payload,
            segment_size,
            together: asked.min(MAX_CHUNK / segment_size).max(1),
            given: 0,
            done: false,
        })
    }

    /// The next segment, or `None` after the last. There is always at least one.
    pub fn next_segment(&mut self) -> Option<Segment<'_, 'a>> {
        if self.done {
            return None;
        }
        let payload = self.take();
        self.done = self.rest.is_empty();
        let piece = Piece {
            payload,
            one: payload.len().min(self.segment_size),
            before: self.given,
            offset: self.given * self.segment_size,
            last: self.done,
        };
        let segments = payload.len().div_ceil(self.segment_size).max(1);
        self.layout.patch(&mut self.header, &piece);
        self.given += segments;
        Some(Segment {
            header: self.header.bytes(),
            payload,
            segments: segments as u16,
        })
    }

    /// How many segments are left, chunks counted as the segments they hold.
    #[must_use]
    pub fn remaining(&self) -> usize {
        if self.done {
            return 0;
        }
        self.rest.len().div_ceil(self.segment_size).max(1)
    }

    /// Takes whole segments from what is left, or a shorter last one alone.
    fn take(&mut self) -> &'a [u8] {
        let whole = (self.rest.len() / self.segment_size).min(self.together);
        let len = match whole {
            0 => self.rest.len(),
            whole => whole * self.segment_size,
        };
        let (piece, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, &[]));
        self.rest = rest;
        piece
    }
}

impl Segment<'_, '_> {
    /// All headers, from the link's to the transport's: at most [`MAX_SEGMENT_HEADER`] bytes.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        self.header
    }

    /// Length of the frame in bytes, headers included.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        self.header.len() + self.payload.len()
    }

    /// How many segments this is: 1, or what a chunk holds.
    #[must_use]
    pub fn segments(&self) -> u16 {
        self.segments
    }

    /// Appends the frame to a buffer.
    pub fn copy_to(&self, buffer: &mut Vec<u8>) {
        buffer.reserve(self.frame_len());
        buffer.extend_from_slice(self.header);
        buffer.extend_from_slice(self.payload);
    }
}
