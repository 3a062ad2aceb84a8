//! The virtio-net header: what the kernel left undone of checksum and segmentation.

/// Length of the header, without the field for merged buffers.
pub(super) const LENGTH: usize = 10;
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_F_DATA_VALID`.
const DATA_VALID: u8 = 2;
/// `VIRTIO_NET_HDR_GSO_ECN`, a mark beside the type.
const GSO_ECN: u8 = 0x80;

/// A virtio-net header as AF_PACKET gives it (virtio 1.3, 5.1.6), in the machine's byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VnetHeader {
    /// `VIRTIO_NET_HDR_F_*`.
    pub flags: u8,
    /// `VIRTIO_NET_HDR_GSO_*`.
    pub gso_type: u8,
    /// Length of the headers. The kernel gives the length of the linear part of its buffer, a hint
    /// that may be longer than the headers.
    pub hdr_len: u16,
    /// Payload bytes of each segment.
    pub gso_size: u16,
    /// Where the checksum begins, from the start of the frame.
    pub csum_start: u16,
    /// Where the checksum is written, from `csum_start`.
    pub csum_offset: u16,
}

/// The kind of segments in a merged frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gso {
    /// A single segment.
    None,
    /// TCP over IPv4.
    TcpV4,
    /// TCP over IPv6.
    TcpV6,
    /// UDP, each segment a datagram of its own.
    Udp,
    /// Any other type.
    Other(u8),
}

impl VnetHeader {
    /// Parses a header.
    pub(super) fn read(bytes: [u8; LENGTH]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            hdr_len: word(2),
            gso_size: word(4),
            csum_start: word(6),
            csum_offset: word(8),
        }
    }

    /// The checksum field holds only the sum of the pseudo-header.
    pub fn needs_checksum(&self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }

    /// The kernel knows that the checksum is right.
    pub fn data_valid(&self) -> bool {
        self.flags & DATA_VALID != 0
    }

    /// The kind of segments.
    pub fn gso(&self) -> Gso {
        match self.gso_type & !GSO_ECN {
            0 => Gso::None,
            1 => Gso::TcpV4,
            4 => Gso::TcpV6,
            5 => Gso::Udp,
            other => Gso::Other(other),
        }
    }

    /// Only the first segment carries CWR.
    pub fn ecn(&self) -> bool {
        self.gso_type & GSO_ECN != 0
    }

    /// Moves `csum_start` after `bytes` were put in front of the checksummed part.
    pub(super) fn shift(&mut self, bytes: u16) {
        if self.needs_checksum() {
            self.csum_start += bytes;
        }
        self.hdr_len = self
            .hdr_len
            .saturating_add(if self.hdr_len == 0 { 0 } else { bytes });
    }
}
