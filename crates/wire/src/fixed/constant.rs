//! Header fields that all frames of one direction have in common: about half of a header's bytes stay the same over a
//! connection (RFC 1144, 2.2). Once these fields compare equal, the shape of a frame is known without parsing.

use super::{FixedTcp, HEADERS};
use crate::tcp::Flags;

/// Ethernet, IPv4 and TCP with timestamps.
const STAMPED: usize = HEADERS + 12;
/// Mask of the Ethernet type, and of the byte behind it, with IP's version and header length; not of the TOS, since
/// routers mark congestion there (RFC 3168).
const TYPE_AND_VERSION: u32 = u32::from_ne_bytes([0xff, 0xff, 0xff, 0]);
/// Mask of fragment flags and offset, and of the protocol; not of the TTL between them, which directions do not share.
const FRAGMENT_AND_PROTOCOL: u32 = u32::from_ne_bytes([0xff, 0xff, 0, 0xff]);
/// Mask of the TCP header length, and of SYN.
const LENGTH_AND_SYN: u32 = u32::from_ne_bytes([0xf0, Flags::SYN as u8, 0, 0]);
/// TCP header length of all these frames, in bytes.
const TCP_LENGTH: u8 = 32;

/// The constant fields of frames with timestamps, without other options and without SYN; bits that may change are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstantFields {
    type_and_version: u32,
    fragment_and_protocol: u32,
    addresses: u64,
    ports: u32,
    length_and_syn: u32,
    /// NOP, NOP, and the kind and length of timestamps.
    stamp: u32,
}

impl ConstantFields {
    /// The constant fields of a frame, if it has this shape. The default value matches no frame.
    #[must_use]
    pub fn of(tcp: &FixedTcp<'_>) -> Option<Self> {
        let is_such = tcp.stamp.is_some() && !tcp.has_sack() && !tcp.flags().has(Flags::SYN);
        let header = tcp.frame.first_chunk().filter(|_| is_such)?;
        Some(Self::read(header))
    }

    /// The fields of the opposite direction, if only addresses and ports differ there.
    #[must_use]
    pub fn answered(&self) -> Self {
        Self {
            addresses: self.addresses.rotate_left(32),
            ports: self.ports.rotate_left(16),
            ..*self
        }
    }

    #[inline(always)]
    fn read(header: &[u8; STAMPED]) -> Self {
        Self {
            type_and_version: ne32(header, 12) & TYPE_AND_VERSION,
            fragment_and_protocol: ne32(header, 20) & FRAGMENT_AND_PROTOCOL,
            addresses: ne64(header, 26),
            ports: ne32(header, 34),
            length_and_syn: ne32(header, 46) & LENGTH_AND_SYN,
            stamp: ne32(header, HEADERS),
        }
    }

    /// The view of a frame that matches the first or the second set of fields; true if the first.
    #[expect(
        clippy::inline_always,
        reason = "a call would have the view written to memory"
    )]
    #[inline(always)]
    #[must_use]
    pub fn view<'a>(both: &[Self; 2], frame: &'a [u8]) -> Option<(FixedTcp<'a>, bool)> {
        let header = frame.first_chunk::<STAMPED>()?;
        // Without a branch: the direction changes from frame to frame.
        let is_first = ne32(header, 34) == both[0].ports;
        if both[usize::from(!is_first)].differ(header) {
            return None;
        }
        let (fixed, stamp) = header.split_first_chunk::<HEADERS>()?;
        let options = (stamp.first_chunk(), &[][..]);
        Some((FixedTcp::new(frame, fixed, options, TCP_LENGTH)?, is_first))
    }

    /// Whether any field differs.
    #[inline(always)]
    fn differ(&self, header: &[u8; STAMPED]) -> bool {
        let other = Self::read(header);
        let differs = (other.type_and_version ^ self.type_and_version)
            | (other.fragment_and_protocol ^ self.fragment_and_protocol)
            | (other.ports ^ self.ports)
            | (other.length_and_syn ^ self.length_and_syn)
            | (other.stamp ^ self.stamp);
        (other.addresses ^ self.addresses) | u64::from(differs) != 0
    }
}

/// Four bytes, in the order of this machine.
#[inline(always)]
fn ne32(header: &[u8; STAMPED], offset: usize) -> u32 {
    let bytes = header[offset..].first_chunk();
    bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// Eight bytes, in the order of this machine.
#[inline(always)]
fn ne64(header: &[u8; STAMPED], offset: usize) -> u64 {
    let bytes = header[offset..].first_chunk();
    bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
