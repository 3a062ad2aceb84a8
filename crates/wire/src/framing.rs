//! Link headers and what sits between them and IP: Ethernet, VLAN tags, cooked and PPP framing.

use crate::cursor::{Cursor, Layer, be16, be32};
use crate::link::LinkType;
use crate::packet::{Sent, Stop, StopReason, TunnelKind};

/// EtherTypes (IEEE registration authority), as GRE, Geneve and cooked captures use them too.
pub(crate) mod ether_types {
    pub(crate) const IPV4: u16 = 0x0800;
    pub(crate) const IPV6: u16 = 0x86dd;
    /// 802.1Q.
    pub(crate) const VLAN: u16 = 0x8100;
    /// 802.1ad.
    pub(crate) const SERVICE_VLAN: u16 = 0x88a8;
    /// Stacked tags before 802.1ad.
    pub(crate) const OLD_SERVICE_VLAN: u16 = 0x9100;
    pub(crate) const MPLS: u16 = 0x8847;
    /// Upstream-assigned labels (RFC 5332), formerly multicast.
    pub(crate) const MPLS_UPSTREAM: u16 = 0x8848;
    pub(crate) const PPPOE_SESSION: u16 = 0x8864;
    /// Transparent Ethernet bridging: an Ethernet frame follows (RFC 7637, RFC 8926).
    pub(crate) const BRIDGED: u16 = 0x6558;
}

/// Reads the link type's own header.
#[inline]
pub(crate) fn link(cursor: &mut Cursor<'_>, link: LinkType) -> Result<Layer, Stop> {
    match link {
        LinkType::Ethernet => Ok(Layer::Ethernet),
        LinkType::Raw => Ok(Layer::Ip),
        LinkType::Ipv4 => Ok(Layer::Ipv4),
        LinkType::Ipv6 => Ok(Layer::Ipv6),
        LinkType::LinuxSll => sll(cursor),
        LinkType::LinuxSll2 => sll2(cursor),
        LinkType::Null | LinkType::Loop => loopback(cursor),
        LinkType::Ppp => Ok(Layer::Ppp),
        LinkType::PppHdlc => ppp_hdlc(cursor),
        LinkType::PppEther => pppoe(cursor),
        LinkType::Other(_) => Err(cursor.stop(StopReason::UnknownLink)),
    }
}

/// Ethernet. A type below 0x600 is an 802.3 length, and LLC follows: never TCP.
#[inline]
pub(crate) fn ethernet(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    cursor.enter_ethernet()?;
    let header = cursor.take::<14>()?;
    Ok(Layer::EtherType(be16(header, 12)))
}

/// The layer that an EtherType announces.
#[inline]
pub(crate) fn ether_type(cursor: &mut Cursor<'_>, ether_type: u16) -> Result<Layer, Stop> {
    match ether_type {
        ether_types::IPV4 => Ok(Layer::Ipv4),
        ether_types::IPV6 => Ok(Layer::Ipv6),
        ether_types::VLAN | ether_types::SERVICE_VLAN | ether_types::OLD_SERVICE_VLAN => {
            vlan(cursor)
        }
        ether_types::MPLS | ether_types::MPLS_UPSTREAM => Ok(Layer::Mpls),
        ether_types::PPPOE_SESSION => pppoe(cursor),
        ether_types::BRIDGED => Ok(Layer::Ethernet),
        _ => Err(cursor.stop(StopReason::NotIp)),
    }
}

/// Whether the walk can go on from this EtherType: what a guess about a header checks.
pub(crate) fn is_known(ether_type: u16) -> bool {
    matches!(
        ether_type,
        ether_types::IPV4
            | ether_types::IPV6
            | ether_types::VLAN
            | ether_types::SERVICE_VLAN
            | ether_types::OLD_SERVICE_VLAN
            | ether_types::MPLS
            | ether_types::MPLS_UPSTREAM
            | ether_types::PPPOE_SESSION
    )
}

/// One tag: TCI, then the next EtherType. The count limits all tags of a frame, so that a stack
/// of nothing but tags ends.
fn vlan(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    cursor.check_depth(cursor.vlans.count.saturating_add(1))?;
    let tag = cursor.take::<4>()?;
    cursor.push_vlan(be16(tag, 0));
    Ok(Layer::EtherType(be16(tag, 2)))
}

/// PPPoE session stage (RFC 2516 section 4): version and type 1, code 0.
fn pppoe(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.peek::<6>()?;
    if header[0] != 0x11 || header[1] != 0 {
        return Err(cursor.stop(StopReason::NotIp));
    }
    cursor.at += header.len();
    cursor.push_tunnel(TunnelKind::Pppoe, u32::from(be16(header, 2)));
    // The length excludes Ethernet padding, and receivers cut the packet to it (RFC 2516 section 4); a frame too
    // long for the field has 0.
    let length = usize::from(be16(header, 4));
    if length != 0 {
        cursor.enclose(cursor.at + length);
    }
    Ok(Layer::Ppp)
}

/// HDLC address and control of PPP (RFC 1662 section 3.1), optional by negotiation.
const PPP_ADDRESS_CONTROL: u16 = 0xff03;

/// The PPP protocol field (RFC 1661 section 2), which negotiation may compress to one byte: an
/// odd first byte is its last.
pub(crate) fn ppp(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    if be16(cursor.peek::<2>()?, 0) == PPP_ADDRESS_CONTROL {
        cursor.at += 2;
    }
    let field = cursor.peek::<2>()?;
    let (protocol, len) = if field[0] & 1 == 1 {
        (u16::from(field[0]), 1)
    } else {
        (be16(field, 0), 2)
    };
    let layer = match protocol {
        0x0021 => Layer::Ipv4,
        0x0057 => Layer::Ipv6,
        0x0281 | 0x0283 => Layer::Mpls,
        _ => return Err(cursor.stop(StopReason::NotIp)),
    };
    cursor.at += len;
    Ok(layer)
}

/// PPP in HDLC-like framing, or, by the first byte, Cisco HDLC (RFC 1547 section 4.3.1), whose
/// protocol field is an EtherType.
fn ppp_hdlc(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.peek::<4>()?;
    if !matches!(header[0], 0x0f | 0x8f) {
        return Ok(Layer::Ppp);
    }
    cursor.at += header.len();
    Ok(Layer::EtherType(be16(header, 2)))
}

/// BSD loopback: an address family, in the byte order of whoever captured. Family 2 is IPv4
/// everywhere; IPv6 is 10 on Linux, 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on macOS.
fn loopback(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let family = be32(cursor.peek::<4>()?, 0);
    let layer = match family.min(family.swap_bytes()) {
        2 => Layer::Ipv4,
        10 | 24 | 28 | 30 => Layer::Ipv6,
        _ => return Err(cursor.stop(StopReason::NotIp)),
    };
    cursor.at += 4;
    Ok(layer)
}

/// Linux cooked capture, version 1: packet type, ARPHRD, address, protocol.
fn sll(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.peek::<16>()?;
    cooked(cursor, be16(header, 0), be16(header, 2), be16(header, 14))?;
    cursor.at += header.len();
    Ok(Layer::EtherType(be16(header, 14)))
}

/// Linux cooked capture, version 2: protocol, interface, ARPHRD, packet type, address.
fn sll2(cursor: &mut Cursor<'_>) -> Result<Layer, Stop> {
    let header = cursor.peek::<20>()?;
    cooked(
        cursor,
        u16::from(header[10]),
        be16(header, 8),
        be16(header, 0),
    )?;
    cursor.at += header.len();
    Ok(Layer::EtherType(be16(header, 0)))
}

/// For a netlink device the protocol field is a netlink family, which must not pass for an
/// EtherType.
fn cooked(
    cursor: &mut Cursor<'_>,
    packet_type: u16,
    device: u16,
    protocol: u16,
) -> Result<(), Stop> {
    const ARPHRD_NETLINK: u16 = 824;
    const PACKET_OUTGOING: u16 = 4;
    if device == ARPHRD_NETLINK || protocol < 0x600 {
        return Err(cursor.stop(StopReason::NotIp));
    }
    cursor.sent = match packet_type {
        0..PACKET_OUTGOING => Sent::Inbound,
        PACKET_OUTGOING => Sent::Outbound,
        _ => Sent::Unknown,
    };
    Ok(())
}
