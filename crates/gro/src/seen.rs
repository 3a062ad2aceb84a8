//! One frame as the engine sees it: where its headers are, and whether it is of a flow at all.

use coalescope_wire::checksum::{fold, pseudo_header_v4, pseudo_header_v6, sum};
use coalescope_wire::{
    Flags, Header, HeaderKind, Headers, Ip, LengthSource, LinkType, Packet, Stop, StopReason, Tcp,
    Transport, TunnelKind, UdpTunnels, walk_headers_entering,
};

use crate::Reason;
use crate::profile::{Checksum, IpId, Padding, Profile};
use crate::template::MAX_HEADER;

/// TCP or UDP of a frame that belongs to a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer4 {
    Tcp(Tcp),
    Udp,
}

/// A frame that belongs to a flow.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) headers: Headers,
    /// Where the innermost IP header starts.
    pub(crate) ip: usize,
    pub(crate) version: u8,
    /// Inside another IP packet.
    pub(crate) tunneled: bool,
    pub(crate) layer4: Layer4,
    /// Where the transport header starts.
    pub(crate) layer4_at: usize,
    /// Bytes in front of the payload.
    pub(crate) header_len: usize,
    pub(crate) payload_len: u32,
    pub(crate) hash: u64,
    /// Why it can neither join a held frame nor be held, if it cannot.
    pub(crate) alone: Option<Reason>,
}

/// What the caller says of all frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inspection {
    pub(crate) link: LinkType,
    /// Look at TCP and UDP checksums, instead of trusting that somebody did.
    pub(crate) verify: bool,
    pub(crate) seed: u64,
}

/// Looks at a frame.
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

/// Linux verifies no checksum of a packet that will not merge. If it is known before the tunnel,
/// one in UDP is not entered, since that takes a verified checksum (`udp_gro_receive`), but GRE is
/// (`gre_gro_receive`). If it is the inner packet that will not merge, the tunnel's own checksum
/// has been verified by then.
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

/// The headers of a packet whose IP lengths say less than its own headers take. Linux finds the
/// flow by the bytes present, and sends up what is held of it before the packet passes.
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
    // One try for each IP header that may lie.
    for _ in 0..2 {
        for header in headers.as_slice() {
            let at = usize::from(header.offset);
            let field = match header.kind {
                HeaderKind::Ipv4 => head.get_mut(at + 2..at + 4),
                HeaderKind::Ipv6 => head.get_mut(at + 4..at + 6),
                _ => None,
            };
            // A length of 0 lets the walk go by what is around it.
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

/// What lies around the innermost packet.
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

/// Every IP header from the outside in. Says why the packet must stay alone, if it must.
fn network(profile: &Profile, frame: &[u8], headers: &Headers) -> Result<Option<Reason>, Reason> {
    let mut alone = None;
    let mut end = frame.len();
    let list = headers.as_slice();
    for (index, header) in list.iter().enumerate() {
        let at = usize::from(header.offset);
        let next = list.get(index + 1).map(|next| usize::from(next.offset));
        let len = match header.kind {
            HeaderKind::Ipv4 => {
                alone = alone
                    .or(reserved_bit(frame, at))
                    .or(needs_df(profile, frame, at));
                ipv4(profile, frame, at)?
            }
            HeaderKind::Ipv6 => ipv6(profile, frame, at, next)?,
            HeaderKind::Gre => {
                gre(frame, at)?;
                continue;
            }
            _ => continue,
        };
        let ends_at = at + len;
        let padded = profile.link.padding == Padding::Trim && ends_at < end;
        if ends_at != end && !padded {
            alone = alone.or(Some(Reason::Length));
        }
        end = end.min(ends_at);
    }
    Ok(alone)
}

/// DF is missing where the profile merges nothing without.
fn needs_df(profile: &Profile, frame: &[u8], ip: usize) -> Option<Reason> {
    let needed = profile
        .ipv4
        .is_some_and(|rules| rules.id == IpId::IncreasingWithDf);
    let set = frame.get(ip + 6).is_some_and(|byte| byte & 0x40 != 0);
    (needed && !set).then_some(Reason::DontFragment)
}

/// To Linux it is a fragment field that is not zero, but no fragment.
fn reserved_bit(frame: &[u8], ip: usize) -> Option<Reason> {
    let set = frame.get(ip + 6).is_some_and(|byte| byte & 0x80 != 0);
    set.then_some(Reason::ReservedBit)
}

/// The length that the header says.
fn ipv4(profile: &Profile, frame: &[u8], at: usize) -> Result<usize, Reason> {
    let rules = profile.ipv4.as_ref().ok_or(Reason::NotIp)?;
    let header = chunk::<20>(frame, at)?;
    if header[0] != 0x45 {
        return Err(Reason::Ipv4Options);
    }
    if header[6] & 0x3f != 0 || header[7] != 0 {
        return Err(Reason::Fragment);
    }
    if rules.checksum == Checksum::Required && fold(sum(header)) != 0xffff {
        return Err(Reason::Ipv4Checksum);
    }
    if !rules.zero_addresses && (header[12..16] == [0; 4] || header[16..20] == [0; 4]) {
        return Err(Reason::ZeroAddress);
    }
    Ok(usize::from(u16::from_be_bytes([header[2], header[3]])))
}

/// The length that the header says.
fn ipv6(profile: &Profile, frame: &[u8], at: usize, next: Option<usize>) -> Result<usize, Reason> {
    let rules = profile.ipv6.as_ref().ok_or(Reason::NotIp)?;
    let header = chunk::<40>(frame, at)?;
    let next = next.ok_or(Reason::Protocol)?;
    if next != at + header.len() {
        if !rules.extensions {
            return Err(Reason::Ipv6Extensions);
        }
        extensions(frame, header[6], at + header.len(), next)?;
    }
    Ok(usize::from(u16::from_be_bytes([header[4], header[5]])) + header.len())
}

/// The extension headers that Linux passes on the way (`INET6_PROTO_GSO_EXTHDR`): hop-by-hop,
/// routing, destination options. A fragment header ends it, even of a whole packet.
fn extensions(frame: &[u8], mut kind: u8, mut at: usize, end: usize) -> Result<(), Reason> {
    while at < end {
        let header = chunk::<2>(frame, at)?;
        match kind {
            0 | 43 | 60 => {}
            44 => return Err(Reason::Fragment),
            _ => return Err(Reason::Ipv6Extensions),
        }
        kind = header[0];
        at += (usize::from(header[1]) + 1) * 8;
    }
    Ok(())
}

/// Whether it is the outermost IP header that keeps a packet alone.
fn outer_alone(profile: &Profile, frame: &[u8], headers: &Headers) -> bool {
    let mut ips = headers
        .as_slice()
        .iter()
        .filter(|header| matches!(header.kind, HeaderKind::Ipv4 | HeaderKind::Ipv6));
    let Some(&outer) = ips.next() else {
        return false;
    };
    let end = ends_at(frame, outer);
    let padded = profile.link.padding == Padding::Trim && end < frame.len();
    let reserved =
        outer.kind == HeaderKind::Ipv4 && reserved_bit(frame, outer.offset.into()).is_some();
    (end != frame.len() && !padded) || reserved
}

/// Whether a tunnel in UDP around the packet has a checksum.
fn has_outer_checksum(frame: &[u8], seen: &Seen) -> bool {
    let headers = seen.headers.as_slice().iter();
    headers
        .filter(|header| header.kind == HeaderKind::Udp)
        .map(|header| usize::from(header.offset))
        .any(|at| at != seen.layer4_at && frame.get(at + 6..at + 8) != Some(&[0; 2]))
}

/// Whether the checksums of a tunnel's own headers are right, where they have one.
fn outer_checksums(frame: &[u8], headers: &Headers, transport_at: usize) -> Result<(), Reason> {
    for pair in headers.as_slice().windows(2) {
        let &[ip, udp] = pair else { continue };
        let at = usize::from(udp.offset);
        if udp.kind == HeaderKind::Udp && at != transport_at {
            outer_checksum(frame, ip, at)?;
        }
        if udp.kind == HeaderKind::Gre {
            gre_checksum(frame, at, ends_at(frame, ip))?;
        }
    }
    Ok(())
}

/// Where a packet ends by its IP header.
fn ends_at(frame: &[u8], ip: Header) -> usize {
    let at = usize::from(ip.offset);
    let (field, header_len) = match ip.kind {
        HeaderKind::Ipv4 => (at + 2, 0),
        _ => (at + 4, 40),
    };
    let len = chunk::<2>(frame, field).map_or(0, |bytes| u16::from_be_bytes(*bytes));
    at + header_len + usize::from(len)
}

fn outer_checksum(frame: &[u8], ip: Header, at: usize) -> Result<(), Reason> {
    let header = chunk::<8>(frame, at)?;
    // Linux sums all that the IP packet holds, whatever the UDP header says its length is.
    let segment = frame.get(at..ends_at(frame, ip)).unwrap_or_default();
    let len = segment.len() as u32;
    let ip_at = usize::from(ip.offset);
    let pseudo = match ip.kind {
        HeaderKind::Ipv4 => {
            let [a, b, c, d, e, f, g, h] = *chunk::<8>(frame, ip_at + 12)?;
            pseudo_header_v4([a, b, c, d], [e, f, g, h], 17, len)
        }
        _ => {
            let (source, destination) = (chunk(frame, ip_at + 8)?, chunk(frame, ip_at + 24)?);
            pseudo_header_v6(*source, *destination, 17, len)
        }
    };
    if header[6..] == [0; 2] || fold(pseudo + sum(segment)) == 0xffff {
        return Ok(());
    }
    Err(Reason::Checksum)
}

/// GRE: a key, and a checksum. A sequence number differs in every packet.
fn gre(frame: &[u8], at: usize) -> Result<(), Reason> {
    const CHECKSUM: u8 = 0x80;
    const KEY: u8 = 0x20;
    let header = chunk::<2>(frame, at)?;
    if header[0] & !(KEY | CHECKSUM) != 0 || header[1] != 0 {
        return Err(Reason::Tunnel);
    }
    Ok(())
}

/// Whether the checksum of a GRE packet that ends at `end` is right, if it has one (RFC 2784).
fn gre_checksum(frame: &[u8], at: usize, end: usize) -> Result<(), Reason> {
    let packet = frame.get(at..end).unwrap_or_default();
    let has_one = packet.first().is_some_and(|flags| flags & 0x80 != 0);
    if has_one && fold(sum(packet)) != 0xffff {
        return Err(Reason::Checksum);
    }
    Ok(())
}

fn chunk<const N: usize>(frame: &[u8], at: usize) -> Result<&[u8; N], Reason> {
    frame
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .ok_or(Reason::Truncated)
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
        // Where a tunnel ends, all datagrams are the tunnel's (`udp_gro_receive` asks the socket):
        // one that is none of its packets is merged with nothing.
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

/// A UDP length other than that of the bytes present, whatever the IP header says, means padding
/// or malice to Linux: the datagram passes, and leaves alone what is held. So does one without
/// checksum.
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

/// The hash of a frame's flow, whatever forbids to merge it. In a tunnel that the profile does not
/// enter there is no flow that it knows.
pub(crate) fn flow_of(profile: &Profile, how: Inspection, frame: &[u8]) -> Option<u64> {
    let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let mut headers = Headers::default();
    let tunnels = profile.tunnels.in_udp();
    let packet = walk_headers_entering(how.link, frame, wire_len, tunnels, &mut headers).ok()?;
    link_and_tunnel(profile, &packet, &headers).ok()?;
    let has_ports = matches!(packet.transport, Transport::Tcp(_) | Transport::Udp(_));
    has_ports.then(|| hash(frame, &packet.ip, how.seed))
}

/// Of addresses and ports. A multiplication of two 64-bit words folded, as in wyhash; the seed
/// keeps outsiders from choosing who collides.
fn hash(frame: &[u8], ip: &Ip, seed: u64) -> u64 {
    let ports = chunk::<4>(frame, ip.payload_offset).map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    if ip.version == 4 {
        let addresses = chunk::<8>(frame, ip.offset + 12);
        return hash_v4(addresses.unwrap_or(&[0; 8]), ports, seed);
    }
    let addresses = chunk::<32>(frame, ip.offset + 8);
    hash_v6(addresses.unwrap_or(&[0; 32]), ports, seed)
}

#[inline(always)]
pub(crate) fn hash_v4(addresses: &[u8; 8], ports: u32, seed: u64) -> u64 {
    mix(
        u64::from_ne_bytes(*addresses) ^ seed,
        u64::from(ports) ^ SALT,
    )
}

#[inline(always)]
pub(crate) fn hash_v6(addresses: &[u8; 32], ports: u32, seed: u64) -> u64 {
    let (words, _) = addresses.as_chunks::<8>();
    let mut state = u64::from(ports) ^ seed;
    for word in words {
        // Not word times state: a word of zeros, as ::1 has, would wipe out all before it.
        state = mix(state ^ u64::from_ne_bytes(*word), SALT);
    }
    state
}

/// An odd number without pattern: the golden ratio's fraction.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b | 1);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Whether the profile looks at checksums of such a frame.
fn verifies(profile: &Profile, seen: &Seen) -> bool {
    let rule = match seen.layer4 {
        Layer4::Tcp(_) => Some(profile.tcp.checksum),
        Layer4::Udp => profile.udp.map(|udp| udp.checksum),
    };
    rule == Some(Checksum::Required)
}

fn checksum(profile: &Profile, frame: &[u8], packet: &Packet, seen: &Seen) -> Result<(), Reason> {
    let required = verifies(profile, seen);
    // A datagram without checksum has nothing to verify.
    let none = matches!(seen.layer4, Layer4::Udp)
        && frame.get(seen.layer4_at + 6..seen.layer4_at + 8) == Some(&[0; 2]);
    if required && !none && !is_right(frame, &packet.ip) {
        return Err(Reason::Checksum);
    }
    if required && seen.tunneled {
        outer_checksums(frame, &seen.headers, seen.layer4_at)?;
    }
    Ok(())
}

/// Whether the transport checksum over the IP payload is right.
fn is_right(frame: &[u8], ip: &Ip) -> bool {
    let end = ip.payload_offset.saturating_add(ip.payload_len as usize);
    let Some(segment) = frame.get(ip.payload_offset..end) else {
        return false;
    };
    fold(pseudo_header(ip, ip.payload_len) + sum(segment)) == 0xffff
}

fn pseudo_header(ip: &Ip, len: u32) -> u64 {
    let [a, b, c, d, ..] = ip.source.0;
    let [e, f, g, h, ..] = ip.destination.0;
    if ip.version == 4 {
        return pseudo_header_v4([a, b, c, d], [e, f, g, h], ip.protocol, len);
    }
    pseudo_header_v6(ip.source.0, ip.destination.0, ip.protocol, len)
}

/// The flags of a TCP header in place.
#[inline(always)]
pub(crate) fn flags_at(header: &[u8], at: usize) -> u16 {
    let high = header.get(at + 12).copied().unwrap_or(0);
    let low = header.get(at + 13).copied().unwrap_or(0);
    u16::from_be_bytes([high, low]) & Flags::ALL
}
