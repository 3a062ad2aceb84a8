//! Sums of a frame in place: of its pseudo-header, and of its payload by its checksum.

use coalescope_wire::checksum::{fold, pseudo_header_v4, pseudo_header_v6, sum};

use crate::frame::held::Held;

/// Sum of the pseudo-header for the payload of the IP header at `ip`.
pub(crate) fn pseudo_header(header: &[u8], version: u8, ip: usize, protocol: u8, len: u32) -> u64 {
    let bytes = |at: usize| header.get(at..).unwrap_or_default();
    if version == 4 {
        let source = *bytes(ip + 12).first_chunk().unwrap_or(&[0; 4]);
        let destination = *bytes(ip + 16).first_chunk().unwrap_or(&[0; 4]);
        return pseudo_header_v4(source, destination, protocol, len);
    }
    let source = *bytes(ip + 8).first_chunk().unwrap_or(&[0; 16]);
    let destination = *bytes(ip + 24).first_chunk().unwrap_or(&[0; 16]);
    pseudo_header_v6(source, destination, protocol, len)
}

/// The sum of a segment's payload, derived from its checksum: pseudo-header, header and payload of a sound segment sum
/// up to zero (RFC 1071). The payload of a datagram without checksum is summed directly.
///
/// `payload_len` is the packet's own: what follows it in the frame is padding.
pub(crate) fn payload_sum(held: &Held, frame: &[u8], payload_len: u32) -> u16 {
    let (at, end) = (usize::from(held.layer4), usize::from(held.header_len));
    let head = frame.get(at..end).unwrap_or_default();
    if !held.is_tcp && head.get(6..8) == Some(&[0; 2]) {
        let payload = frame.get(end..end + payload_len as usize);
        return fold(payload.map_or(0, sum));
    }
    let protocol = if held.is_tcp { 6 } else { 17 };
    let len = head.len() as u32 + payload_len;
    let pseudo = pseudo_header(frame, held.version, held.ip.into(), protocol, len);
    !fold(pseudo + sum(head))
}
