//! Why a frame cannot be split.

use core::fmt;

use coalescope_wire::Stop;

use crate::gso::GsoKind;

/// Why a frame cannot be split. Offsets count bytes from the first byte of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitError {
    /// The headers cannot be read as far as TCP or UDP.
    Headers(Stop),
    /// The innermost packet is not of the kind in [`crate::Gso`].
    Kind {
        /// The kind in [`crate::Gso`].
        expected: GsoKind,
        /// Where the innermost IP header is.
        offset: usize,
    },
    /// Segments of 0 bytes.
    NoSegmentSize,
    /// The IP length is longer than the bytes present.
    Truncated {
        /// Payload bytes missing.
        missing: u32,
    },
    /// An IP fragment: its transport header covers other packets too.
    Fragment {
        /// Where the IP or fragment header is.
        offset: usize,
    },
    /// An authentication header: it covers the whole packet.
    Authenticated {
        /// Where the IP header in front of it is.
        offset: usize,
    },
    /// A routing header that has not been followed to its end: the checksum covers an address that
    /// is not in the IP header (RFC 8200 section 8.1), and no engine merges such packets.
    Routing {
        /// Where the routing header is.
        offset: usize,
    },
    /// A jumbo payload option beside others in one header: no engine writes such a header, and removing the option
    /// would move the others.
    JumboOptions {
        /// Where the hop-by-hop header is.
        offset: usize,
    },
    /// A GRE header that differs from packet to packet: sequence numbers, PPTP.
    Gre {
        /// Where the GRE header is.
        offset: usize,
    },
    /// A third IP header: segmentation handles an outer and an inner one.
    NestedTunnel {
        /// Where the third IP header is.
        offset: usize,
    },
    /// More header bytes than [`super::MAX_SEGMENT_HEADER`], or more headers than are
    /// looked for.
    HeadersTooLong {
        /// Header bytes, from the frame's first.
        len: usize,
    },
    /// One segment would be longer than its length fields can hold.
    SegmentTooLong {
        /// Its length in bytes, from the header whose field overflows.
        len: usize,
    },
    /// A chunk of UDP datagrams without checksum in a tunnel with one: each datagram would need
    /// its own outer checksum.
    ChunkChecksum,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Headers(stop) => write!(
                f,
                "no TCP or UDP to split: the header at byte {} is {:?}; send the frame as it is",
                stop.offset, stop.reason
            ),
            Self::Kind { expected, offset } => write!(
                f,
                "the IP packet at byte {offset} is not {expected:?}; give the kind it was merged as"
            ),
            Self::NoSegmentSize => {
                f.write_str("a segment size of 0 bytes; give the size the frame was merged with")
            }
            Self::Truncated { missing } => write!(
                f,
                "{missing} payload bytes are missing at the end; give the whole frame"
            ),
            Self::SegmentTooLong { len } => write!(
                f,
                "one segment would be {len} bytes long, more than 65,535; give a smaller segment size"
            ),
            Self::ChunkChecksum => f.write_str(
                "chunks of UDP without checksum in a tunnel with checksum; split into segments",
            ),
            other => other.unrepeatable(f),
        }
    }
}

impl SplitError {
    /// Names headers that cannot stand in front of every segment.
    fn unrepeatable(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, offset) = match self {
            Self::Fragment { offset } => ("an IP fragment", offset),
            Self::Authenticated { offset } => {
                ("an authentication header after the IP header", offset)
            }
            Self::Routing { offset } => ("a routing header not followed to its end", offset),
            Self::JumboOptions { offset } => ("a jumbo payload option beside others", offset),
            Self::Gre { offset } => ("GRE with sequence numbers or of version 1", offset),
            Self::NestedTunnel { offset } => ("a third IP header", offset),
            Self::HeadersTooLong { len } => ("more than 256 header bytes", len),
            _ => ("", 0),
        };
        write!(
            f,
            "{what} at byte {offset} cannot be repeated; send the frame as it is"
        )
    }
}

impl core::error::Error for SplitError {}
