//! The hash of a flow.

use coalescope_wire::Ip;

use crate::bytes::chunk;

/// Hash of addresses and ports. A multiplication of two 64-bit words folded, as in wyhash; the seed keeps outsiders
/// from choosing flows that collide.
pub(crate) fn hash(frame: &[u8], ip: &Ip, seed: u64) -> u64 {
    let ports = chunk::<4>(frame, ip.payload_offset).map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    if ip.version == 4 {
        let addresses = chunk::<8>(frame, ip.offset + 12);
        return hash_v4(addresses.unwrap_or(&[0; 8]), ports, seed);
    }
    let addresses = chunk::<32>(frame, ip.offset + 8);
    hash_v6(addresses.unwrap_or(&[0; 32]), ports, seed)
}

#[inline(always)]
pub(crate) fn hash_v4(addresses: &[u8; 8], ports: u32, seed: u64) -> u64 {
    mix(
        u64::from_ne_bytes(*addresses) ^ seed,
        u64::from(ports) ^ SALT,
    )
}

#[inline(always)]
pub(crate) fn hash_v6(addresses: &[u8; 32], ports: u32, seed: u64) -> u64 {
    let (words, _) = addresses.as_chunks::<8>();
    let mut state = u64::from(ports) ^ seed;
    for word in words {
        // Not the word times the state: a word of zeros, as ::1 has, would erase the state.
        state = mix(state ^ u64::from_ne_bytes(*word), SALT);
    }
    state
}

/// An odd number without pattern: the golden ratio's fraction.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b | 1);
    (product as u64) ^ ((product >> 64) as u64)
}
