//! The header and the frame behind it.

use coalescope_wire::checksum::{fold, sum};
use coalescope_wire::{
    Flags, Header, HeaderKind, Headers, LinkType, Packet, Transport, walk_headers,
};

use super::{VirtioError, VirtioNetHeader, VirtioTunnel};
use crate::gso::{Gso, GsoKind, IdRun};

/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: u16 = 16;

/// Offset of the checksum in a UDP header.
const UDP_CHECKSUM: u16 = 6;

/// The type without bits.
fn type_of(kind: GsoKind) -> u8 {
    match kind {
        GsoKind::TcpV4 => VirtioNetHeader::GSO_TCPV4,
        GsoKind::TcpV6 => VirtioNetHeader::GSO_TCPV6,
        GsoKind::Udp => VirtioNetHeader::GSO_UDP_L4,
    }
}

/// The frame that the header must agree with.
struct Seen<'f> {
    frame: &'f [u8],
    packet: Packet,
    headers: Headers,
    kind: GsoKind,
    /// Where the transport header starts, and where its payload.
    transport: usize,
    payload: usize,
    payload_len: usize,
}

impl<'f> Seen<'f> {
    /// `None` where the innermost packet is neither TCP nor UDP.
    fn new(link: LinkType, frame: &'f [u8]) -> Result<Option<Self>, VirtioError> {
        let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let (packet, headers) =
            walk_headers(link, frame, wire_len).map_err(VirtioError::Headers)?;
        let (kind, transport, header_len, payload_len) = match packet.transport {
            Transport::Tcp(tcp) if packet.ip.version == 4 => {
                (GsoKind::TcpV4, tcp.offset, tcp.header_len, tcp.payload_len)
            }
            Transport::Tcp(tcp) => (GsoKind::TcpV6, tcp.offset, tcp.header_len, tcp.payload_len),
            Transport::Udp(udp) => (GsoKind::Udp, udp.offset, 8, udp.payload_len),
            _ => return Ok(None),
        };
        Ok(Some(Self {
            frame,
            packet,
            headers,
            kind,
            transport,
            payload: transport + usize::from(header_len),
            payload_len: payload_len as usize,
        }))
    }

    /// Parses a frame that must be of one kind.
    fn of_kind(link: LinkType, frame: &'f [u8], kind: GsoKind) -> Result<Self, VirtioError> {
        let mismatch = |offset| VirtioError::Mismatch {
            gso_type: type_of(kind),
            offset,
        };
        let seen = Self::new(link, frame)?.ok_or(mismatch(0))?;
        if seen.kind != kind {
            return Err(mismatch(seen.packet.ip.offset));
        }
        Ok(seen)
    }

    /// The header that asks for the checksum to be completed.
    fn partial(&self) -> Result<VirtioNetHeader, VirtioError> {
        let len = self.payload;
        let field = |at: usize| u16::try_from(at).map_err(|_| VirtioError::HeadersTooLong { len });
        Ok(VirtioNetHeader {
            flags: VirtioNetHeader::NEEDS_CSUM,
            hdr_len: field(self.payload)?,
            csum_start: field(self.transport)?,
            csum_offset: self.csum_offset(),
            ..VirtioNetHeader::default()
        })
    }

    fn csum_offset(&self) -> u16 {
        match self.kind {
            GsoKind::Udp => UDP_CHECKSUM,
            GsoKind::TcpV4 | GsoKind::TcpV6 => TCP_CHECKSUM,
        }
    }

    fn base_type(&self) -> u8 {
        type_of(self.kind)
    }

    fn has_cwr(&self) -> bool {
        matches!(self.packet.transport, Transport::Tcp(tcp) if tcp.flags.has(Flags::CWR))
    }

    /// Whether it is UDP with a checksum field of 0.
    fn lacks_checksum(&self) -> bool {
        self.kind == GsoKind::Udp && self.is_zero(self.transport + usize::from(UDP_CHECKSUM))
    }

    fn is_zero(&self, at: usize) -> bool {
        self.frame.get(at..at + 2) == Some(&[0, 0])
    }

    /// The headers of kinds that tunnels are made of: IP, GRE, MPLS, and UDP that is not the last.
    fn levels(&self) -> impl Iterator<Item = &Header> {
        let levels = |header: &&Header| {
            use HeaderKind as Kind;
            match header.kind {
                Kind::Ipv4 | Kind::Ipv6 | Kind::Gre | Kind::Mpls => true,
                Kind::Udp => usize::from(header.offset) != self.transport,
                Kind::Ethernet | Kind::Vlan | Kind::Pppoe | Kind::Ppp | Kind::Tcp => false,
            }
        };
        self.headers.as_slice().iter().filter(levels)
    }

    /// The tunnel: outer IP, UDP, inner IP and nothing else. `None` without tunnel.
    fn tunnel(&self) -> Result<Option<Tunnel>, VirtioError> {
        let mut levels = self.levels();
        let [first, second, third, fourth] = core::array::from_fn(|_| levels.next());
        match (first, second, third, fourth) {
            (_, None, ..) => Ok(None),
            (Some(outer), Some(udp), Some(inner), None) if udp.kind == HeaderKind::Udp => {
                Ok(Some(self.udp_tunnel(outer, udp, inner)))
            }
            _ => Err(VirtioError::NoTypeForTunnel),
        }
    }

    fn udp_tunnel(&self, outer: &Header, udp: &Header, inner: &Header) -> Tunnel {
        let has_checksum = !self.is_zero(usize::from(udp.offset) + usize::from(UDP_CHECKSUM));
        Tunnel {
            bit: match outer.kind {
                HeaderKind::Ipv4 => VirtioNetHeader::GSO_UDP_TUNNEL_IPV4,
                _ => VirtioNetHeader::GSO_UDP_TUNNEL_IPV6,
            },
            flag: if has_checksum {
                VirtioNetHeader::UDP_TUNNEL_CSUM
            } else {
                0
            },
            offsets: VirtioTunnel {
                outer_transport: udp.offset,
                inner_network: inner.offset,
            },
        }
    }
}

/// A UDP tunnel, in terms of the virtio-net header.
struct Tunnel {
    bit: u8,
    flag: u8,
    offsets: VirtioTunnel,
}

impl VirtioNetHeader {
    /// The header for a merged frame, whose transport checksum field must hold the pseudo-header's sum. A frame with no
    /// more payload than one segment is not merged; its checksum is to be completed all the same, except for UDP
    /// without checksum.
    ///
    /// `num_buffers` is 0, as in a header from a driver; a device sets the number of buffers that it fills.
    ///
    /// # Errors
    ///
    /// If the frame contradicts `gso`, or virtio cannot express it: [`VirtioError::NoTypeForTunnel`],
    /// [`VirtioError::AccurateEcn`], [`VirtioError::NoChecksum`]. Split the frame then.
    pub fn for_merged(link: LinkType, frame: &[u8], gso: &Gso) -> Result<Self, VirtioError> {
        let seen = Seen::of_kind(link, frame, gso.kind)?;
        if gso.segment_size == 0 {
            return Err(VirtioError::NoSegmentSize);
        }
        let single = seen.payload_len <= usize::from(gso.segment_size);
        match (single, seen.lacks_checksum()) {
            (true, true) => Ok(Self::default()),
            (true, false) => seen.partial(),
            (false, true) => Err(VirtioError::NoChecksum),
            (false, false) => seen.partial()?.merged(&seen, gso),
        }
    }

    fn merged(self, seen: &Seen<'_>, gso: &Gso) -> Result<Self, VirtioError> {
        let ecn = match (seen.has_cwr(), gso.accurate_ecn) {
            (true, true) => return Err(VirtioError::AccurateEcn),
            (true, false) => Self::GSO_ECN,
            (false, _) => 0,
        };
        let tunnel = seen.tunnel()?;
        let (bit, flag) = tunnel.map_or((0, 0), |tunnel| (tunnel.bit, tunnel.flag));
        Ok(Self {
            flags: self.flags | flag,
            gso_type: seen.base_type() | ecn | bit,
            gso_size: gso.segment_size,
            ..self
        })
    }

    /// How the frame behind this header is to be split, after all checks that a driver must make of a header from
    /// another machine; `None` if it is not a merged frame, or has no more payload than one segment.
    ///
    /// The header cannot express how identifications run: they are taken as [`IdRun::Increasing`], as in Linux.
    /// `hdr_len` is not used.
    ///
    /// # Errors
    ///
    /// Any contradiction in the header or between header and frame. Such a frame is to be dropped. Other obstacles to
    /// splitting (fragments, missing bytes) are errors of [`Splitter::new`](crate::split::Splitter::new).
    pub fn gso(&self, link: LinkType, frame: &[u8]) -> Result<Option<Gso>, VirtioError> {
        self.check_fields(frame.len())?;
        if self.gso_type == Self::GSO_NONE {
            return Ok(None);
        }
        let Some(seen) = Seen::new(link, frame)? else {
            return Err(self.mismatch(0));
        };
        self.check_frame(&seen)?;
        let size = usize::from(self.gso_size);
        if seen.payload_len <= size {
            return Ok(None);
        }
        Ok(Some(self.gso_of(&seen)))
    }

    /// Where the headers of the frame's UDP tunnel are; `None` if it has no such tunnel.
    ///
    /// # Errors
    ///
    /// Where the headers cannot be read.
    pub fn tunnel(link: LinkType, frame: &[u8]) -> Result<Option<VirtioTunnel>, VirtioError> {
        let seen = Seen::new(link, frame)?;
        let tunnel = seen.and_then(|seen| seen.tunnel().ok().flatten());
        Ok(tunnel.map(|tunnel| tunnel.offsets))
    }

    fn gso_of(&self, seen: &Seen<'_>) -> Gso {
        let counted = seen.payload_len.div_ceil(usize::from(self.gso_size));
        let counted = u16::try_from(counted).unwrap_or(u16::MAX);
        let stated = self
            .rsc()
            .map(|rsc| rsc.segments)
            .filter(|&segments| segments > 0);
        Gso {
            kind: seen.kind,
            segment_size: self.gso_size,
            segments: stated.unwrap_or(counted),
            outer_id: IdRun::Increasing,
            id: IdRun::Increasing,
            accurate_ecn: false,
        }
    }

    /// Checks the fields that can be checked without the frame.
    fn check_fields(&self, frame_len: usize) -> Result<(), VirtioError> {
        let partial = self.has(Self::NEEDS_CSUM) && !self.has(Self::RSC_INFO);
        if partial {
            self.checksum_at(frame_len)?;
        }
        match self.base_type() {
            Self::GSO_NONE if self.gso_type == Self::GSO_NONE => Ok(()),
            Self::GSO_UDP => Err(VirtioError::UdpFragments),
            Self::GSO_TCPV4 | Self::GSO_TCPV6 | Self::GSO_UDP_L4 => self.check_merged(partial),
            // Bits without a type among them.
            _ => Err(VirtioError::UnknownType {
                gso_type: self.gso_type,
            }),
        }
    }

    fn check_merged(&self, partial: bool) -> Result<(), VirtioError> {
        if self.gso_size == 0 {
            return Err(VirtioError::NoSegmentSize);
        }
        // A coalescing device completes the checksum, and needs the fields for its counts.
        if !partial && !self.has(Self::RSC_INFO) {
            return Err(VirtioError::NoChecksumPlace);
        }
        Ok(())
    }

    /// Checks the fields that must agree with the frame.
    fn check_frame(&self, seen: &Seen<'_>) -> Result<(), VirtioError> {
        let is_udp = seen.kind == GsoKind::Udp;
        if self.base_type() != seen.base_type() || is_udp && self.gso_type & Self::GSO_ECN != 0 {
            return Err(self.mismatch(seen.packet.ip.offset));
        }
        let (start, transport) = (self.csum_start, seen.transport);
        let right = usize::from(start) == transport && self.csum_offset == seen.csum_offset();
        if !right && !self.has(Self::RSC_INFO) {
            return Err(VirtioError::ChecksumPlace { start, transport });
        }
        let bit = seen.tunnel()?.map_or(0, |tunnel| tunnel.bit);
        if self.gso_type & Self::GSO_UDP_TUNNEL != bit {
            return Err(VirtioError::Tunnel {
                gso_type: self.gso_type,
            });
        }
        Ok(())
    }

    fn mismatch(&self, offset: usize) -> VirtioError {
        VirtioError::Mismatch {
            gso_type: self.gso_type,
            offset,
        }
    }

    /// Where the checksum field is, inside a frame of this length.
    fn checksum_at(&self, len: usize) -> Result<usize, VirtioError> {
        let at = usize::from(self.csum_start) + usize::from(self.csum_offset);
        if at + 2 > len {
            return Err(VirtioError::ChecksumOutside { at, len });
        }
        Ok(at)
    }

    /// Completes the checksum of a frame that is not merged, if [`Self::NEEDS_CSUM`] is set; returns whether it did.
    /// Clear the flag then.
    ///
    /// All bytes from `csum_start` to the end of the frame are summed, so leave Ethernet padding out. A checksum of 0
    /// is written as 0xffff, which is the same number, since in UDP 0 means that there is none.
    ///
    /// # Errors
    ///
    /// [`VirtioError::Merged`], [`VirtioError::ChecksumOutside`], and
    /// [`VirtioError::ChecksumPlaceUnknown`]; the frame is unchanged.
    pub fn complete_checksum(&self, frame: &mut [u8]) -> Result<bool, VirtioError> {
        if !self.has(Self::NEEDS_CSUM) {
            return Ok(false);
        }
        if self.gso_type != Self::GSO_NONE {
            return Err(VirtioError::Merged);
        }
        if self.has(Self::RSC_INFO) {
            return Err(VirtioError::ChecksumPlaceUnknown);
        }
        let at = self.checksum_at(frame.len())?;
        let summed = frame.get(usize::from(self.csum_start)..);
        let checksum = !fold(summed.map_or(0, sum));
        let checksum = if checksum == 0 { 0xffff } else { checksum };
        if let Some(field) = frame.get_mut(at..at + 2) {
            field.copy_from_slice(&checksum.to_be_bytes());
        }
        Ok(true)
    }
}
