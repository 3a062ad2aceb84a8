//! A captured frame in the form for the engine.
//!
//! The engine needs whole frames with checksums that it can verify. So what the capture lacks is made up where it does
//! not matter: bytes behind the snap length, which no rule of merging looks at, become zeros and one word with which
//! the stored checksum is right; a checksum that was left to the network card is completed as the card does it. Headers
//! are never made up.

use coalescope_capture::file::RawFrame;
use coalescope_wire::checksum::ChecksumState;
use coalescope_wire::{Flags, Packet, Transport, walk};

use crate::checksum::{Segment, complete_ipv4, lacks_ipv4_checksum};

/// The longest frame that is passed to the engine. Longer ones are merged already.
const MOST: usize = 256 << 10;

/// A captured frame and its headers.
pub(crate) struct Captured<'a> {
    pub(crate) raw: RawFrame<'a>,
    /// None where the headers are damaged, unknown, or not all captured.
    pub(crate) packet: Option<Packet>,
    /// Its TCP segment or UDP datagram.
    segment: Option<Segment>,
    /// State of its checksum.
    pub(crate) checksum: ChecksumState,
}

impl<'a> Captured<'a> {
    /// Parses a frame.
    pub(crate) fn new(raw: RawFrame<'a>) -> Self {
        let packet = walk(raw.link, raw.data, wire_len(&raw)).ok();
        let segment = packet.as_ref().and_then(Segment::of);
        // TCP options may be cut where the walk does not look.
        let segment = segment.filter(|segment| segment.header_end <= raw.data.len());
        let checksum = match (&packet, &segment) {
            (Some(packet), Some(segment)) => segment.state(raw.data, packet),
            _ => ChecksumState::NotCaptured,
        };
        Self {
            raw,
            packet,
            segment,
            checksum,
        }
    }

    /// Its length on the wire.
    pub(crate) fn wire_len(&self) -> u32 {
        wire_len(&self.raw)
    }

    /// Whether some of its bytes were not captured.
    pub(crate) fn is_cut(&self) -> bool {
        self.raw.data.len() < self.wire_len() as usize
    }

    /// Whether it is a whole TCP segment or UDP datagram.
    pub(crate) fn is_segment(&self) -> bool {
        self.packet.as_ref().is_some_and(|packet| {
            let is_known = matches!(packet.transport, Transport::Tcp(_) | Transport::Udp(_));
            is_known && packet.ip.fragment.is_none()
        })
    }

    /// Whether it is a whole TCP segment or UDP datagram with payload.
    pub(crate) fn is_data(&self) -> bool {
        self.is_segment() && self.payload_len() > 0
    }

    /// Length of its headers in bytes; 0 if it is no such segment or datagram.
    pub(crate) fn header_len(&self) -> usize {
        self.segment
            .as_ref()
            .map_or(0, |segment| segment.header_end)
    }

    /// Payload bytes on the wire.
    fn payload_len(&self) -> u32 {
        match self.packet.map(|packet| packet.transport) {
            Some(Transport::Tcp(tcp)) => tcp.payload_len,
            Some(Transport::Udp(udp)) => udp.payload_len,
            _ => 0,
        }
    }

    /// Whether it has more payload than a segment can have: by `mss` from SYNs, or else by `mtu`.
    pub(crate) fn is_merged(&self, mss: Option<u16>, mtu: u32) -> bool {
        let Some(packet) = &self.packet else {
            return false;
        };
        let ip = packet.ip;
        match (packet.transport, mss) {
            // An MSS counts the options (RFC 6691).
            (Transport::Tcp(_), Some(mss)) => ip.payload_len > u32::from(mss) + 20,
            _ => (ip.payload_offset - ip.offset) as u32 + ip.payload_len > mtu,
        }
    }

    /// The bytes for the engine; `buffer` is used if they differ from the captured ones.
    ///
    /// A frame that `must_pass` is given a flag or a length with which every profile lets it pass, behind the held
    /// frames of its flow.
    pub(crate) fn for_engine<'b>(&self, buffer: &'b mut Vec<u8>, must_pass: bool) -> &'b [u8]
    where
        'a: 'b,
    {
        let (Some(packet), Some(segment)) = (&self.packet, &self.segment) else {
            return self.raw.data;
        };
        if self.is_sound(packet) && !must_pass {
            return self.raw.data;
        }
        self.fill(buffer);
        if lacks_ipv4_checksum(buffer, &packet.ip) {
            complete_ipv4(buffer, &packet.ip);
        }
        if must_pass {
            forbid(buffer, packet);
        }
        self.settle(buffer, segment, must_pass);
        buffer
    }

    /// Whether nothing has to be made up.
    fn is_sound(&self, packet: &Packet) -> bool {
        let is_offloaded = self.checksum == ChecksumState::PseudoHeaderOnly;
        !self.is_cut() && !is_offloaded && !lacks_ipv4_checksum(self.raw.data, &packet.ip)
    }

    /// Copies all bytes; those not captured are zeros.
    fn fill(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.extend_from_slice(self.raw.data);
        let len = (self.wire_len() as usize).min(MOST);
        buffer.resize(len.max(buffer.len()), 0);
    }

    /// Makes the checksum right, unless it is known to be wrong.
    fn settle(&self, buffer: &mut [u8], segment: &Segment, is_changed: bool) {
        let captured = self.raw.data.len();
        if is_changed || self.checksum == ChecksumState::PseudoHeaderOnly && !self.is_cut() {
            segment.complete(buffer);
        } else if captured < segment.bytes.end {
            segment.make_right(buffer, captured);
        }
    }
}

fn wire_len(raw: &RawFrame<'_>) -> u32 {
    raw.original_len.max(raw.data.len() as u32)
}

/// Disguises a frame so that it passes. A TCP segment gets SYN: no engine holds or joins it, and held frames of the
/// flow go up first. A UDP datagram gets a byte more than its IP length, like padding, with the same effect where UDP
/// is merged.
fn forbid(buffer: &mut Vec<u8>, packet: &Packet) {
    match packet.transport {
        Transport::Tcp(tcp) => {
            if let Some(flags) = buffer.get_mut(tcp.offset + 13) {
                *flags |= Flags::SYN as u8;
            }
        }
        _ => buffer.push(0),
    }
}
