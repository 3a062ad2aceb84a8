//! The header in front of a frame on a virtio-net queue, and on a TUN or TAP device with
//! `IFF_VNET_HDR` (virtio 1.3 section 5.1.6).
//!
//! The header describes work that the receiver still has to do, or that was left out for it: a checksum not filled in
//! yet, and a merged frame not split yet. [`VirtioNetHeader::for_merged`] writes the header for a frame of an engine of
//! this crate, [`VirtioNetHeader::gso`] reads and checks it for [`Splitter`](crate::split::Splitter).
//!
//! ```
//! use gro::{LinkType, SplitSettings, Splitter, VirtioForm, VirtioNetHeader};
//!
//! /// Splits what was read from a TUN device with `IFF_VNET_HDR`.
//! fn split(read: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
//!     let header = VirtioNetHeader::decode(read, VirtioForm::LEGACY)?;
//!     let mut packet = read[VirtioForm::LEGACY.len()..].to_vec();
//!     let Some(gso) = header.gso(LinkType::Raw, &packet)? else {
//!         let single = VirtioNetHeader { gso_type: VirtioNetHeader::GSO_NONE, ..header };
//!         single.complete_checksum(&mut packet)?;
//!         return Ok(vec![packet]);
//!     };
//!     let settings = SplitSettings { link: LinkType::Raw, ..SplitSettings::default() };
//!     let mut splitter = Splitter::new(&packet, gso, settings)?;
//!     let mut packets = Vec::new();
//!     while let Some(segment) = splitter.next_segment() {
//!         let mut packet = Vec::new();
//!         segment.copy_to(&mut packet);
//!         packets.push(packet);
//!     }
//!     Ok(packets)
//! }
//! ```
//!
//! The header cannot express whether IPv4 identifications count on or stay (Linux takes them as counting on), and
//! AccECN.

mod error;
mod frame;

use alloc::vec::Vec;

pub use error::VirtioError;

/// Byte order of the 16-bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Always in virtio 1.0 and later.
    Little,
    /// Legacy virtio on a big-endian guest.
    Big,
}

impl Endian {
    /// This machine's byte order: used by legacy devices, and by TUN and TAP unless `TUNSETVNETLE` is set.
    pub const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };

    fn put(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn get(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// The form of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VirtioForm {
    /// Whether `num_buffers` is there: 12 bytes instead of 10.
    pub num_buffers: bool,
    /// Byte order.
    pub endian: Endian,
}

impl VirtioForm {
    /// Virtio 1.0 and later: 12 bytes, little endian.
    pub const MODERN: Self = Self {
        num_buffers: true,
        endian: Endian::Little,
    };

    /// Legacy virtio without mergeable buffers, and a TUN or TAP device after opening: 10 bytes, this machine's byte
    /// order.
    pub const LEGACY: Self = Self {
        num_buffers: false,
        endian: Endian::NATIVE,
    };

    /// Its length in bytes: 10 or 12.
    #[must_use]
    pub const fn len(self) -> usize {
        if self.num_buffers { LONG } else { SHORT }
    }

    /// Always false: the header has at least 10 bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        false
    }
}

/// Length of the form without `num_buffers`.
const SHORT: usize = 10;

/// Length of the form with it.
const LONG: usize = 12;

/// The header, with the specification's names. Hash fields are not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VirtioNetHeader {
    /// [`Self::NEEDS_CSUM`] and the like.
    pub flags: u8,
    /// [`Self::GSO_NONE`] or another type, with the bits [`Self::GSO_ECN`] and
    /// [`Self::GSO_UDP_TUNNEL`].
    pub gso_type: u8,
    /// Header bytes in front of the payload; a hint, which no receiver may rely on.
    pub hdr_len: u16,
    /// Payload bytes of every segment but the last.
    pub gso_size: u16,
    /// Offset of the first byte that is summed, with [`Self::NEEDS_CSUM`]. With
    /// [`Self::RSC_INFO`] the number of coalesced segments.
    pub csum_start: u16,
    /// Offset from there of the checksum field. With [`Self::RSC_INFO`] the number of duplicate
    /// ACKs.
    pub csum_offset: u16,
    /// Receive buffers that the frame takes up. 0 from a driver, at least 1 from a device.
    pub num_buffers: u16,
}

/// What a device reports of a frame that it coalesced (`VIRTIO_NET_F_RSC_EXT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RscInfo {
    /// Segments in the frame; 0 where the device did not count.
    pub segments: u16,
    /// Duplicate ACKs that were absorbed.
    pub duplicate_acks: u16,
}

/// State of a transport checksum, as kernels describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumOffload {
    /// It has not been verified (`CHECKSUM_NONE`).
    Unchecked,
    /// It was verified (`CHECKSUM_UNNECESSARY`, `DATA_VALID`).
    Verified,
    /// It is the pseudo-header's sum, and the data is right (`CHECKSUM_PARTIAL`, `NEEDS_CSUM`).
    Partial {
        /// Offset of the first byte that is summed.
        start: u16,
        /// Offset from there of the checksum field.
        offset: u16,
    },
}

impl VirtioNetHeader {
    /// Flag: the checksum holds the pseudo-header's sum, and must be completed before the frame
    /// leaves.
    pub const NEEDS_CSUM: u8 = 1;
    /// Flag: the device verified the checksum.
    pub const DATA_VALID: u8 = 2;
    /// Flag: `csum_start` and `csum_offset` are an [`RscInfo`].
    pub const RSC_INFO: u8 = 4;
    /// Flag: the UDP header of the tunnel has a checksum too.
    pub const UDP_TUNNEL_CSUM: u8 = 8;

    /// Type: not a merged frame.
    pub const GSO_NONE: u8 = 0;
    /// Type: TCP over IPv4.
    pub const GSO_TCPV4: u8 = 1;
    /// Type: one UDP datagram, to be cut into IP fragments (UFO).
    pub const GSO_UDP: u8 = 3;
    /// Type: TCP over IPv6.
    pub const GSO_TCPV6: u8 = 4;
    /// Type: UDP datagrams over IPv4 or IPv6 (USO).
    pub const GSO_UDP_L4: u8 = 5;
    /// Bit: inside a UDP tunnel over IPv4.
    pub const GSO_UDP_TUNNEL_IPV4: u8 = 0x20;
    /// Bit: inside a UDP tunnel over IPv6.
    pub const GSO_UDP_TUNNEL_IPV6: u8 = 0x40;
    /// Both tunnel bits, of which one may be set.
    pub const GSO_UDP_TUNNEL: u8 = Self::GSO_UDP_TUNNEL_IPV4 | Self::GSO_UDP_TUNNEL_IPV6;
    /// Bit: TCP with CWR set, which belongs to the first segment alone.
    pub const GSO_ECN: u8 = 0x80;

    /// The header of a frame of its own whose checksum was verified.
    #[must_use]
    pub fn verified() -> Self {
        Self {
            flags: Self::DATA_VALID,
            ..Self::default()
        }
    }

    /// Reads a header from the first bytes of a buffer.
    ///
    /// # Errors
    ///
    /// [`VirtioError::Short`] where the buffer has fewer bytes than the form.
    pub fn decode(bytes: &[u8], form: VirtioForm) -> Result<Self, VirtioError> {
        let (len, needed) = (bytes.len(), form.len());
        let short = VirtioError::Short { len, needed };
        let bytes = bytes.get(..needed).ok_or(short)?;
        let field = |at: usize| match *bytes.get(at..).unwrap_or_default() {
            [a, b, ..] => form.endian.get([a, b]),
            _ => 0,
        };
        Ok(Self {
            flags: bytes.first().copied().unwrap_or_default(),
            gso_type: bytes.get(1).copied().unwrap_or_default(),
            hdr_len: field(2),
            gso_size: field(4),
            csum_start: field(6),
            csum_offset: field(8),
            num_buffers: field(10),
        })
    }

    /// The 12 bytes; the short form is the first ten of them.
    #[must_use]
    pub fn to_bytes(&self, endian: Endian) -> [u8; LONG] {
        let [a, b] = endian.put(self.hdr_len);
        let [c, d] = endian.put(self.gso_size);
        let [e, f] = endian.put(self.csum_start);
        let [g, h] = endian.put(self.csum_offset);
        let [i, j] = endian.put(self.num_buffers);
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h, i, j]
    }

    /// Appends the header to a buffer.
    pub fn encode(&self, form: VirtioForm, buffer: &mut Vec<u8>) {
        let bytes = self.to_bytes(form.endian);
        buffer.extend_from_slice(bytes.get(..form.len()).unwrap_or(&bytes));
    }

    /// Whether any of the given flags is set.
    #[must_use]
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// The type without its bits.
    #[must_use]
    pub const fn base_type(&self) -> u8 {
        self.gso_type & !(Self::GSO_ECN | Self::GSO_UDP_TUNNEL)
    }

    /// What the device reports of its coalescing, if it does.
    #[must_use]
    pub fn rsc(&self) -> Option<RscInfo> {
        self.has(Self::RSC_INFO).then_some(RscInfo {
            segments: self.csum_start,
            duplicate_acks: self.csum_offset,
        })
    }

    /// State of the checksum. `NEEDS_CSUM` takes precedence over `DATA_VALID`; with [`Self::RSC_INFO`] the fields hold
    /// no offsets.
    #[must_use]
    pub fn checksum(&self) -> ChecksumOffload {
        if self.has(Self::NEEDS_CSUM) && !self.has(Self::RSC_INFO) {
            return ChecksumOffload::Partial {
                start: self.csum_start,
                offset: self.csum_offset,
            };
        }
        // A device that needs the checksum completed has verified the data (virtio 1.3 section
        // 5.1.6.4.1).
        match self.has(Self::NEEDS_CSUM | Self::DATA_VALID) {
            true => ChecksumOffload::Verified,
            false => ChecksumOffload::Unchecked,
        }
    }
}

/// Where the headers of a UDP tunnel are: two little-endian fields behind the hash fields, where
/// tunnel offload was negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VirtioTunnel {
    /// Offset of the outer UDP header (`outer_th_offset`).
    pub outer_transport: u16,
    /// Offset of the inner IP header (`inner_nh_offset`).
    pub inner_network: u16,
}

impl VirtioTunnel {
    /// Reads the two fields.
    #[must_use]
    pub const fn from_bytes([a, b, c, d]: [u8; 4]) -> Self {
        Self {
            outer_transport: u16::from_le_bytes([a, b]),
            inner_network: u16::from_le_bytes([c, d]),
        }
    }

    /// Writes the two fields.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 4] {
        let [a, b] = self.outer_transport.to_le_bytes();
        let [c, d] = self.inner_network.to_le_bytes();
        [a, b, c, d]
    }
}
