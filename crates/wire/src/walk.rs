//! The walk: one loop over layers, from the link type to the innermost transport header.

use crate::cursor::{Cursor, Layer, UdpTunnels, be16, be32};
use crate::framing::{self, ether_types};
use crate::headers::{HeaderKind, Headers};
use crate::link::LinkType;
use crate::packet::{Ip, Packet, Quoted, Sent, Stop, StopReason, Transport, Tunnels, Vlans};
use crate::tcp::Tcp;
use crate::transport::{self, Reached};
use crate::{ip, tunnel};

/// Walks a frame from its first byte to its innermost TCP, UDP or ICMP header.
///
/// `frame` has the captured bytes, `wire_len` is the frame's length before a snap length cut it. A `wire_len` below the
/// captured length counts as the captured length.
///
/// A header that is not fully captured ends the walk, with one exception: of a TCP header the
/// first 20 bytes are enough. Payload bytes need not be captured at all.
///
/// # Errors
///
/// A [`Stop`] where the frame carries no IP packet, or where a header is cut off, contradicts
/// itself, or nests too deeply.
pub fn walk(link: LinkType, frame: &[u8], wire_len: u32) -> Result<Packet, Stop> {
    if link == LinkType::Ethernet
        && let Some((ip, tcp)) = plain_tcp(frame, wire_len)
    {
        return Ok(Packet {
            vlans: Vlans::default(),
            tunnels: Tunnels::default(),
            sent: Sent::Unknown,
            ip,
            transport: Transport::Tcp(tcp),
        });
    }
    walk_layers(link, frame, wire_len, UdpTunnels::ALL, |_, _| {})
}

/// Walks a frame like [`walk`], and also returns where every header on the way starts.
///
/// # Errors
///
/// As [`walk`].
pub fn walk_headers(
    link: LinkType,
    frame: &[u8],
    wire_len: u32,
) -> Result<(Packet, Headers), Stop> {
    let mut headers = Headers::default();
    walk_headers_entering(link, frame, wire_len, UdpTunnels::ALL, &mut headers)
        .map(|packet| (packet, headers))
}

/// Walks a frame like [`walk_headers`], and enters only these tunnels in UDP. `headers`, empty at first, also has the
/// headers passed before a stop.
///
/// # Errors
///
/// As [`walk`].
pub fn walk_headers_entering(
    link: LinkType,
    frame: &[u8],
    wire_len: u32,
    tunnels: UdpTunnels,
    headers: &mut Headers,
) -> Result<Packet, Stop> {
    *headers = Headers::default();
    let note = |kind, at| headers.push(kind, at);
    walk_layers(link, frame, wire_len, tunnels, note)
}

/// The fast path for Ethernet, IP and TCP with nothing between them, as in most frames; `None` for any other frame,
/// errors included, which [`walk`] parses.
///
/// It takes half the general walk's time since all state stays in registers. It is inlined, so that for a caller who
/// uses few fields the headers' structs are never written to memory.
#[inline(always)]
#[must_use]
pub fn plain_tcp(frame: &[u8], wire_len: u32) -> Option<(Ip, Tcp)> {
    let mut cursor = Cursor::new(frame, wire_len);
    let header = cursor.take::<14>().ok()?;
    let ip = match be16(header, 12) {
        ether_types::IPV4 => ip::v4(&mut cursor).ok()?,
        ether_types::IPV6 => ip::v6(&mut cursor).ok()?,
        _ => return None,
    };
    if ip.protocol != transport::TCP || ip.fragment.is_some() {
        return None;
    }
    let tcp = transport::tcp(&cursor, ip.payload_len).ok()?;
    Some((ip, tcp))
}

/// Calls `note` with every header that [`HeaderKind`] names, outermost first.
fn walk_layers(
    link: LinkType,
    frame: &[u8],
    wire_len: u32,
    tunnels: UdpTunnels,
    mut note: impl FnMut(HeaderKind, usize),
) -> Result<Packet, Stop> {
    let mut cursor = Cursor::new(frame, wire_len);
    cursor.udp_tunnels = tunnels;
    let mut layer = framing::link(&mut cursor, link)?;
    loop {
        if let Some(kind) = HeaderKind::of_layer(layer) {
            note(kind, cursor.at);
        }
        layer = match layer {
            Layer::Ethernet => framing::ethernet(&mut cursor)?,
            Layer::EtherType(ether_type) => framing::ether_type(&mut cursor, ether_type)?,
            Layer::Ppp => framing::ppp(&mut cursor)?,
            Layer::Mpls => tunnel::mpls(&mut cursor)?,
            Layer::Ip => ip::version(&cursor)?,
            Layer::Ipv4 | Layer::Ipv6 => {
                let ip = ip_header(&mut cursor, layer)?;
                if let Some(kind) = HeaderKind::in_ip(&ip) {
                    note(kind, ip.payload_offset);
                }
                match transport::enter(&mut cursor, &ip)? {
                    Reached::Tunnel(inner) => inner,
                    Reached::Transport(transport) => return Ok(packet(&cursor, ip, transport)),
                }
            }
        }
    }
}

/// Reads an IP header and its extension headers.
fn ip_header(cursor: &mut Cursor<'_>, layer: Layer) -> Result<Ip, Stop> {
    let ip = match layer {
        Layer::Ipv4 => ip::v4(cursor)?,
        _ => ip::v6(cursor)?,
    };
    ip::extensions(cursor, ip)
}

#[inline(always)]
fn packet(cursor: &Cursor<'_>, ip: Ip, transport: Transport) -> Packet {
    Packet {
        vlans: cursor.vlans,
        tunnels: cursor.tunnels,
        sent: cursor.sent,
        ip,
        transport,
    }
}

/// Reads the packet that an ICMP error quotes; see [`crate::IcmpError::quoted_offset`].
///
/// Only the IP header and eight bytes after it are sure to be quoted (RFC 792), so no more than
/// ports and the TCP sequence number are read, and a tunnel is not entered.
///
/// # Errors
///
/// A [`Stop`] where the quote is not an IP packet or ends before those eight bytes.
pub fn walk_quoted(bytes: &[u8]) -> Result<Quoted, Stop> {
    let mut cursor = Cursor::new(bytes, 0);
    let layer = ip::version(&cursor)?;
    let ip = ip_header(&mut cursor, layer)?;
    let (source_port, destination_port, seq) = quoted_transport(&cursor, &ip)?;
    Ok(Quoted {
        ip,
        protocol: ip.protocol,
        source_port,
        destination_port,
        seq,
    })
}

fn quoted_transport(cursor: &Cursor<'_>, ip: &Ip) -> Result<(u16, u16, u32), Stop> {
    if !transport::has_ports(ip.protocol) || ip.is_later_fragment() {
        return Ok((0, 0, 0));
    }
    if ip.payload_len < 8 {
        return Err(cursor.stop(StopReason::Malformed));
    }
    let bytes = cursor.peek::<8>()?;
    let seq = if ip.protocol == transport::TCP {
        be32(bytes, 4)
    } else {
        0
    };
    Ok((be16(bytes, 0), be16(bytes, 2), seq))
}
