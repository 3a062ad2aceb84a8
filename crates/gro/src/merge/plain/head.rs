//! The header bytes of a frame that may be plain, read at fixed places.

use coalescope_wire::checksum::{fold, pseudo_header_v4, pseudo_header_v6, sum};

use super::Head;
use crate::frame::hash::{hash_v4, hash_v6};
use crate::frame::held::Place;

const ETHERTYPE_IPV4: u16 = u16::from_ne_bytes([0x08, 0x00]);
const ETHERTYPE_IPV6: u16 = u16::from_ne_bytes([0x86, 0xdd]);

/// The IP version of a frame that may be plain; any other number if it is not.
#[inline(always)]
pub(crate) fn version<const LINK: usize>(head: &Head) -> u8 {
    if LINK == 0 {
        return head[0] >> 4;
    }
    // Not swapped: it is only compared.
    match u16::from_ne_bytes(bytes(head, 12)) {
        ETHERTYPE_IPV4 => 4,
        ETHERTYPE_IPV6 => 6,
        _ => 0,
    }
}

#[inline(always)]
pub(crate) fn is_v4<const LINK: usize>(head: &Head) -> bool {
    version::<LINK>(head) == 4
}

/// Decided by the IP header alone: if the frame is alike, the EtherType agrees too.
#[inline(always)]
pub(crate) fn is_v6<const LINK: usize>(head: &Head) -> bool {
    head[LINK] >> 4 == 6
}

/// Hash of addresses and ports, at the offsets of a plain frame.
#[inline(always)]
pub(crate) fn hash<const LINK: usize, const IP: usize>(head: &Head, seed: u64) -> u64 {
    let ports = u32::from_ne_bytes(bytes(head, LINK + IP));
    match IP {
        20 => hash_v4(&bytes(head, LINK + 12), ports, seed),
        _ => hash_v6(&bytes(head, LINK + 8), ports, seed),
    }
}

/// Whether the IP length is that of the bytes present.
#[inline(always)]
pub(crate) fn is_whole<const LINK: usize, const IP: usize>(
    head: &Head,
    network_len: usize,
) -> bool {
    match IP {
        20 => usize::from(be16(head, LINK + 2)) == network_len,
        _ => usize::from(be16(head, LINK + 4)) + IP == network_len,
    }
}

#[inline(always)]
pub(crate) fn is_fragment(head: &Head, ip: usize) -> bool {
    head[ip + 6] & 0xbf != 0 || head[ip + 7] != 0
}

#[inline(always)]
pub(crate) fn be16(head: &Head, at: usize) -> u16 {
    u16::from_be_bytes(bytes(head, at))
}

#[inline(always)]
pub(crate) fn place<const LINK: usize, const IP: usize>(head: &Head) -> Place {
    Place::of(bytes(head, LINK + IP))
}

/// `N` bytes at an offset that is known to lie inside: callers pass constants.
#[inline(always)]
pub(crate) fn bytes<const N: usize>(head: &Head, at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&head[at..at + N]);
    bytes
}

/// Whether the checksum of an IPv4 header is right. The byte order does not matter (RFC 1071 section 2).
#[inline(always)]
pub(crate) fn header_is_sound<const LINK: usize>(head: &Head) -> bool {
    let word = |at: usize| u128::from(u64::from_ne_bytes(bytes(head, LINK + at)));
    let last = u128::from(u32::from_ne_bytes(bytes(head, LINK + 16)));
    // In words of 64 bits: for narrower ones the compiler makes vectors, which take longer.
    let sum = word(0) + word(8) + last;
    let (low, carries) = (sum as u64, (sum >> 64) as u64);
    fold((low & u64::from(u32::MAX)) + (low >> 32) + carries) == 0xffff
}

/// Whether the TCP checksum of a plain frame is right. Not inlined: where it is not verified, the compiler would still
/// prepare the addresses.
#[inline(never)]
pub(crate) fn segment_is_sound<const LINK: usize, const IP: usize>(
    head: &Head,
    frame: &[u8],
) -> bool {
    let segment = frame.get(LINK + IP..).unwrap_or_default();
    fold(pseudo_sum::<LINK, IP>(head, segment.len()) + sum(segment)) == 0xffff
}

/// The sum of all bytes that the TCP checksum of a plain frame covers besides the payload. Not inlined, for the reason
/// given at `segment_is_sound`.
#[inline(never)]
pub(crate) fn head_sum<const LINK: usize, const IP: usize>(
    head: &Head,
    header_len: usize,
    len: usize,
) -> u64 {
    let from = LINK + IP;
    let tcp = match header_len - from {
        // Without options, and with timestamps: a length that is known needs no loop.
        20 => sum(&bytes::<20>(head, from)),
        32 => sum(&bytes::<32>(head, from)),
        _ => sum(head.get(from..header_len).unwrap_or_default()),
    };
    pseudo_sum::<LINK, IP>(head, len - from) + tcp
}

/// The sum of the pseudo-header before a segment of `len` bytes.
#[inline(always)]
pub(crate) fn pseudo_sum<const LINK: usize, const IP: usize>(head: &Head, len: usize) -> u64 {
    match IP {
        20 => pseudo_header_v4(
            bytes(head, LINK + 12),
            bytes(head, LINK + 16),
            6,
            len as u32,
        ),
        _ => pseudo_header_v6(bytes(head, LINK + 8), bytes(head, LINK + 24), 6, len as u32),
    }
}
