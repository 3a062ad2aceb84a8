//! Tunnels: IP in IP, GRE with ERSPAN, VXLAN, Geneve, MPLS.

use crate::cursor::{Cursor, Layer, UdpTunnels, be16, be32};
use crate::framing::is_known;
use crate::packet::{Stop, StopReason, TunnelKind, Udp};

/// GRE among the protocols over IP (RFC 2784).
pub(crate) const GRE: u8 = 47;

/// IP protocol numbers of other tunnels.
mod protocols {
    pub(super) const IPV4: u8 = 4;
    pub(super) const IPV6: u8 = 41;
    pub(super) const MPLS: u8 = 137;
}

/// A tunnel directly in an IP payload that ends at `end`; `None` for a protocol that is no tunnel
/// known to the walk.
pub(crate) fn in_ip(
    cursor: &mut Cursor<'_>,
    protocol: u8,
    end: usize,
) -> Result<Option<Layer>, Stop> {
    cursor.limit(end);
    let layer = match protocol {
        protocols::IPV4 => ip_in_ip(cursor, Layer::Ipv4),
        protocols::IPV6 => ip_in_ip(cursor, Layer::Ipv6),
        protocols::MPLS => Layer::Mpls,
        GRE => gre(cursor)?,
        _ => return Ok(None),
    };
    Ok(Some(layer))
}

fn ip_in_ip(cursor: &mut Cursor<'_>, inner: Layer) -> Layer {
    cursor.push_tunnel(TunnelKind::IpInIp, 0);
    inner
}

/// GRE flags and protocol types.
mod gre_fields {
    pub(super) const CHECKSUM: u16 = 0x8000;
    pub(super) const ROUTING: u16 = 0x4000;
    pub(super) const KEY: u16 = 0x2000;
    pub(super) const SEQUENCE: u16 = 0x1000;
    /// Version 1 only.
    pub(super) const ACKNOWLEDGMENT: u16 = 0x0080;
    pub(super) const VERSION: u16 = 0x0007;
    /// PPP in version 1 (RFC 2637).
    pub(super) const PPP: u16 = 0x880b;
    /// ERSPAN types I and II.
    pub(super) const ERSPAN: u16 = 0x88be;
    /// ERSPAN type III.
    pub(super) const ERSPAN_3: u16 = 0x22eb;
}

fn gre(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    use gre_fields as field;
    let header = cursor.peek::<4>()?;
    let (flags, protocol) = (be16(header, 0), be16(header, 2));
    match flags & field::VERSION {
        // Source routing left the standard with RFC 2784; its length is not in the header.
        0 if flags & field::ROUTING == 0 => gre_0(cursor, flags, protocol),
        1 if protocol == field::PPP => gre_1(cursor, flags),
        _ => Err(cursor.stop(StopReason::NotIp)),
    }
}

/// Version 0 (RFC 2784, RFC 2890): checksum, key and sequence number in this order, each
/// optional.
fn gre_0(cursor: &mut Cursor<'_>, flags: u16, protocol: u16) -> Result<Layer, Stop> {
    use gre_fields as field;
    cursor.skip(4 + word_if(flags, field::CHECKSUM))?;
    let key = match flags & field::KEY {
        0 => 0,
        _ => u32::from_be_bytes(*cursor.take::<4>()?),
    };
    cursor.skip(word_if(flags, field::SEQUENCE))?;
    match protocol {
        field::ERSPAN if flags & field::SEQUENCE == 0 => erspan_1(cursor),
        field::ERSPAN => erspan_2(cursor),
        field::ERSPAN_3 => erspan_3(cursor),
        _ => {
            cursor.push_tunnel(TunnelKind::Gre, key);
            Ok(Layer::EtherType(protocol))
        }
    }
}

/// The size of an optional 32-bit field.
fn word_if(flags: u16, flag: u16) -> usize {
    if flags & flag == 0 { 0 } else { 4 }
}

/// Version 1, PPTP (RFC 2637): the key is a payload length and a call, of which the call is the
/// identifier. Without a sequence number there is no payload.
fn gre_1(cursor: &mut Cursor<'_>, flags: u16) -> Result<Layer, Stop> {
    use gre_fields as field;
    if flags & field::KEY == 0 || flags & field::SEQUENCE == 0 {
        return Err(cursor.stop(StopReason::NotIp));
    }
    let header = cursor.take::<12>()?;
    cursor.skip(word_if(flags, field::ACKNOWLEDGMENT))?;
    cursor.push_tunnel(TunnelKind::Gre, u32::from(be16(header, 6)));
    Ok(Layer::Ppp)
}

/// Type I has no header of its own and no session.
fn erspan_1(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    cursor.push_tunnel(TunnelKind::Erspan, 0);
    Ok(Layer::Ethernet)
}

/// Type II: eight bytes (draft-foschiano-erspan-03 section 4.2).
fn erspan_2(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.take::<8>()?;
    cursor.push_tunnel(TunnelKind::Erspan, erspan_session(header));
    Ok(Layer::Ethernet)
}

/// Type III: twelve bytes, and eight more of a platform's own when the O bit, the lowest, is set
/// (draft-foschiano-erspan-03 section 4.3).
fn erspan_3(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.take::<12>()?;
    if header[11] & 1 == 1 {
        cursor.skip(8)?;
    }
    cursor.push_tunnel(TunnelKind::Erspan, erspan_session(header));
    Ok(Layer::Ethernet)
}

/// The session ID: the low ten bits of the second half-word, in both types.
fn erspan_session<const N: usize>(header: &[u8; N]) -> u32 {
    u32::from(be16(header, 2) & 0x03ff)
}

/// UDP destination ports of tunnels.
mod ports {
    pub(super) const VXLAN: u16 = 4789;
    /// What Linux used before the port was assigned, and its default still.
    pub(super) const VXLAN_LINUX: u16 = 8472;
    pub(super) const VXLAN_GPE: u16 = 4790;
    pub(super) const GENEVE: u16 = 6081;
}

impl UdpTunnels {
    /// Whether datagrams to a port are of one of these tunnels, if they look like it.
    #[must_use]
    pub const fn has_port(self, destination: u16) -> bool {
        match destination {
            ports::VXLAN | ports::VXLAN_LINUX | ports::VXLAN_GPE => self.vxlan,
            ports::GENEVE => self.geneve,
            _ => false,
        }
    }
}

/// The smallest tunnel header in UDP.
const UDP_TUNNEL_HEADER: u32 = 8;

/// A tunnel in UDP, by destination port, in an IP payload that ends at `end`; the cursor stands behind the UDP header. `None` where
/// the header does not look like the tunnel's, since anyone may use a port.
pub(crate) fn in_udp(
    cursor: &mut Cursor<'_>,
    udp: &Udp,
    end: usize,
) -> Result<Option<Layer>, Stop> {
    if !cursor.udp_tunnels.has_port(udp.destination_port) {
        return Ok(None);
    }
    let parse = match udp.destination_port {
        ports::VXLAN_GPE => vxlan_gpe,
        ports::GENEVE => geneve,
        _ => vxlan,
    };
    cursor.limit(end);
    match cursor.peek::<8>() {
        Ok(header) if udp.payload_len >= UDP_TUNNEL_HEADER => parse(cursor, header),
        _ => Ok(None),
    }
}

/// VXLAN's I flag: the VNI is valid.
const VXLAN_VNI: u8 = 0x08;

/// VXLAN (RFC 7348): of the flags only I is checked; the others are reserved, or used by
/// extensions such as group-based policy.
fn vxlan(cursor: &mut Cursor<'_>, header: &[u8; 8]) -> Result<Option<Layer>, Stop> {
    if header[0] & VXLAN_VNI == 0 {
        return Ok(None);
    }
    cursor.at += header.len();
    cursor.push_tunnel(TunnelKind::Vxlan, be32(header, 4) >> 8);
    Ok(Some(Layer::Ethernet))
}

/// VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe): the P flag says that the fourth byte names the payload.
fn vxlan_gpe(cursor: &mut Cursor<'_>, header: &[u8; 8]) -> Result<Option<Layer>, Stop> {
    const NEXT_PROTOCOL: u8 = 0x04;
    if vxlan(cursor, header)?.is_none() {
        return Ok(None);
    }
    match (header[0] & NEXT_PROTOCOL, header[3]) {
        (0, _) | (_, 3) => Ok(Some(Layer::Ethernet)),
        (_, 1) => Ok(Some(Layer::Ipv4)),
        (_, 2) => Ok(Some(Layer::Ipv6)),
        (_, 5) => Ok(Some(Layer::Mpls)),
        _ => Err(cursor.stop(StopReason::NotIp)),
    }
}

/// Geneve (RFC 8926): version 0, options counted in words, an EtherType for the payload.
fn geneve(cursor: &mut Cursor<'_>, header: &[u8; 8]) -> Result<Option<Layer>, Stop> {
    let len = header.len() + usize::from(header[0] & 0x3f) * 4;
    if header[0] >> 6 != 0 || cursor.at.saturating_add(len) > cursor.end {
        return Ok(None);
    }
    cursor.skip(len)?;
    cursor.push_tunnel(TunnelKind::Geneve, be32(header, 4) >> 8);
    Ok(Some(Layer::EtherType(be16(header, 2))))
}

/// An MPLS label stack (RFC 3032), and below it IP or an Ethernet pseudowire, which only the
/// first nibble tells apart (RFC 4928).
pub(crate) fn mpls(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    // Segment routing stacks ten labels and more, so the general limit would be too low.
    const LABELS: usize = 32;
    const BOTTOM: u32 = 0x100;
    for _ in 0..LABELS {
        let entry = u32::from_be_bytes(*cursor.take::<4>()?);
        if entry & BOTTOM != 0 {
            cursor.push_tunnel(TunnelKind::Mpls, entry >> 12);
            return below_labels(cursor);
        }
    }
    Err(cursor.stop(StopReason::TooDeep))
}

fn below_labels(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    match cursor.peek::<1>()?[0] >> 4 {
        4 => Ok(Layer::Ipv4),
        6 => Ok(Layer::Ipv6),
        _ => {
            if has_control_word(cursor)? {
                cursor.skip(4)?;
            }
            Ok(Layer::Ethernet)
        }
    }
}

/// Whether a pseudowire control word (RFC 4448 section 4.6) comes first. Its first half is zero,
/// but so can a MAC address's be, so an EtherType must follow where it would stand.
fn has_control_word(cursor: &Cursor<'_>) -> Result<bool, Stop> {
    // A frame too short for these 18 bytes has no room for IP either.
    let bytes = cursor.peek::<18>()?;
    Ok(be16(bytes, 0) == 0 && (is_known(be16(bytes, 16)) || !is_known(be16(bytes, 12))))
}
