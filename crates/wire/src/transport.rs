//! What an IP packet carries: TCP, UDP, ICMP, or a tunnel's next layer.

use crate::cursor::{Cursor, Layer, be16, be32};
use crate::packet::{IcmpError, Ip, Stop, StopReason, Transport, Udp};
use crate::tcp::{Flags, Tcp};
use crate::tunnel;

pub(crate) const TCP: u8 = 6;
/// UDP among the protocols over IP (RFC 768).
pub const UDP: u8 = 17;
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// What follows an IP header.
pub(crate) enum Reached {
    /// Another layer.
    Tunnel(Layer),
    /// The innermost transport.
    Transport(Transport),
}

/// Reads what follows an IP header, at which the cursor stands.
pub(crate) fn enter(cursor: &mut Cursor<'_>, ip: &Ip) -> Result<Reached, Stop> {
    if ip.is_later_fragment() {
        return Ok(Reached::Transport(Transport::LaterFragment));
    }
    let transport = match (ip.protocol, ip.version) {
        (TCP, _) => Transport::Tcp(tcp(cursor, ip.payload_len)?),
        (UDP, _) => return udp(cursor, ip.payload_len, ip.declared_end()),
        (ICMP, 4) => icmp_v4(cursor, ip.payload_len)?,
        (ICMPV6, 6) => icmp_v6(cursor, ip.payload_len)?,
        (protocol, _) => return other(cursor, protocol, ip.declared_end()),
    };
    Ok(Reached::Transport(transport))
}

fn other(cursor: &mut Cursor<'_>, protocol: u8, end: usize) -> Result<Reached, Stop> {
    let tunnel = tunnel::in_ip(cursor, protocol, end)?;
    Ok(tunnel.map_or(Reached::Transport(Transport::Other), Reached::Tunnel))
}

/// Whether the protocol's header starts with a source and a destination port.
pub(crate) fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | DCCP | SCTP | UDP_LITE)
}

#[inline(always)]
pub(crate) fn tcp(cursor: &Cursor<'_>, payload_len: u32) -> Result<Tcp, Stop> {
    let header = cursor.peek::<20>()?;
    let header_len = (header[12] >> 4) * 4;
    let payload_len = payload_len.checked_sub(u32::from(header_len));
    let (20.., Some(payload_len)) = (header_len, payload_len) else {
        return Err(cursor.stop(StopReason::Malformed));
    };
    Ok(Tcp {
        offset: cursor.at,
        header_len,
        source_port: be16(header, 0),
        destination_port: be16(header, 2),
        seq: be32(header, 4),
        ack: be32(header, 8),
        flags: Flags(be16(header, 12) & 0x01ff),
        window: be16(header, 14),
        checksum: be16(header, 16),
        payload_len,
    })
}

fn udp(cursor: &mut Cursor<'_>, ip_payload_len: u32, end: usize) -> Result<Reached, Stop> {
    let header = cursor.peek::<8>()?;
    let Some(payload_len) = udp_payload_len(ip_payload_len, be16(header, 4)) else {
        return Err(cursor.stop(StopReason::Malformed));
    };
    let udp = Udp {
        offset: cursor.at,
        source_port: be16(header, 0),
        destination_port: be16(header, 2),
        payload_len,
    };
    cursor.at += header.len();
    Ok(match tunnel::in_udp(cursor, &udp, end)? {
        Some(layer) => Reached::Tunnel(layer),
        None => Reached::Transport(Transport::Udp(udp)),
    })
}

/// A length of 0 is a datagram over 65,535 bytes (RFC 2675 section 4) or one not yet segmented.
/// A first fragment's length is the whole datagram's: the share in this packet counts.
fn udp_payload_len(ip_payload_len: u32, length: u16) -> Option<u32> {
    let available = ip_payload_len.checked_sub(8)?;
    match length {
        0 => Some(available),
        1..8 => None,
        _ => Some(available.min(u32::from(length) - 8)),
    }
}

/// Type 3 code 4, "fragmentation needed and DF set"; the MTU is RFC 1191's.
fn icmp_v4(cursor: &Cursor<'_>, payload_len: u32) -> Result<Transport, Stop> {
    let header = cursor.peek::<8>()?;
    match header[..2] {
        [3, 4] => too_big(cursor, payload_len, u32::from(be16(header, 6))),
        _ => Ok(Transport::Other),
    }
}

/// Type 2, "packet too big"; its code is ignored by RFC 4443 section 3.2.
fn icmp_v6(cursor: &Cursor<'_>, payload_len: u32) -> Result<Transport, Stop> {
    let header = cursor.peek::<8>()?;
    match header[0] {
        2 => too_big(cursor, payload_len, be32(header, 4)),
        _ => Ok(Transport::Other),
    }
}

fn too_big(cursor: &Cursor<'_>, payload_len: u32, mtu: u32) -> Result<Transport, Stop> {
    if payload_len < 8 {
        return Err(cursor.stop(StopReason::Malformed));
    }
    Ok(Transport::TooBig(IcmpError {
        mtu,
        quoted_offset: cursor.at + 8,
    }))
}
