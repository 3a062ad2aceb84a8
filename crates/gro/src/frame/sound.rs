//! Whether the checksums of a frame are right: its own, and those of a tunnel around it.

use coalescope_wire::checksum::{fold, sum};
use coalescope_wire::{Header, HeaderKind, Headers, Ip, Packet};

use crate::bytes::chunk;
use crate::frame::seen::{Layer4, Seen};
use crate::frame::sums::pseudo_header;
use crate::profile::{Checksum, Profile};
use crate::reason::Reason;

/// Whether a tunnel in UDP around the packet has a checksum.
pub(crate) fn has_outer_checksum(frame: &[u8], seen: &Seen) -> bool {
    seen.outer_udp()
        .any(|at| frame.get(at + 6..at + 8) != Some(&[0; 2]))
}

/// Whether the checksums of a tunnel's own headers are right, where they have one.
pub(crate) fn outer_checksums(
    frame: &[u8],
    headers: &Headers,
    transport_at: usize,
) -> Result<(), Reason> {
    for pair in headers.as_slice().windows(2) {
        let &[ip, udp] = pair else { continue };
        let at = usize::from(udp.offset);
        if udp.kind == HeaderKind::Udp && at != transport_at {
            outer_checksum(frame, ip, at)?;
        }
        if udp.kind == HeaderKind::Gre {
            gre_checksum(frame, at, ends_at(frame, ip))?;
        }
    }
    Ok(())
}

/// Where a packet ends according to its IP header.
pub(crate) fn ends_at(frame: &[u8], ip: Header) -> usize {
    let at = usize::from(ip.offset);
    let (field, header_len) = match ip.kind {
        HeaderKind::Ipv4 => (at + 2, 0),
        _ => (at + 4, 40),
    };
    let len = chunk::<2>(frame, field).map_or(0, |bytes| u16::from_be_bytes(*bytes));
    at + header_len + usize::from(len)
}

fn outer_checksum(frame: &[u8], ip: Header, at: usize) -> Result<(), Reason> {
    let header = chunk::<8>(frame, at)?;
    // Linux sums all that the IP packet holds, whatever the UDP header says its length is.
    let segment = frame.get(at..ends_at(frame, ip)).unwrap_or_default();
    let len = segment.len() as u32;
    let version = if ip.kind == HeaderKind::Ipv4 { 4 } else { 6 };
    let pseudo = pseudo_header(frame, version, ip.offset.into(), 17, len);
    if header[6..] == [0; 2] || fold(pseudo + sum(segment)) == 0xffff {
        return Ok(());
    }
    Err(Reason::Checksum)
}

/// Whether the checksum of a GRE packet that ends at `end` is right, if it has one (RFC 2784).
fn gre_checksum(frame: &[u8], at: usize, end: usize) -> Result<(), Reason> {
    let packet = frame.get(at..end).unwrap_or_default();
    let has_one = packet.first().is_some_and(|flags| flags & 0x80 != 0);
    if has_one && fold(sum(packet)) != 0xffff {
        return Err(Reason::Checksum);
    }
    Ok(())
}

/// Whether the profile requires verified checksums for such a frame.
pub(crate) fn verifies(profile: &Profile, seen: &Seen) -> bool {
    let rule = match seen.layer4 {
        Layer4::Tcp(_) => Some(profile.tcp.checksum),
        Layer4::Udp => profile.udp.map(|udp| udp.checksum),
    };
    rule == Some(Checksum::Required)
}

pub(crate) fn checksum(
    profile: &Profile,
    frame: &[u8],
    packet: &Packet,
    seen: &Seen,
) -> Result<(), Reason> {
    let required = verifies(profile, seen);
    // A datagram without checksum has nothing to verify.
    let none = matches!(seen.layer4, Layer4::Udp)
        && frame.get(seen.layer4_at + 6..seen.layer4_at + 8) == Some(&[0; 2]);
    if required && !none && !is_right(frame, &packet.ip) {
        return Err(Reason::Checksum);
    }
    if required && seen.tunneled {
        outer_checksums(frame, &seen.headers, seen.layer4_at)?;
    }
    Ok(())
}

/// Whether the transport checksum over the IP payload is right.
fn is_right(frame: &[u8], ip: &Ip) -> bool {
    let end = ip.payload_offset.saturating_add(ip.payload_len as usize);
    let Some(segment) = frame.get(ip.payload_offset..end) else {
        return false;
    };
    let pseudo = pseudo_header(frame, ip.version, ip.offset, ip.protocol, ip.payload_len);
    fold(pseudo + sum(segment)) == 0xffff
}
