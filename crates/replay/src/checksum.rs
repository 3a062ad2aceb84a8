//! The transport checksum of a captured frame, and substitutes for bytes that were not captured.

use std::ops::Range;

use coalescope_wire::checksum::{
    ChecksumState, fold, pseudo_header_v4, pseudo_header_v6, sum, tcp_checksum_state,
};
use coalescope_wire::{Ip, Packet, Transport};

/// Where a TCP segment or UDP datagram lies in its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The whole segment, header included, by the IP length.
    pub(crate) bytes: Range<usize>,
    /// Where its header ends.
    pub(crate) header_end: usize,
    /// Where its checksum is.
    field: usize,
    is_udp: bool,
    /// The pseudo-header's sum.
    pseudo: u64,
}

impl Segment {
    /// The segment of a walked frame; none of a fragment, or of another protocol.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        let ip = &packet.ip;
        let (at, header_len, field, protocol) = match packet.transport {
            Transport::Tcp(tcp) => (tcp.offset, usize::from(tcp.header_len), 16, 6),
            Transport::Udp(udp) => (udp.offset, 8, 6, 17),
            _ => return None,
        };
        let end = at.checked_add(ip.payload_len as usize)?;
        ip.fragment.is_none().then(|| Self {
            bytes: at..end,
            header_end: at + header_len,
            field: at + field,
            is_udp: protocol == 17,
            pseudo: pseudo(ip, protocol),
        })
    }

    /// State of the segment's checksum.
    pub(crate) fn state(&self, frame: &[u8], packet: &Packet) -> ChecksumState {
        if !self.is_udp {
            return tcp_checksum_state(frame, packet);
        }
        let stored = stored(frame, self.field);
        let whole = frame.get(self.bytes.clone());
        match whole {
            // The datagram has no checksum (RFC 768).
            _ if stored == Some(0) => ChecksumState::Valid,
            Some(bytes) if fold(self.pseudo + sum(bytes)) == 0xffff => ChecksumState::Valid,
            _ if stored == Some(fold(self.pseudo)) => ChecksumState::PseudoHeaderOnly,
            Some(_) => ChecksumState::Wrong,
            None => ChecksumState::NotCaptured,
        }
    }

    /// Writes the right checksum.
    pub(crate) fn complete(&self, frame: &mut [u8]) {
        put(frame, self.field, 0);
        let bytes = frame.get(self.bytes.clone()).unwrap_or_default();
        let checksum = !fold(self.pseudo + sum(bytes));
        let none = self.is_udp && checksum == 0;
        put(frame, self.field, if none { 0xffff } else { checksum });
    }

    /// Sets the bytes from `captured` on, which are zeros, to the value with which the stored checksum is right. They
    /// stand for bytes that were not captured.
    ///
    /// A single missing byte sometimes has no such value: then the frame is damaged.
    pub(crate) fn make_right(&self, frame: &mut [u8], captured: usize) {
        let bytes = frame.get(self.bytes.clone()).unwrap_or_default();
        let lacks = !fold(self.pseudo + sum(bytes));
        for (half, byte) in lacks.to_be_bytes().into_iter().enumerate() {
            if let Some(free) = self
                .last_free(captured, half)
                .and_then(|at| frame.get_mut(at))
            {
                *free = byte;
            }
        }
    }

    /// The last byte not captured that is the first (0) or second (1) half of a word. Words are counted from the
    /// segment's start.
    fn last_free(&self, captured: usize, half: usize) -> Option<usize> {
        let Range { start, end } = self.bytes;
        let mut free = captured.max(start)..end;
        free.rfind(|at| (at - start) % 2 == half)
    }
}

/// Whether an IPv4 header's checksum was left to the network card: it is 0 and should not be.
pub(crate) fn lacks_ipv4_checksum(frame: &[u8], ip: &Ip) -> bool {
    let header = (ip.version == 4).then(|| ipv4_header(frame, ip)).flatten();
    header.is_some_and(|header| header[10..12] == [0; 2] && fold(sum(header)) != 0xffff)
}

/// Writes the right checksum into an IPv4 header.
pub(crate) fn complete_ipv4(frame: &mut [u8], ip: &Ip) {
    if let Some(header) = ipv4_header(frame, ip) {
        let checksum = !fold(sum(header));
        put(frame, ip.offset + 10, checksum);
    }
}

fn ipv4_header<'a>(frame: &'a [u8], ip: &Ip) -> Option<&'a [u8]> {
    let header = frame.get(ip.offset..ip.payload_offset)?;
    (header.len() >= 20).then_some(header)
}

fn pseudo(ip: &Ip, protocol: u8) -> u64 {
    let (source, destination) = (ip.source.0, ip.destination.0);
    if ip.version == 4 {
        let four = |[a, b, c, d, ..]: [u8; 16]| [a, b, c, d];
        return pseudo_header_v4(four(source), four(destination), protocol, ip.payload_len);
    }
    pseudo_header_v6(source, destination, protocol, ip.payload_len)
}

fn stored(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*bytes))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(field) = frame.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalescope_wire::{LinkType, walk};

    /// An IPv4 packet with a TCP header or, without flags, a UDP header.
    fn packet(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let header = if protocol == 6 { 20 } else { 8 };
        let len = (20 + header + payload.len()) as u16;
        let mut frame = vec![0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, protocol, 0, 0];
        frame[2..4].copy_from_slice(&len.to_be_bytes());
        frame.extend([192, 0, 2, 1, 192, 0, 2, 2]);
        frame.extend([0x9c, 0x40, 0x13, 0x89]);
        if protocol == 6 {
            frame.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        } else {
            frame.extend(((8 + payload.len()) as u16).to_be_bytes());
            frame.extend([0, 0]);
        }
        frame.extend(payload);
        frame
    }

    fn walked(frame: &[u8], wire_len: usize) -> (Packet, Segment) {
        let packet = walk(LinkType::Raw, frame, wire_len as u32).unwrap();
        let segment = Segment::of(&packet).unwrap();
        (packet, segment)
    }

    fn state(frame: &[u8]) -> ChecksumState {
        let (packet, segment) = walked(frame, frame.len());
        segment.state(frame, &packet)
    }

    #[test]
    fn completed_checksums_are_right() {
        for (protocol, payload) in [(6, &b"hello"[..]), (17, b"odd"), (17, b"even")] {
            let mut frame = packet(protocol, payload);
            let (_, segment) = walked(&frame, frame.len());
            put(&mut frame, segment.field, fold(segment.pseudo));
            assert_eq!(state(&frame), ChecksumState::PseudoHeaderOnly);
            segment.complete(&mut frame);
            assert_eq!(state(&frame), ChecksumState::Valid);
            frame[30] ^= 1;
            assert_eq!(state(&frame), ChecksumState::Wrong);
        }
    }

    #[test]
    fn what_is_missing_makes_the_stored_checksum_right() {
        for protocol in [6, 17] {
            for len in 1..9 {
                let whole = {
                    let mut frame = packet(protocol, &b"payload!!"[..len]);
                    let (_, segment) = walked(&frame, frame.len());
                    segment.complete(&mut frame);
                    frame
                };
                for missing in 0..len {
                    let captured = whole.len() - missing;
                    let (_, segment) = walked(&whole[..captured], whole.len());
                    let mut frame = whole[..captured].to_vec();
                    frame.resize(whole.len(), 0);
                    segment.make_right(&mut frame, captured);
                    assert_eq!(frame[..captured], whole[..captured]);
                    assert_eq!(state(&frame), ChecksumState::Valid, "{len} {missing}");
                }
            }
        }
    }

    #[test]
    fn a_lone_missing_byte_cannot_hide_all_damage() {
        let mut frame = packet(6, b"odd");
        let (_, segment) = walked(&frame, frame.len());
        segment.complete(&mut frame);
        // The high half of a word: what the missing last byte is in is the next one.
        frame[21] ^= 1;
        let captured = frame.len() - 1;
        frame[captured] = 0;
        segment.make_right(&mut frame, captured);
        assert_eq!(state(&frame), ChecksumState::Wrong);
    }

    #[test]
    fn no_checksum_is_no_wrong_checksum() {
        assert_eq!(state(&packet(17, b"x")), ChecksumState::Valid);
    }

    #[test]
    fn ipv4_checksums_left_to_the_card() {
        let mut frame = packet(6, b"x");
        let (packet, _) = walked(&frame, frame.len());
        assert!(lacks_ipv4_checksum(&frame, &packet.ip));
        complete_ipv4(&mut frame, &packet.ip);
        assert!(!lacks_ipv4_checksum(&frame, &packet.ip));
        assert_eq!(fold(sum(&frame[..20])), 0xffff);
    }
}
