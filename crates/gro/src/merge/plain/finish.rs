//! The headers of a merged plain frame. The general path is `crate::merge::finish`, with the same result.

use coalescope_wire::checksum::fold;

use crate::frame::held::Held;
use crate::frame::template::MAX_HEADER;

/// Rewrites the headers; the transport checksum becomes the pseudo-header's sum. `false` where the general path is
/// needed: the packet is too long for its length fields.
#[inline(always)]
pub(crate) fn finish(held: &mut Held) -> bool {
    match (held.ip, held.version) {
        _ if held.network_len() > u32::from(u16::MAX) => return false,
        (14, 4) => v4::<14>(held),
        (14, _) => v6::<14>(held),
        (_, 4) => v4::<0>(held),
        _ => v6::<0>(held),
    }
    true
}

/// Sums are over words in the machine's byte order: RFC 1071 section 2 (B).
#[inline(always)]
fn v4<const IP: usize>(held: &mut Held) {
    let len = held.network_len() as u16;
    let header = &mut held.header;
    // All loads come before all stores: a load that covers a narrower store waits for it.
    let addresses = word(header, IP + 12) + word(header, IP + 16);
    let rest = half(header, IP) + word(header, IP + 4) + half(header, IP + 8);
    put(header, IP + 2, len.to_be());
    put(
        header,
        IP + 10,
        !fold(addresses + rest + u64::from(len.to_be())),
    );
    put(
        header,
        IP + 36,
        fold(addresses + TCP + u64::from((len - 20).to_be())),
    );
}

#[inline(always)]
fn v6<const IP: usize>(held: &mut Held) {
    let len = (held.network_len() - 40) as u16;
    let header = &mut held.header;
    put(header, IP + 4, len.to_be());
    let addresses: u64 = (8..40).step_by(4).map(|at| word(header, IP + at)).sum();
    put(
        header,
        IP + 56,
        fold(addresses + TCP + u64::from(len.to_be())),
    );
}

/// The protocol number in the word order of a pseudo-header.
const TCP: u64 = 6_u16.to_be() as u64;

#[inline(always)]
fn word(header: &[u8; MAX_HEADER], at: usize) -> u64 {
    let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
    u64::from(u32::from_ne_bytes(bytes))
}

#[inline(always)]
fn half(header: &[u8; MAX_HEADER], at: usize) -> u64 {
    u64::from(u16::from_ne_bytes([header[at], header[at + 1]]))
}

#[inline(always)]
fn put(header: &mut [u8; MAX_HEADER], at: usize, value: u16) {
    header[at..at + 2].copy_from_slice(&value.to_ne_bytes());
}
