//! A frame on its way through a path.

use super::DropReason;
use coalescope_wire::{LinkType, UdpTunnels};
use gro::{Gso, SegmentChecksum, SplitSettings, Splitter, VirtioForm, VirtioNetHeader};

/// The virtio-net header of a TAP: 10 bytes, in this machine's byte order.
const FORM: VirtioForm = VirtioForm::LEGACY;
/// Length of an Ethernet header without tags.
pub(super) const ETHERNET: usize = 14;
/// Preamble, frame check sequence and gap (IEEE 802.3).
const OVERHEAD: usize = 8 + 4 + 12;
/// Shortest frame without its check sequence.
const SHORTEST: usize = 60;

/// An Ethernet frame behind its virtio-net header, as a TAP reads and writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    buffer: Vec<u8>,
    /// Number of segments that an element merged into it; 1 for a single frame.
    merged: u16,
}

impl Frame {
    /// A frame with its virtio-net header.
    #[must_use]
    pub fn new(header: &VirtioNetHeader, bytes: &[u8]) -> Self {
        let mut buffer = Vec::with_capacity(FORM.len() + bytes.len());
        header.encode(FORM, &mut buffer);
        buffer.extend_from_slice(bytes);
        Self { buffer, merged: 1 }
    }

    /// A frame as read from a TAP; `None` if it is too short.
    #[must_use]
    pub(crate) fn from_tap(read: &[u8]) -> Option<Self> {
        (read.len() >= FORM.len() + ETHERNET).then(|| Self {
            buffer: read.to_vec(),
            merged: 1,
        })
    }

    /// Sets the number of merged segments.
    #[must_use]
    pub(crate) fn merged_of(mut self, segments: u16) -> Self {
        self.merged = segments;
        self
    }

    /// Number of segments that an element of this wire merged into the frame; 1 for a single frame.
    /// Without the gso_size this number cannot be read from the frame.
    #[must_use]
    pub fn merged(&self) -> u16 {
        self.merged
    }

    /// The bytes to write to a TAP.
    #[must_use]
    pub(crate) fn as_tap(&self) -> &[u8] {
        &self.buffer
    }

    /// The frame from its Ethernet header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(FORM.len()..).unwrap_or_default()
    }

    /// The frame from its Ethernet header on, to be changed.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(FORM.len()..).unwrap_or_default()
    }

    /// Its virtio-net header.
    #[must_use]
    pub fn header(&self) -> VirtioNetHeader {
        VirtioNetHeader::decode(&self.buffer, FORM).unwrap_or_default()
    }

    /// Replaces the header.
    pub(crate) fn set_header(&mut self, header: &VirtioNetHeader) {
        let bytes = header.to_bytes(FORM.endian);
        if let (Some(place), Some(bytes)) =
            (self.buffer.get_mut(..FORM.len()), bytes.get(..FORM.len()))
        {
            place.copy_from_slice(bytes);
        }
    }

    /// Whether the frame holds several segments and has their gso_size, so that it can be segmented.
    #[must_use]
    pub(crate) fn has_segment_size(&self) -> bool {
        self.header().base_type() != VirtioNetHeader::GSO_NONE
    }

    /// Length of the packet behind the Ethernet header and its tags, in bytes: what an MTU limits.
    #[must_use]
    pub(crate) fn packet_len(&self) -> usize {
        self.bytes().len().saturating_sub(link_len(self.bytes()))
    }

    /// Length of the longest packet on the wire: for a frame with a gso_size, that of a segment.
    #[must_use]
    pub(crate) fn longest_packet(&self) -> usize {
        let header = self.header();
        let headers = self.headers(&header).filter(|_| self.has_segment_size());
        let segment = headers.map(|headers| headers + usize::from(header.gso_size));
        segment.map_or(self.packet_len(), |segment| segment.min(self.packet_len()))
    }

    /// Length of a merged frame's headers from the IP header on. `hdr_len` is not used: the kernel
    /// writes the length of its buffer's linear part there.
    fn headers(&self, header: &VirtioNetHeader) -> Option<usize> {
        let transport = usize::from(header.csum_start);
        let length = match header.base_type() {
            VirtioNetHeader::GSO_UDP_L4 => 8,
            _ => usize::from(self.bytes().get(transport + 12)? >> 4) * 4,
        };
        (transport + length).checked_sub(link_len(self.bytes()))
    }

    /// Bytes of a single frame on an Ethernet wire, with preamble, padding, frame check sequence and gap.
    #[must_use]
    pub fn wire_bytes(&self) -> usize {
        self.bytes().len().max(SHORTEST) + OVERHEAD
    }
}

/// Length of the Ethernet header with its VLAN tags (802.1Q, 802.1ad).
pub(super) fn link_len(frame: &[u8]) -> usize {
    let mut at = ETHERNET;
    while matches!(frame.get(at - 2..at), Some([0x81, 0x00] | [0x88, 0xa8])) {
        at += 4;
    }
    at
}

/// Segments a frame as a wire needs it. With a gso_size: its segments with complete checksums.
/// Otherwise the frame itself, with its checksum completed if that was left to the card.
///
/// # Errors
///
/// [`DropReason::Malformed`] where the header contradicts the frame, which a kernel never writes.
pub fn cut(frame: Frame, out: &mut impl FnMut(Frame)) -> Result<(), DropReason> {
    let gso = frame.header().gso(LinkType::Ethernet, frame.bytes());
    if let Some(gso) = gso.map_err(|_| DropReason::Malformed)? {
        return segments(frame.bytes(), gso, out);
    }
    out(whole(frame)?);
    Ok(())
}

/// The frame without a virtio-net header: its gso_size is lost, and its checksum is completed if
/// that was left to the card.
pub(super) fn whole(mut frame: Frame) -> Result<Frame, DropReason> {
    let header = frame.header();
    let single = VirtioNetHeader {
        gso_type: VirtioNetHeader::GSO_NONE,
        ..header
    };
    let completed = single.complete_checksum(frame.bytes_mut());
    if completed.map_err(|_| DropReason::Malformed)? || frame.has_segment_size() {
        frame.set_header(&VirtioNetHeader::verified());
    }
    Ok(frame)
}

/// The segments of a merged frame, with complete checksums.
pub(super) fn segments(
    bytes: &[u8],
    gso: Gso,
    out: &mut impl FnMut(Frame),
) -> Result<(), DropReason> {
    let settings = SplitSettings {
        link: LinkType::Ethernet,
        tunnels: UdpTunnels::ALL,
        checksum: SegmentChecksum::Complete,
        chunk: None,
    };
    let mut splitter = Splitter::new(bytes, gso, settings).map_err(|_| DropReason::Malformed)?;
    while let Some(segment) = splitter.next_segment() {
        let mut buffer = Vec::with_capacity(FORM.len() + segment.frame_len());
        VirtioNetHeader::verified().encode(FORM, &mut buffer);
        segment.copy_to(&mut buffer);
        out(Frame { buffer, merged: 1 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{Ipv4, Segment};

    /// A frame as a kernel hands it to a card that cuts: 3,000 bytes in segments of 1,000.
    fn tso() -> (Frame, Vec<u8>) {
        let mut segment = Segment::v4(Ipv4::default());
        segment.payload = vec![7; 3000];
        let complete = segment.frame();
        let gso = Gso {
            kind: gro::GsoKind::TcpV4,
            segment_size: 1000,
            segments: 3,
            outer_id: gro::IdRun::Increasing,
            id: gro::IdRun::Increasing,
            accurate_ecn: false,
        };
        let header = VirtioNetHeader::for_merged(LinkType::Ethernet, &complete, &gso);
        (Frame::new(&header.expect("a header"), &complete), complete)
    }

    #[test]
    fn a_merged_frame_becomes_what_a_wire_carries() {
        let (frame, _) = tso();
        assert!(frame.has_segment_size());
        assert_eq!((frame.packet_len(), frame.longest_packet()), (3040, 1040));
        let mut hinted = frame.clone();
        let header = frame.header();
        hinted.set_header(&VirtioNetHeader {
            hdr_len: 2000,
            ..header
        });
        assert_eq!(hinted.longest_packet(), 1040);
        let mut cut_into = Vec::new();
        cut(frame, &mut |segment| cut_into.push(segment)).expect("it can be cut");
        assert_eq!(cut_into.len(), 3);
        for segment in &cut_into {
            assert_eq!(segment.packet_len(), 1040);
            assert_eq!(segment.header(), VirtioNetHeader::verified());
            let tcp = &segment.bytes()[34..];
            let pseudo = coalescope_wire::checksum::pseudo_header_v4(
                segment.bytes()[26..30].try_into().expect("four"),
                segment.bytes()[30..34].try_into().expect("four"),
                6,
                1020,
            );
            let total = pseudo + coalescope_wire::checksum::sum(tcp);
            assert_eq!(coalescope_wire::checksum::fold(total), 0xffff);
        }
    }

    #[test]
    fn a_header_that_lies_is_told() {
        let (mut frame, _) = tso();
        let mut header = frame.header();
        header.csum_start = 60_000;
        frame.set_header(&header);
        assert_eq!(cut(frame, &mut |_| ()), Err(DropReason::Malformed));
        assert_eq!(Frame::from_tap(&[0; 23]), None);
    }

    #[test]
    fn tags_are_not_part_of_the_packet() {
        let mut segment = Segment::v4(Ipv4::default());
        segment.tags = vec![(0x88a8, 7), (0x8100, 5)];
        let frame = Frame::new(&VirtioNetHeader::default(), &segment.frame());
        assert_eq!(frame.packet_len(), 40);
        assert_eq!(frame.wire_bytes(), 62 + 24);
    }
}
