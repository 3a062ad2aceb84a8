//! Parses one frame: whether it belongs to a flow at all, and to which.

mod network;

use coalescope_wire::{
    HeaderKind, Headers, Ip, LengthSource, LinkType, Packet, Stop, StopReason, Transport,
    TunnelKind, UdpTunnels, walk_headers_entering,
};

use crate::bytes::chunk;
use crate::frame::hash::hash;
use crate::frame::seen::{Layer4, Seen};
use crate::frame::sound::{checksum, has_outer_checksum, outer_checksums, verifies};
use crate::frame::template::MAX_HEADER;
use crate::profile::{Padding, Profile};
use crate::reason::Reason;

use network::{network, outer_alone};

/// What holds for all frames of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inspection {
    pub(crate) link: LinkType,
    /// Verify TCP and UDP checksums, instead of trusting the caller.
    pub(crate) verify: bool,
    pub(crate) seed: u64,
}

/// Parses a frame.
///
/// # Errors
///
/// Why the frame is of no flow.
pub(crate) fn inspect(profile: &Profile, how: Inspection, frame: &[u8]) -> Result<Seen, Reason> {
    let (packet, headers) = headers_of(profile, how.link, frame)?;
    link_and_tunnel(profile, &packet, &headers)?;
    let alone = network(profile, frame, &headers)?;
    let seen = transport(profile, how, frame, &packet, headers, alone)?;
    match seen.alone {
        Some(reason) if seen.tunneled => tunnel_alone(profile, how, frame, &seen, reason)?,
        None if how.verify => checksum(profile, frame, &packet, &seen)?,
        _ => {}
    }
    Ok(seen)
}

/// Linux verifies no checksum of a packet that will not merge. If that is known before the tunnel, a tunnel in UDP is
/// not entered, since entering takes a verified checksum (`udp_gro_receive`), but GRE is entered (`gre_gro_receive`).
/// If the inner packet is the one that will not merge, the tunnel's own checksum has been verified by then.
fn tunnel_alone(
    profile: &Profile,
    how: Inspection,
    frame: &[u8],
    seen: &Seen,
    reason: Reason,
) -> Result<(), Reason> {
    match outer_alone(profile, frame, &seen.headers) {
        true if has_outer_checksum(frame, seen) => Err(reason),
        false if how.verify && verifies(profile, seen) => {
            outer_checksums(frame, &seen.headers, seen.layer4_at)
        }
        _ => Ok(()),
    }
}

fn headers_of(
    profile: &Profile,
    link: LinkType,
    frame: &[u8],
) -> Result<(Packet, Headers), Reason> {
    let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let tunnels = profile.tunnels.in_udp();
    let mut headers = Headers::default();
    let found = walk_headers_entering(link, frame, wire_len, tunnels, &mut headers);
    match found.map_err(stopped) {
        Ok(packet) => Ok((packet, headers)),
        Err(reason @ (Reason::Malformed | Reason::Truncated)) => {
            despite_lengths(link, frame, tunnels, headers).ok_or(reason)
        }
        Err(reason) => Err(reason),
    }
}

/// The headers of a packet whose IP lengths are shorter than its own headers. Linux finds the flow by the bytes
/// present, and sends up the held frames of the flow before the packet passes.
fn despite_lengths(
    link: LinkType,
    frame: &[u8],
    tunnels: UdpTunnels,
    mut headers: Headers,
) -> Option<(Packet, Headers)> {
    let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let mut head = [0; MAX_HEADER];
    let len = frame.len().min(MAX_HEADER);
    head[..len].copy_from_slice(&frame[..len]);
    // One try for each IP header whose length may be wrong.
    for _ in 0..2 {
        for header in headers.as_slice() {
            let at = usize::from(header.offset);
            let field = match header.kind {
                HeaderKind::Ipv4 => head.get_mut(at + 2..at + 4),
                HeaderKind::Ipv6 => head.get_mut(at + 4..at + 6),
                _ => None,
            };
            // With a length of 0 the walk uses the length of the bytes around the packet.
            field.unwrap_or_default().fill(0);
        }
        if let Ok(packet) =
            walk_headers_entering(link, &head[..len], wire_len, tunnels, &mut headers)
        {
            return Some((packet, headers));
        }
    }
    None
}

fn stopped(stop: Stop) -> Reason {
    match stop.reason {
        StopReason::NotIp | StopReason::UnknownLink => Reason::NotIp,
        StopReason::Truncated => Reason::Truncated,
        StopReason::Malformed => Reason::Malformed,
        StopReason::TooDeep => Reason::NestedTunnel,
    }
}

/// Checks the headers around the innermost packet.
fn link_and_tunnel(profile: &Profile, packet: &Packet, headers: &Headers) -> Result<(), Reason> {
    if packet.vlans.count > 0 && !profile.link.vlans {
        return Err(Reason::Vlan);
    }
    if headers.is_cut() {
        return Err(Reason::NestedTunnel);
    }
    let count = usize::from(packet.tunnels.count);
    let tunnels = packet.tunnels.layers.iter().take(count).flatten();
    let entered = tunnels
        .clone()
        .filter(|tunnel| tunnel.kind != TunnelKind::Pppoe);
    if entered.count() > 1 || count > packet.tunnels.layers.len() {
        return Err(Reason::NestedTunnel);
    }
    for tunnel in tunnels {
        let (allowed, reason) = match tunnel.kind {
            TunnelKind::Pppoe => (profile.link.pppoe, Reason::Pppoe),
            TunnelKind::IpInIp => (profile.tunnels.ip_in_ip, Reason::Tunnel),
            TunnelKind::Gre => (profile.tunnels.gre, Reason::Tunnel),
            // Entered only where the profile does.
            TunnelKind::Vxlan | TunnelKind::Geneve => (true, Reason::Tunnel),
            TunnelKind::Erspan | TunnelKind::Mpls => (false, Reason::Tunnel),
        };
        if !allowed {
            return Err(reason);
        }
    }
    Ok(())
}

fn transport(
    profile: &Profile,
    how: Inspection,
    frame: &[u8],
    packet: &Packet,
    headers: Headers,
    alone: Option<Reason>,
) -> Result<Seen, Reason> {
    let ip = &packet.ip;
    if ip.fragment.is_some() {
        return Err(Reason::Fragment);
    }
    let (layer4, len) = match packet.transport {
        Transport::Tcp(tcp) => (Layer4::Tcp(tcp), usize::from(tcp.header_len)),
        // Where a tunnel ends, all datagrams are the tunnel's (`udp_gro_receive` asks the socket): a datagram that is
        // no packet of the tunnel is merged with nothing.
        Transport::Udp(udp) if profile.tunnels.in_udp().has_port(udp.destination_port) => {
            return Err(Reason::Tunnel);
        }
        Transport::Udp(_) if profile.udp.is_some() => (Layer4::Udp, 8),
        _ => return Err(Reason::Protocol),
    };
    let header_len = ip.payload_offset + len;
    if header_len > MAX_HEADER {
        return Err(Reason::HeadersTooLong);
    }
    if header_len > frame.len() {
        return Err(Reason::Truncated);
    }
    let payload_len = ip.payload_len.saturating_sub(len as u32);
    if matches!(layer4, Layer4::Udp) {
        udp(profile, frame, ip)?;
    }
    let end = header_len.saturating_add(payload_len as usize);
    // A length of 0 (TSO) or one beyond the bytes present does not say where the payload ends: no merge.
    let whole = ip.length_source == LengthSource::Header && end <= frame.len();
    let alone = alone.or((!whole).then_some(Reason::Length));
    let seen = Seen {
        ip: ip.offset,
        version: ip.version,
        tunneled: packet.tunnels.count > 0,
        layer4,
        layer4_at: ip.payload_offset,
        header_len,
        payload_len,
        hash: hash(frame, ip, how.seed),
        alone,
        headers,
    };
    Ok(seen)
}

/// For Linux, a UDP length other than that of the bytes present, whatever the IP header says, means padding or malice:
/// the datagram passes, and held frames stay. A datagram without checksum does the same.
fn udp(profile: &Profile, frame: &[u8], ip: &Ip) -> Result<(), Reason> {
    let header = chunk::<8>(frame, ip.payload_offset)?;
    let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let present = match profile.link.padding {
        Padding::Refuse => frame.len() - ip.payload_offset,
        Padding::Trim => ip.payload_len as usize,
    };
    if len <= 8 || len != present {
        return Err(Reason::Malformed);
    }
    let merged_without = profile.udp.is_some_and(|rules| rules.zero_checksum);
    if header[6..] == [0; 2] && !merged_without {
        return Err(Reason::NoChecksum);
    }
    Ok(())
}

/// The hash of a frame's flow, whatever forbids to merge the frame. Inside a tunnel that the profile does not enter, no
/// flow is known.
pub(crate) fn flow_of(profile: &Profile, how: Inspection, frame: &[u8]) -> Option<u64> {
    let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let mut headers = Headers::default();
    let tunnels = profile.tunnels.in_udp();
    let packet = walk_headers_entering(how.link, frame, wire_len, tunnels, &mut headers).ok()?;
    link_and_tunnel(profile, &packet, &headers).ok()?;
    let has_ports = matches!(packet.transport, Transport::Tcp(_) | Transport::Udp(_));
    has_ports.then(|| hash(frame, &packet.ip, how.seed))
}
