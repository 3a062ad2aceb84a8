//! The Internet checksum (RFC 1071, RFC 1624), and what state a TCP checksum is in.
//!
//! A partial sum is a `u64` that holds big-endian 16-bit words added up: partial sums add with
//! `+`, and [`fold`] brings them down to 16 bits.

mod lanes;

use crate::packet::{Address, Ip, Packet, Transport};
use crate::tcp::Tcp;
use crate::transport;

/// The sum of the bytes as big-endian 16-bit words; an odd last byte counts as a word's high
/// half. Only the last of several parts may have an odd length.
#[inline]
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    // Setting up and adding up the lanes costs more than it gains on headers.
    big_endian(if bytes.len() < LANES_FROM {
        sum_words(bytes)
    } else {
        lanes::sum(bytes)
    })
}

/// Copies bytes and returns their sum, as [`sum`] does, in one pass. The kernel calls this `csum_and_copy`.
///
/// # Panics
///
/// Where `to` is not as long as `from`.
#[inline]
#[must_use]
pub fn copy_and_sum(from: &[u8], to: &mut [u8]) -> u64 {
    assert_eq!(from.len(), to.len(), "bytes and room must have one length");
    if from.len() < LANES_FROM {
        to.copy_from_slice(from);
        return big_endian(sum_words(from));
    }
    big_endian(lanes::copy(from, to))
}

/// Number of bytes from which on lanes are faster.
const LANES_FROM: usize = 128;

/// The sum does not depend on byte order but for one swap at the end (RFC 1071 section 2), so
/// words are added as this machine loads them.
#[inline]
fn big_endian(native: u64) -> u64 {
    u64::from(u16::from_be(fold(native)))
}

/// The native sum of few bytes: 32 bits added to 64, so that no carry gets lost below 16 GiB.
#[inline]
fn sum_words(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let words: u64 = words
        .iter()
        .map(|&word| u64::from(u32::from_ne_bytes(word)))
        .sum();
    words + sum_tail(rest)
}

/// The native sum of fewer than four bytes.
#[inline]
fn sum_tail(rest: &[u8]) -> u64 {
    let tail = match *rest {
        [a, b, c] => [a, b, c, 0],
        [a, b] => [a, b, 0, 0],
        [a] => [a, 0, 0, 0],
        _ => [0; 4],
    };
    u64::from(u32::from_ne_bytes(tail))
}

/// Folds a partial sum to 16 bits, with end-around carry. Not complemented.
#[inline]
#[must_use]
pub const fn fold(sum: u64) -> u16 {
    // Both halves added, and the carry of that: adding the sum to itself with its halves exchanged
    // leaves them in the upper half, the lower one's carry added.
    let sum = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// The sum of the IPv4 pseudo-header (RFC 9293 section 3.1). `len` is that of the transport
/// header and its payload; above 65,535, which no IPv4 header can say, it is added as Linux does
/// for BIG TCP: as two words.
#[must_use]
pub fn pseudo_header_v4(source: [u8; 4], destination: [u8; 4], protocol: u8, len: u32) -> u64 {
    u64::from(u32::from_be_bytes(source))
        + u64::from(u32::from_be_bytes(destination))
        + u64::from(protocol)
        + u64::from(len)
}

/// The sum of the IPv6 pseudo-header (RFC 8200 section 8.1).
#[must_use]
pub fn pseudo_header_v6(source: [u8; 16], destination: [u8; 16], protocol: u8, len: u32) -> u64 {
    sum(&source) + sum(&destination) + u64::from(protocol) + u64::from(len)
}

/// A checksum after one 16-bit word it covers changes from `old` to `new` (RFC 1624 equation 3).
#[must_use]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

/// A checksum after a 32-bit field it covers, at an even offset, changes from `old` to `new`: a
/// sequence number, an IPv4 address (RFC 1624 equation 3).
#[must_use]
pub const fn update32(checksum: u16, old: u32, new: u32) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

/// The state of a stored TCP checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumState {
    /// Right for the segment.
    Valid,
    /// The sum of the pseudo-header alone: the sender's stack left the rest to the network card
    /// (`CHECKSUM_PARTIAL`), so the frame was taken before it was sent.
    PseudoHeaderOnly,
    /// Any other value.
    Wrong,
    /// Not known: payload bytes are missing, the packet is a fragment, or it is not TCP.
    NotCaptured,
}

/// Determines the state of the TCP checksum of a walked frame.
///
/// Without all payload bytes only [`ChecksumState::PseudoHeaderOnly`] can be recognised, with a chance of two in 65,535
/// of a mistake. The pseudo-header has the destination of the IP header, so a packet whose routing header is not
/// finished yet looks [`ChecksumState::Wrong`].
#[must_use]
pub fn tcp_checksum_state(frame: &[u8], packet: &Packet) -> ChecksumState {
    let (ip, Transport::Tcp(tcp)) = (&packet.ip, &packet.transport) else {
        return ChecksumState::NotCaptured;
    };
    // In a fragment neither the segment's length nor the rest of its bytes is known.
    if ip.fragment.is_some() {
        return ChecksumState::NotCaptured;
    }
    let pseudo = pseudo_header(ip, transport::TCP);
    match segment(frame, ip, tcp) {
        Some(bytes) if fold(pseudo + sum(bytes)) == 0xffff => ChecksumState::Valid,
        _ if is_partial(tcp.checksum, pseudo, ip.payload_len) => ChecksumState::PseudoHeaderOnly,
        Some(_) => ChecksumState::Wrong,
        None => ChecksumState::NotCaptured,
    }
}

/// Whether the checksum of a walked UDP datagram is right for all of it (RFC 768), as no merged datagram's is: the sum of the
/// first one is in its header, or that of the pseudo-header alone. False where nothing was summed, or bytes are missing.
#[must_use]
pub fn udp_checksum_holds(frame: &[u8], packet: &Packet) -> bool {
    let (ip, Transport::Udp(udp)) = (&packet.ip, &packet.transport) else {
        return false;
    };
    let end = udp.offset.saturating_add(ip.payload_len as usize);
    let bytes = frame.get(udp.offset..end).filter(|_| ip.fragment.is_none());
    let is_summed = |bytes: &&[u8]| bytes.get(6..8).is_some_and(|stored| stored != [0, 0]);
    let pseudo = pseudo_header(ip, transport::UDP);
    bytes
        .filter(is_summed)
        .is_some_and(|bytes| fold(pseudo + sum(bytes)) == 0xffff)
}

/// Whether only the pseudo-header was summed. Windows leaves the length out of it for large sends, since the card adds
/// the length of each segment.
fn is_partial(stored: u16, pseudo: u64, len: u32) -> bool {
    stored == fold(pseudo) || stored == fold(pseudo - u64::from(len))
}

/// The captured segment, if all of it is there.
fn segment<'a>(frame: &'a [u8], ip: &Ip, tcp: &Tcp) -> Option<&'a [u8]> {
    let end = tcp.offset.checked_add(ip.payload_len as usize)?;
    frame.get(tcp.offset..end)
}

fn pseudo_header(ip: &Ip, protocol: u8) -> u64 {
    let (Address(source), Address(destination)) = (ip.source, ip.destination);
    let len = ip.payload_len;
    if ip.version == 4 {
        return pseudo_header_v4(first_four(source), first_four(destination), protocol, len);
    }
    pseudo_header_v6(source, destination, protocol, len)
}

fn first_four([a, b, c, d, ..]: [u8; 16]) -> [u8; 4] {
    [a, b, c, d]
}
