//! Where the fields are that differ from segment to segment, found once per frame.

use coalescope_wire::{
    Header, HeaderKind, Headers, LinkType, Packet, Stop, Transport as Found, UdpTunnels,
    walk_headers_entering,
};

use super::patch::{Ip, Layout, Lengths, Transport, Tunnel};
use super::{Buffer, SegmentChecksum, SplitError, SplitSettings};
use crate::gso::{Gso, GsoKind};

/// Protocol numbers of headers between IP and its payload (RFC 8200, RFC 4302).
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION: u8 = 60;
}

/// Length of the fixed IPv6 header.
const IPV6_HEADER: usize = 40;

/// Length of a hop-by-hop header with the jumbo payload option alone.
const JUMBO_HEADER: usize = 8;

/// Copies the headers of a frame and finds the fields to be rewritten in them. Also returns the payload.
pub(super) fn read<'a>(
    frame: &'a [u8],
    gso: Gso,
    settings: SplitSettings,
    header: &mut Buffer,
) -> Result<(Layout, &'a [u8]), SplitError> {
    let (packet, headers) = walk(frame, gso.kind, settings).map_err(SplitError::Headers)?;
    let (start, payload) = payload(frame, &packet, gso.kind)?;
    if headers.is_cut() {
        return Err(SplitError::HeadersTooLong { len: start });
    }
    let mut reader = Reader::new(frame, start, header);
    reader.link(settings.link, headers.as_slice())?;
    reader.headers(headers.as_slice())?;
    Ok((reader.finish(gso, settings)?, payload))
}

/// Walks to the header that is to be repeated in front of every segment. For tunnel datagrams that were merged without
/// entering the tunnel that is the outer UDP header: the first one's inner packet ends before the merged datagram does.
fn walk(frame: &[u8], kind: GsoKind, settings: SplitSettings) -> Result<(Packet, Headers), Stop> {
    let SplitSettings { link, tunnels, .. } = settings;
    let inside = walk_entering(link, frame, tunnels);
    if kind != GsoKind::Udp {
        return inside;
    }
    let outside = walk_entering(link, frame, UdpTunnels::NONE);
    let end = |(packet, _): &(Packet, Headers)| datagram_end(packet);
    match (inside.as_ref().map(end), outside.as_ref().map(end)) {
        (Ok(inner), Ok(outer)) if inner == outer => inside,
        (_, Ok(Some(_))) => outside,
        _ => inside,
    }
}

/// Where the datagram ends that a walk has found.
fn datagram_end(packet: &Packet) -> Option<usize> {
    match packet.transport {
        Found::Udp(udp) => Some(udp.offset + 8 + udp.payload_len as usize),
        _ => None,
    }
}

fn walk_entering(
    link: LinkType,
    frame: &[u8],
    tunnels: UdpTunnels,
) -> Result<(Packet, Headers), Stop> {
    let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let mut headers = Headers::default();
    walk_headers_entering(link, frame, wire_len, tunnels, &mut headers)
        .map(|packet| (packet, headers))
}

/// Where the payload starts, and its bytes.
fn payload<'a>(
    frame: &'a [u8],
    packet: &Packet,
    kind: GsoKind,
) -> Result<(usize, &'a [u8]), SplitError> {
    let offset = packet.ip.offset;
    if packet.ip.fragment.is_some() {
        return Err(SplitError::Fragment { offset });
    }
    let (start, len) = match (kind, packet.ip.version, packet.transport) {
        (GsoKind::TcpV4, 4, Found::Tcp(tcp)) | (GsoKind::TcpV6, 6, Found::Tcp(tcp)) => {
            (tcp.offset + usize::from(tcp.header_len), tcp.payload_len)
        }
        (GsoKind::Udp, _, Found::Udp(udp)) => (udp.offset + 8, udp.payload_len),
        (expected, ..) => return Err(SplitError::Kind { expected, offset }),
    };
    let end = start.saturating_add(len as usize);
    let missing = u32::try_from(end.saturating_sub(frame.len())).unwrap_or(u32::MAX);
    let payload = frame.get(start..end);
    payload
        .map(|payload| (start, payload))
        .ok_or(SplitError::Truncated { missing })
}

/// Goes through the headers, copies them, and notes the fields that differ from segment to segment.
struct Reader<'f, 'b> {
    frame: &'f [u8],
    /// Where the payload starts in the frame.
    end: usize,
    header: &'b mut Buffer,
    lengths: Lengths,
    ips: [Ip; 2],
    ip_count: usize,
    tunnel: Option<Tunnel>,
    transport: Option<Transport>,
}

impl<'f, 'b> Reader<'f, 'b> {
    fn new(frame: &'f [u8], end: usize, header: &'b mut Buffer) -> Self {
        Self {
            frame,
            end,
            header,
            lengths: Lengths::default(),
            ips: [Ip::default(); 2],
            ip_count: 0,
            tunnel: None,
            transport: None,
        }
    }

    /// Handles the bytes in front of the first header of the walk: cooked capture headers, or a PPPoE header where the
    /// link type implies one.
    fn link(&mut self, link: LinkType, headers: &[Header]) -> Result<(), SplitError> {
        if link == LinkType::PppEther {
            self.lengths.push(4, 6);
        }
        let first = headers
            .first()
            .map_or(self.end, |header| header.offset.into());
        self.copy(0, first)
    }

    fn headers(&mut self, headers: &[Header]) -> Result<(), SplitError> {
        for (index, header) in headers.iter().enumerate() {
            let next = headers.get(index + 1);
            let to = next.map_or(self.end, |next| next.offset.into());
            self.header(*header, to, next.is_none())?;
        }
        Ok(())
    }

    fn header(&mut self, header: Header, to: usize, is_last: bool) -> Result<(), SplitError> {
        let (from, at) = (usize::from(header.offset), self.header.len());
        match header.kind {
            HeaderKind::Ipv4 => return self.ipv4(from, to),
            HeaderKind::Ipv6 => return self.ipv6(from, to),
            HeaderKind::Pppoe => self.lengths.push(at + 4, at + 6),
            HeaderKind::Gre => self.gre(from, at)?,
            HeaderKind::Udp if !is_last => self.outer_udp(from, at),
            HeaderKind::Tcp | HeaderKind::Udp => {
                self.transport = Some(Transport::new(at, header.kind == HeaderKind::Tcp));
            }
            HeaderKind::Ethernet | HeaderKind::Vlan | HeaderKind::Ppp | HeaderKind::Mpls => {}
        }
        self.copy(from, to)
    }

    fn ipv4(&mut self, from: usize, to: usize) -> Result<(), SplitError> {
        let at = self.header.len();
        if self.byte(from + 9) == extension::AUTHENTICATION {
            return Err(SplitError::Authenticated { offset: from });
        }
        // All bits of the fragment field except Don't Fragment and the reserved bit.
        if self.word(from + 6) & 0x3fff != 0 {
            return Err(SplitError::Fragment { offset: from });
        }
        self.lengths.push(at + 2, at);
        self.ip(Ip::v4(at, to - from), from)?;
        self.copy(from, to)
    }

    fn ipv6(&mut self, from: usize, to: usize) -> Result<(), SplitError> {
        let at = self.header.len();
        self.extensions(from, to)?;
        self.lengths.push(at + 4, at + IPV6_HEADER);
        self.ip(Ip::v6(at), from)?;
        if !self.has_jumbo_header(from)? {
            return self.copy(from, to);
        }
        let options = from + IPV6_HEADER;
        self.copy(from, options)?;
        self.header.put(at + 6, &[self.byte(options)]);
        self.copy(options + JUMBO_HEADER, to)
    }

    fn ip(&mut self, ip: Ip, offset: usize) -> Result<(), SplitError> {
        let Some(slot) = self.ips.get_mut(self.ip_count) else {
            return Err(SplitError::NestedTunnel { offset });
        };
        *slot = ip;
        self.ip_count += 1;
        Ok(())
    }

    /// Refuses extension headers that cannot be repeated. The others are copied with the IP header.
    fn extensions(&self, from: usize, to: usize) -> Result<(), SplitError> {
        let (mut next, mut at) = (self.byte(from + 6), from + IPV6_HEADER);
        while at < to {
            match next {
                extension::FRAGMENT => return Err(SplitError::Fragment { offset: at }),
                extension::AUTHENTICATION => {
                    return Err(SplitError::Authenticated { offset: from });
                }
                extension::ROUTING if self.byte(at + 3) != 0 => {
                    return Err(SplitError::Routing { offset: at });
                }
                extension::HOP_BY_HOP | extension::ROUTING | extension::DESTINATION => {}
                _ => break,
            }
            next = self.byte(at);
            at += (usize::from(self.byte(at + 1)) + 1) * 8;
        }
        Ok(())
    }

    /// Whether the IPv6 header is that of BIG TCP: payload length 0, and a hop-by-hop header with only the jumbo
    /// payload option (`ipv6_has_hopopt_jumbo`).
    fn has_jumbo_header(&self, from: usize) -> Result<bool, SplitError> {
        let (is_long, next, options) = (
            self.word(from + 4) == 0,
            self.byte(from + 6),
            from + IPV6_HEADER,
        );
        if !is_long || next != extension::HOP_BY_HOP {
            return Ok(false);
        }
        match (self.byte(options + 1), self.word(options + 2)) {
            (0, 0xc204) => Ok(true),
            // Without the option the length has just not been set yet.
            _ if !self.has_jumbo_option(options) => Ok(false),
            _ => Err(SplitError::JumboOptions { offset: options }),
        }
    }

    /// Whether a hop-by-hop header holds the jumbo payload option anywhere.
    fn has_jumbo_option(&self, options: usize) -> bool {
        let end = options + (usize::from(self.byte(options + 1)) + 1) * 8;
        let mut at = options + 2;
        while at < end {
            match self.byte(at) {
                0xc2 => return true,
                // Pad1 is the one option without a length.
                0 => at += 1,
                _ => at += 2 + usize::from(self.byte(at + 1)),
            }
        }
        false
    }

    /// Allows GRE with a key and a checksum only, like `gre_gro_receive`.
    fn gre(&mut self, from: usize, at: usize) -> Result<(), SplitError> {
        const CHECKSUM: u16 = 0x8000;
        const KEY: u16 = 0x2000;
        let flags = self.word(from);
        if flags & !(CHECKSUM | KEY) != 0 {
            return Err(SplitError::Gre { offset: from });
        }
        if flags & CHECKSUM != 0 {
            self.tunnel = Some(Tunnel::gre(at));
        }
        Ok(())
    }

    /// The UDP header of a tunnel; a checksum of 0 stays 0.
    fn outer_udp(&mut self, from: usize, at: usize) {
        self.lengths.push(at + 4, at);
        if self.word(from + 6) != 0 {
            self.tunnel = Some(Tunnel::udp(at));
        }
    }

    fn finish(self, gso: Gso, settings: SplitSettings) -> Result<Layout, SplitError> {
        let mut layout = Layout {
            lengths: self.lengths,
            ips: self.ips,
            ip_count: self.ip_count,
            tunnel: self.tunnel,
            // The walk ended in TCP or UDP, so there is a transport header, and an IP header in front of it.
            transport: self
                .transport
                .ok_or(SplitError::HeadersTooLong { len: self.end })?,
            shape: None,
        };
        layout.remember(self.header, gso);
        let chunks = settings.chunk.is_some();
        layout.transport.complete = !chunks && settings.checksum == SegmentChecksum::Complete;
        if chunks && layout.tunnel.is_some() && layout.transport.unchecked {
            return Err(SplitError::ChunkChecksum);
        }
        Ok(layout)
    }

    fn byte(&self, at: usize) -> u8 {
        self.frame.get(at).copied().unwrap_or_default()
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.byte(at), self.byte(at + 1)])
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<(), SplitError> {
        let bytes = self.frame.get(from..to).unwrap_or_default();
        let len = self.end;
        let fits = self.header.append(bytes);
        if fits {
            Ok(())
        } else {
            Err(SplitError::HeadersTooLong { len })
        }
    }
}
