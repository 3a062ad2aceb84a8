//! Which point is nearer to an end of a connection, by what the connection's ends show at both points.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::connection::Connection;
use crate::flow::Flow;

/// Nothing on a path empties a checksum that was filled in.
const CHECKSUM: i32 = 3;
/// Middleboxes clamp the MSS; a proxy may announce another.
const MSS: i32 = 2;
/// Carriers translate between private networks as well.
const ADDRESS: i32 = 2;
/// Frames that are enough to judge checksums by.
const CHECKSUMS: u8 = 2;

/// How much speaks for direction 0, from the lower end at the first point, to go forth.
pub(in crate::hop) fn standing(at: [&Connection; 2], flipped: bool) -> i32 {
    (0..2)
        .map(|way| {
            let flows = [&at[0].flows[way], &at[1].flows[way ^ usize::from(flipped)]];
            let sender = [0, 1].map(|side| {
                let end = if side == 1 && flipped { 1 - way } else { way };
                (at[side].key.ends()[end].0, at[side].key.version())
            });
            let speaks = CHECKSUM * checksums(flows)
                + ADDRESS * addresses(sender)
                + MSS * sizes(announced(at, way, flipped));
            if way == 0 { speaks } else { -speaks }
        })
        .sum()
}

/// 1 if the first point is where checksums are not filled in yet, -1 if the second is.
fn checksums([first, second]: [&Flow; 2]) -> i32 {
    let is_open = |flow: &Flow| {
        flow.counts.partial >= CHECKSUMS && flow.counts.partial >= flow.counts.complete
    };
    let is_filled = |flow: &Flow| flow.counts.partial == 0 && flow.counts.complete >= CHECKSUMS;
    i32::from(is_open(first) && is_filled(second)) - i32::from(is_open(second) && is_filled(first))
}

/// 1 if the sender has its private address at the first point only, -1 if at the second only.
fn addresses([first, second]: [(u128, u8); 2]) -> i32 {
    i32::from(is_private(first)) - i32::from(is_private(second))
}

fn is_private((address, version): (u128, u8)) -> bool {
    if version == 4 {
        let address = Ipv4Addr::from(address as u32);
        let [a, b, ..] = address.octets();
        // RFC 1918, and RFC 6598 for carriers.
        address.is_private() || a == 100 && b & 0xc0 == 64
    } else {
        Ipv6Addr::from(address).is_unique_local()
    }
}

/// The MSS that the sender of a direction announced, as both points show it.
fn announced(at: [&Connection; 2], way: usize, flipped: bool) -> [Option<u16>; 2] {
    [0, 1].map(|side: usize| {
        let end = if side == 1 && flipped { 1 - way } else { way };
        let from_client = (end == 0) == at[side].client_is_low;
        let handshake = &at[side].handshake;
        let syn = if from_client {
            handshake.syn
        } else {
            handshake.syn_ack
        };
        syn?.mss
    })
}

/// 1 if the MSS is smaller at the second point, -1 if it is at the first.
fn sizes([first, second]: [Option<u16>; 2]) -> i32 {
    let Some((first, second)) = first.zip(second) else {
        return 0;
    };
    first.cmp(&second) as i32
}
