//! The bytes of a packet, as a capture shows them.

use std::net::{IpAddr, Ipv4Addr};

use crate::checksum::Sum;
use crate::packet::{Checksum, Content, ETHERNET, Options, Packet, Tcp, TooBig};
use crate::path::Wrap;
use crate::side::Side;

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Destination options (RFC 8200, 4.6).
const DESTINATION: u8 = 60;
/// MPTCP's number among TCP's options (RFC 8684).
const MPTCP: u8 = 30;
const VXLAN_PORT: u16 = 4789;
const GENEVE_PORT: u16 = 6081;
/// GRE's number as an IP protocol.
const GRE: u8 = 47;
/// An Ethernet frame as payload (RFC 8926 section 3.4, RFC 1701's list).
const BRIDGED: u16 = 0x6558;
/// The network identifier of every tunnel here.
const VNI: u32 = 42;
/// The tunnel's ends, from the documentation range of RFC 5737.
const UNDERLAY: [Ipv4Addr; 2] = [
    Ipv4Addr::new(198, 51, 100, 1),
    Ipv4Addr::new(198, 51, 100, 2),
];

/// The whole frame; `payload` is the packet's part of its stream.
pub(crate) fn frame(packet: &Packet, payload: &[u8], vlan: Option<u16>) -> Vec<u8> {
    let mut out = Vec::with_capacity(packet.frame_len() + 4);
    let tag: Vec<(u16, u16)> = vlan.map(|tag| (VLAN, tag)).into_iter().collect();
    match packet.wrap {
        None => ethernet(&mut out, packet, &tag),
        Some(Wrap::Vlan(tag)) => ethernet(&mut out, packet, &[(VLAN, tag)]),
        Some(Wrap::QinQ(outer, inner)) => {
            ethernet(&mut out, packet, &[(SERVICE_VLAN, outer), (VLAN, inner)]);
        }
        Some(Wrap::Gre) => gre(&mut out, packet, &tag),
        Some(Wrap::Vxlan) => {
            let header = [0x0800_0000, VNI << 8];
            in_udp(&mut out, packet, &tag, VXLAN_PORT, header);
        }
        Some(Wrap::Geneve) => {
            let header = [u32::from(BRIDGED), VNI << 8];
            in_udp(&mut out, packet, &tag, GENEVE_PORT, header);
        }
    }
    out.extend_from_slice(&ip(packet, payload));
    out
}

fn mac(side: Side, routers: u8) -> [u8; 6] {
    // The lowest bits of the first byte: locally administered, unicast.
    [0x02, 0, 0, 0, routers, side.index() as u8 + 1]
}

/// EtherType of a tag, and of a service tag in front of it.
const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88a8;

fn ethernet(out: &mut Vec<u8>, packet: &Packet, tags: &[(u16, u16)]) {
    out.extend_from_slice(&mac(packet.toward, packet.routers));
    out.extend_from_slice(&mac(packet.toward.other(), packet.routers));
    for (kind, tag) in tags {
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&(tag & 0x0fff).to_be_bytes());
    }
    out.extend_from_slice(&ether_type(packet).to_be_bytes());
}

fn ether_type(packet: &Packet) -> u16 {
    if packet.source.0.is_ipv4() {
        0x0800
    } else {
        0x86dd
    }
}

/// Ethernet, IPv4 and GRE headers in front of an IP packet (RFC 2784 section 2).
fn gre(out: &mut Vec<u8>, packet: &Packet, tags: &[(u16, u16)]) {
    underlay(out, packet, tags, GRE, 4 + packet.ip_len());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&ether_type(packet).to_be_bytes());
}

/// Ethernet, IPv4, UDP and VXLAN's or Geneve's header in front of a frame (RFC 7348 section 5, RFC
/// 8926 section 3).
fn in_udp(out: &mut Vec<u8>, packet: &Packet, tags: &[(u16, u16)], port: u16, header: [u32; 2]) {
    let inner = ETHERNET + packet.ip_len();
    underlay(out, packet, tags, UDP, 16 + inner);
    // The source port carries entropy of the inner flow; a checksum of zero is what RFC 7348 asks
    // for over IPv4.
    let entropy = 49_152 + (packet.flow as u16 & 0x3fff);
    for field in [entropy, port, length16(16 + inner), 0] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    for word in header {
        out.extend_from_slice(&word.to_be_bytes());
    }
    ethernet(out, packet, &[]);
}

/// Ethernet and IPv4 between a tunnel's ends.
fn underlay(out: &mut Vec<u8>, packet: &Packet, tags: &[(u16, u16)], protocol: u8, len: usize) {
    let mut shell = packet.clone();
    shell.source.0 = UNDERLAY[packet.toward.other().index()].into();
    shell.target.0 = UNDERLAY[packet.toward.index()].into();
    shell.fragment = None;
    ethernet(out, &shell, tags);
    ipv4_header(out, &shell, protocol, length16(20 + len));
}

/// A length for a 16-bit field; larger ones can't be written and show as 0, as big TSO frames do.
fn length16(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(0)
}

/// The IP packet's bytes.
pub(crate) fn ip(packet: &Packet, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(packet.ip_len());
    let protocol = match (&packet.content, packet.source.0.is_ipv4()) {
        (Content::Tcp(_), _) => TCP,
        (Content::TooBig(_), true) => ICMP,
        (Content::TooBig(_), false) => ICMPV6,
    };
    let len = if packet.zero_length {
        0
    } else {
        length16(packet.ip_len())
    };
    if packet.source.0.is_ipv4() {
        ipv4_header(&mut out, packet, protocol, len);
    } else {
        ipv6_header(&mut out, packet, protocol);
    }
    let body = body(packet, payload);
    match packet.fragment {
        Some(part) => out.extend_from_slice(&body[part.offset..part.offset + part.len]),
        None => out.extend_from_slice(&body),
    }
    out
}

fn body(packet: &Packet, payload: &[u8]) -> Vec<u8> {
    match &packet.content {
        Content::Tcp(tcp) => segment(packet, tcp, payload),
        Content::TooBig(icmp) => too_big(packet, icmp),
    }
}

fn ipv4_header(out: &mut Vec<u8>, packet: &Packet, protocol: u8, len: u16) {
    let start = out.len();
    let mut flags: u16 = if packet.dont_fragment { 0x4000 } else { 0 };
    if let Some(part) = packet.fragment {
        flags |= (part.offset / 8) as u16 | if part.more { 0x2000 } else { 0 };
    }
    out.extend_from_slice(&[0x45, packet.ecn]);
    for field in [len, packet.ip_id, flags] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    out.extend_from_slice(&[packet.ttl, protocol, 0, 0]);
    address(out, packet.source.0);
    address(out, packet.target.0);
    let sum = Sum::new().add(&out[start..]).fold();
    out[start + 10..start + 12].copy_from_slice(&(!sum).to_be_bytes());
}

fn ipv6_header(out: &mut Vec<u8>, packet: &Packet, protocol: u8) {
    let len = if packet.zero_length {
        0
    } else {
        length16(packet.ip_payload_len() + packet.ip_header_len() - 40)
    };
    let first = 0x6000_0000_u32 | u32::from(packet.ecn) << 20;
    out.extend_from_slice(&first.to_be_bytes());
    out.extend_from_slice(&len.to_be_bytes());
    let next = if packet.extension {
        DESTINATION
    } else {
        protocol
    };
    out.extend_from_slice(&[next, packet.ttl]);
    address(out, packet.source.0);
    address(out, packet.target.0);
    if packet.extension {
        // Four bytes of padding (RFC 8200, 4.2 and 4.6).
        out.extend_from_slice(&[protocol, 0, 1, 4, 0, 0, 0, 0]);
    }
}

fn address(out: &mut Vec<u8>, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
        IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
    }
}

/// The sum of the pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1).
fn pseudo(packet: &Packet, protocol: u8, len: usize) -> Sum {
    let mut bytes = Vec::with_capacity(40);
    address(&mut bytes, packet.source.0);
    address(&mut bytes, packet.target.0);
    Sum::new()
        .add(&bytes)
        .word(u64::from(protocol))
        .word(len as u64)
}

fn segment(packet: &Packet, tcp: &Tcp, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(tcp.header_len() + payload.len());
    out.extend_from_slice(&packet.source.1.to_be_bytes());
    out.extend_from_slice(&packet.target.1.to_be_bytes());
    out.extend_from_slice(&tcp.seq.to_be_bytes());
    out.extend_from_slice(&tcp.ack.to_be_bytes());
    out.extend_from_slice(&[(tcp.header_len() / 4 * 16) as u8, tcp.flags]);
    out.extend_from_slice(&tcp.window.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    options(&mut out, &tcp.options);
    out.extend_from_slice(payload);
    let sum = pseudo(packet, TCP, out.len());
    let field = match tcp.checksum {
        Checksum::Full if packet.damaged => sum.add(&out).fold(),
        Checksum::Full => !sum.add(&out).fold(),
        Checksum::Partial => sum.fold(),
    };
    out[16..18].copy_from_slice(&field.to_be_bytes());
    out
}

/// In the order Linux writes them: MSS, SACK-permitted, timestamps, window scale, SACK blocks.
fn options(out: &mut Vec<u8>, options: &Options) {
    if let Some(mss) = options.mss {
        out.extend_from_slice(&[2, 4]);
        out.extend_from_slice(&mss.to_be_bytes());
    }
    match (options.sack_permitted, options.timestamps.is_some()) {
        (true, _) => out.extend_from_slice(&[4, 2]),
        (false, true) => out.extend_from_slice(&[1, 1]),
        (false, false) => {}
    }
    if let Some((value, echo)) = options.timestamps {
        out.extend_from_slice(&[8, 10]);
        out.extend_from_slice(&value.to_be_bytes());
        out.extend_from_slice(&echo.to_be_bytes());
    } else if options.sack_permitted {
        out.extend_from_slice(&[1, 1]);
    }
    if let Some(shift) = options.window_scale {
        out.extend_from_slice(&[1, 3, 3, shift]);
    }
    if options.more > 0 {
        out.extend_from_slice(&[MPTCP, options.more]);
        out.resize(out.len() + usize::from(options.more) - 2, 0x2f);
    }
    if !options.sacks.is_empty() {
        out.extend_from_slice(&[1, 1, 5, (2 + 8 * options.sacks.len()) as u8]);
        for (left, right) in &options.sacks {
            out.extend_from_slice(&left.to_be_bytes());
            out.extend_from_slice(&right.to_be_bytes());
        }
    }
}

/// Type 3 code 4 with the next hop's MTU (RFC 1191 section 4), or ICMPv6 type 2 (RFC 4443 section
/// 3.2).
fn too_big(packet: &Packet, icmp: &TooBig) -> Vec<u8> {
    let v4 = packet.source.0.is_ipv4();
    let mut out = if v4 {
        vec![3, 4, 0, 0]
    } else {
        vec![2, 0, 0, 0]
    };
    out.extend_from_slice(&u32::from(icmp.mtu).to_be_bytes());
    out.extend_from_slice(&icmp.quote);
    let sum = if v4 {
        Sum::new()
    } else {
        pseudo(packet, ICMPV6, out.len())
    };
    let field = !sum.add(&out).fold();
    out[2..4].copy_from_slice(&field.to_be_bytes());
    out
}
