//! What is wrong with a virtio-net header.

use core::fmt;

use coalescope_wire::Stop;

/// What is wrong with a header, or with a frame for which a header is built. Offsets count from the frame's first byte,
/// behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VirtioError {
    /// Fewer bytes than a header has.
    Short {
        /// How many there are.
        len: usize,
        /// How many the form has.
        needed: usize,
    },
    /// A type that virtio 1.3 does not know, or bits on a frame that is not merged.
    UnknownType {
        /// The `gso_type` field.
        gso_type: u8,
    },
    /// One UDP datagram to be cut into IP fragments, which is no longer done (Linux since 4.14).
    UdpFragments,
    /// A merged frame with `gso_size` 0.
    NoSegmentSize,
    /// A merged frame without `NEEDS_CSUM`.
    NoChecksumPlace,
    /// The checksum field lies outside the frame.
    ChecksumOutside {
        /// `csum_start` and `csum_offset` added up.
        at: usize,
        /// The frame's length.
        len: usize,
    },
    /// The checksum is not that of the innermost TCP or UDP header.
    ChecksumPlace {
        /// Offset of the first byte that is summed, by the header.
        start: u16,
        /// Where the transport header is.
        transport: usize,
    },
    /// The headers of a merged frame cannot be read.
    Headers(Stop),
    /// The innermost packet is not of the type that the header names.
    Mismatch {
        /// The `gso_type` field.
        gso_type: u8,
        /// Where the innermost IP header is.
        offset: usize,
    },
    /// The tunnel bits are not those of the frame: no tunnel, another IP version, both bits, or
    /// none on a tunnel.
    Tunnel {
        /// The `gso_type` field.
        gso_type: u8,
    },
    /// A merged frame in a tunnel that virtio has no type for: IP in IP, GRE, or several.
    NoTypeForTunnel,
    /// A merged frame with CWR in every segment, which virtio has no bit for.
    AccurateEcn,
    /// Merged UDP datagrams without checksum, which a device would fill in.
    NoChecksum,
    /// Headers longer than 16 bits can express.
    HeadersTooLong {
        /// Header bytes.
        len: usize,
    },
    /// The checksum of a merged frame cannot be completed: each segment gets its own.
    Merged,
    /// The checksum's place is not known: `RSC_INFO` took its fields.
    ChecksumPlaceUnknown,
}

impl fmt::Display for VirtioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short { len, needed } => write!(
                f,
                "{len} bytes cannot hold a virtio-net header of {needed}; check the negotiated form"
            ),
            Self::ChecksumOutside { at, len } => write!(
                f,
                "checksum field at byte {at} of a frame of {len}; drop the frame, and check the form"
            ),
            Self::ChecksumPlace { start, transport } => write!(
                f,
                "checksum from byte {start}, but the transport header is at {transport}; drop the frame"
            ),
            Self::Headers(stop) => write!(
                f,
                "a merged frame whose header at byte {} is {:?}; drop the frame",
                stop.offset, stop.reason
            ),
            Self::Mismatch { gso_type, offset } => write!(
                f,
                "gso_type {gso_type:#04x} is not that of the IP packet at byte {offset}; drop the frame"
            ),
            Self::HeadersTooLong { len } => {
                write!(f, "{len} header bytes, more than 65,535; drop the frame")
            }
            Self::UnknownType { gso_type } => {
                write!(f, "gso_type {gso_type:#04x} is not known; drop the frame")
            }
            Self::Tunnel { gso_type } => write!(
                f,
                "gso_type {gso_type:#04x} does not name the frame's tunnel; drop the frame"
            ),
            other => f.write_str(other.fixed()),
        }
    }
}

impl VirtioError {
    /// Messages without figures.
    const fn fixed(self) -> &'static str {
        match self {
            Self::UdpFragments => "a datagram to be cut into IP fragments; do not offer UFO",
            Self::NoSegmentSize => "a merged frame with gso_size 0; drop the frame",
            Self::NoChecksumPlace => "a merged frame without NEEDS_CSUM; drop the frame",
            Self::NoTypeForTunnel => "virtio has no type for the tunnel; split the frame first",
            Self::AccurateEcn => "virtio has no bit for AccECN; split the frame first",
            Self::NoChecksum => "UDP without checksum would get one; split the frame first",
            Self::Merged => "a merged frame has no checksum of its own; split the frame first",
            _ => "RSC_INFO took the fields of the checksum's place; verify instead of completing",
        }
    }
}

impl core::error::Error for VirtioError {}
