//! Writes the headers of a merged frame: lengths, checksums and other fields that its segments changed.

use coalescope_wire::checksum::{fold, sum};
use coalescope_wire::{Header, HeaderKind};

use crate::frame::held::Held;
use crate::frame::sums::pseudo_header;
use crate::frame::template::MAX_HEADER;
use crate::gso::{Gso, GsoKind};
use crate::merge::plain;
use crate::out::outgoing::About;
use crate::reason::Reason;
use crate::settings::Checksums;

/// The longest payload that a 16-bit length field can hold.
const MAX_LEN: u32 = 65_535;

/// Hop-by-hop options with a jumbo payload (RFC 2675): 8 bytes.
const JUMBO_LEN: u16 = 8;

/// Rewrites the headers of a held frame for its whole payload.
///
/// A list of whole segments keeps the transport checksum of the first.
#[inline(always)]
pub(crate) fn finish(held: &mut Held, checksums: Checksums, list: bool) {
    let short = held.plain && !list && checksums == Checksums::Partial;
    if !short || !plain::finish(held) {
        finish_any(held, checksums, list);
    }
}

/// The general path.
#[inline(never)]
fn finish_any(held: &mut Held, checksums: Checksums, list: bool) {
    if held.plain {
        one_level(held);
    } else {
        nested(held);
    }
    if !list {
        transport(held, checksums);
    }
    if !held.plain && !list {
        outer_udp(held, checksums);
    }
    if is_jumbo(held) {
        insert_jumbo(held);
    }
}

/// What the sink gets to know of the frame, and how to split it again.
#[inline(always)]
pub(crate) fn about(held: &Held, reason: Reason, accurate_ecn: bool) -> About {
    let kind = match (held.is_tcp, held.version) {
        (false, _) => GsoKind::Udp,
        (true, 4) => GsoKind::TcpV4,
        (true, _) => GsoKind::TcpV6,
    };
    About {
        frame: held.frame,
        reason,
        gso: Some(Gso {
            kind,
            segment_size: held.segment_size as u16,
            segments: held.segments.min(u32::from(u16::MAX)) as u16,
            outer_id: held.ids[0].run,
            id: held.ids[1].run,
            accurate_ecn,
        }),
        ip_at: held.ip,
        transport_at: held.layer4,
        header_len: held.header_len,
    }
}

/// Writes the only IP header of a frame, directly behind the link's.
fn one_level(held: &mut Held) {
    let end = u32::from(held.header_len) + held.payload_len;
    let at = usize::from(held.ip);
    match held.version {
        4 => ipv4(&mut held.header, at, end),
        _ => ipv6(&mut held.header, at, end),
    }
}

fn nested(held: &mut Held) {
    let end = u32::from(held.header_len) + held.payload_len;
    let headers = held.headers;
    for header in headers.as_slice() {
        let at = usize::from(header.offset);
        match header.kind {
            HeaderKind::Ipv4 => ipv4(&mut held.header, at, end),
            HeaderKind::Ipv6 => ipv6(&mut held.header, at, end),
            HeaderKind::Pppoe => put_len(&mut held.header, at + 4, end - header_end(at, 6)),
            HeaderKind::Udp => put_len(&mut held.header, at + 4, end - at as u32),
            _ => {}
        }
    }
}

fn header_end(at: usize, len: u32) -> u32 {
    at as u32 + len
}

/// A length that does not fit the field is written as 0: BIG TCP.
fn put_len(header: &mut [u8; MAX_HEADER], at: usize, len: u32) {
    let len = if len > MAX_LEN { 0 } else { len as u16 };
    put16(header, at, len);
}

fn put16(header: &mut [u8; MAX_HEADER], at: usize, value: u16) {
    if let Some(field) = header.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

#[inline]
fn ipv4(header: &mut [u8; MAX_HEADER], at: usize, end: u32) {
    put_len(header, at + 2, end - at as u32);
    put16(header, at + 10, 0);
    let checksum = header.get(at..at + 20).map_or(0, |bytes| !fold(sum(bytes)));
    put16(header, at + 10, checksum);
}

#[inline]
fn ipv6(header: &mut [u8; MAX_HEADER], at: usize, end: u32) {
    put_len(header, at + 4, end - header_end(at, 40));
}

/// Writes the outer UDP checksum of a tunnel, if it has one. It covers the inner transport checksum, which is written
/// before.
fn outer_udp(held: &mut Held, checksums: Checksums) {
    let headers = held.headers;
    for pair in headers.as_slice().windows(2) {
        let &[ip, udp] = pair else { continue };
        let stored = held.header.get(usize::from(udp.offset) + 6..);
        let has_checksum = stored.is_some_and(|bytes| !bytes.starts_with(&[0; 2]));
        if udp.kind == HeaderKind::Udp && udp.offset != held.layer4 && has_checksum {
            outer_checksum(held, ip, udp.offset.into(), checksums);
        }
    }
}

/// Writes the UDP checksum at `at`, in the packet `ip`. Headers have even lengths, so the sum of the payload can be
/// added without a swap.
fn outer_checksum(held: &mut Held, ip: Header, at: usize, checksums: Checksums) {
    let end = usize::from(held.header_len);
    let len = (end - at) as u32 + held.payload_len;
    let version = if ip.kind == HeaderKind::Ipv4 { 4 } else { 6 };
    let pseudo = pseudo_header(&held.header, version, ip.offset.into(), 17, len);
    put_checksum(held, at, at + 6, pseudo, checksums);
}

/// Writes the transport checksum: the pseudo-header's sum, or the complete one from the sums of the segments.
fn transport(held: &mut Held, checksums: Checksums) {
    let at = usize::from(held.layer4);
    let end = usize::from(held.header_len);
    let len = (end - at) as u32 + held.payload_len;
    let (protocol, field) = if held.is_tcp { (6, 16) } else { (17, 6) };
    if !held.is_tcp {
        put_len(&mut held.header, at + 4, len);
    }
    let pseudo = pseudo_header(&held.header, held.version, held.ip.into(), protocol, len);
    put_checksum(held, at, at + field, pseudo, checksums);
}

/// Writes the checksum of the bytes from `at` on; `pseudo` is the pseudo-header's sum.
fn put_checksum(held: &mut Held, at: usize, field: usize, pseudo: u64, checksums: Checksums) {
    put16(&mut held.header, field, 0);
    let is_tcp = held.is_tcp && at == usize::from(held.layer4);
    let checksum = match checksums {
        Checksums::Partial => fold(pseudo),
        Checksums::Complete => {
            let headers = held.header.get(at..usize::from(held.header_len));
            complete(!fold(pseudo + headers.map_or(0, sum) + held.sum), is_tcp)
        }
    };
    put16(&mut held.header, field, checksum);
}

/// A UDP checksum of 0 would mean that there is none (RFC 768), so 0xffff is written.
fn complete(checksum: u16, is_tcp: bool) -> u16 {
    if checksum == 0 && !is_tcp {
        return 0xffff;
    }
    checksum
}

fn is_jumbo(held: &Held) -> bool {
    held.version == 6 && u32::from(held.header_len - held.ip) - 40 + held.payload_len > MAX_LEN
}

/// Inserts a jumbo payload header behind the IPv6 header, as Linux does from 5.19 on.
fn insert_jumbo(held: &mut Held) {
    let at = usize::from(held.ip);
    let next = held.header[at + 6];
    let end = usize::from(held.header_len);
    held.header.copy_within(at + 40..end, at + 48);
    let len = u32::from(held.header_len - held.ip) - 40 + u32::from(JUMBO_LEN) + held.payload_len;
    let [a, b, c, d] = len.to_be_bytes();
    held.header[at + 40..at + 48].copy_from_slice(&[next, 0, 0xc2, 4, a, b, c, d]);
    held.header[at + 6] = 0;
    held.header_len += JUMBO_LEN;
    held.layer4 += JUMBO_LEN;
}
