//! Headers that are rare in real traffic, and those that only a broken or hostile sender makes.

use super::chance::Chance;
use super::headers;
use crate::craft::{Encapsulation, Ip, Ipv4, Segment, Tcp, Transport, flags};

/// Length of an Ethernet header and of a VLAN tag.
const ETHERNET: usize = 14;
const TAG: usize = 4;
/// Shortest frame on a wire, without its checksum (IEEE 802.3).
const SHORTEST_ON_WIRE: usize = 60;
/// IPv6 extension headers (RFC 4302, RFC 8200).
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;

/// Gives a flow's first frame something rare.
pub(super) fn template(chance: &mut Chance, template: &mut Segment) {
    match chance.below(6) {
        0 => extensions(chance, &mut template.ip),
        1 => match template.tunnels.first_mut() {
            Some(tunnel) => extensions(chance, &mut tunnel.outer),
            None => extensions(chance, &mut template.ip),
        },
        2 => pad(template),
        _ => match &mut template.transport {
            Transport::Tcp(header) => tcp(chance, header),
            Transport::Udp(header) => header.destination = chance.pick([53, 4500, 4789, 6081]),
        },
    }
}

/// A chain of extension headers: many, long ones, and AH, which looks like one.
fn extensions(chance: &mut Chance, ip: &mut Ip) {
    let Ip::V6(ip) = ip else { return };
    for _ in 0..chance.between(1, 4) {
        let extension = match chance.below(8) {
            0 => (AUTHENTICATION, [&[2][..], &[0; 14]].concat()),
            1 => (DESTINATION_OPTIONS, options(chance.between(1, 4) as u8)),
            _ => headers::extension(chance),
        };
        ip.extensions.push(extension);
    }
}

/// Destination options: one PadN option that fills so many units of 8 bytes.
fn options(units: u8) -> Vec<u8> {
    let len = usize::from(units) * 8 + 4;
    [&[units, 1, len as u8][..], &vec![0; len]].concat()
}

/// Ethernet padding, as a network card adds it to short frames.
fn pad(template: &mut Segment) {
    template.padding = SHORTEST_ON_WIRE.saturating_sub(template.frame().len());
}

/// Flags in all combinations, reserved bits, and options up to the 40 bytes that fit.
fn tcp(chance: &mut Chance, tcp: &mut Tcp) {
    match chance.below(4) {
        // AccECN counts with AE, CWR and ECE (RFC 9768).
        0 => tcp.flags ^= chance.pick([flags::AE, flags::CWR, flags::ECE, 0]) | flags::CWR,
        1 => tcp.flags = chance.any() as u16 & 0xfff,
        2 => tcp.flags = flags::SYN | chance.pick([0, flags::ACK, flags::ECE | flags::CWR]),
        _ => {}
    }
    if chance.once_in(2) {
        tcp.options = tcp_options(chance);
    }
}

/// Fast open (RFC 7413), MD5 (RFC 2385), multipath (RFC 8684), AccECN (RFC 9768), a SYN's, many of
/// them, and lengths that are none.
fn tcp_options(chance: &mut Chance) -> Vec<u8> {
    match chance.below(7) {
        0 => vec![34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1],
        1 => [&[1, 1, 19, 18][..], &[chance.any() as u8; 16]].concat(),
        2 => [&[30, 20][..], &[chance.any() as u8; 18]].concat(),
        3 => vec![172, 11, 0, 0, 1, 0, 0, 2, 0, 0, 3, 1],
        4 => vec![2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 1, 1],
        5 => [&[1; 36][..], &[8, 10, 0, 0]].concat(),
        _ => vec![8, chance.any() as u8, 0, 0],
    }
}

/// The position of a byte that is changed in all frames of the flow, and its bits: in the header
/// behind the tunnel's outer IP header, or in the inner packet.
pub(super) fn change(chance: &mut Chance, template: &Segment) -> Option<(usize, u8)> {
    let tunnel = template.tunnels.first()?;
    let ip = match &tunnel.outer {
        Ip::V4(ip) => 20 + ip.options.len(),
        Ip::V6(ip) => {
            40 + ip
                .extensions
                .iter()
                .map(|(_, rest)| rest.len() + 1)
                .sum::<usize>()
        }
    };
    let udp = match tunnel.encapsulation {
        Encapsulation::Vxlan { .. } | Encapsulation::Geneve { .. } => 8,
        _ => 0,
    };
    let at = ETHERNET + template.tags.len() * TAG + ip + udp;
    Some((at + chance.below(24), 1 << chance.below(8)))
}

/// A frame of no flow.
pub(super) fn bystander(chance: &mut Chance) -> Vec<u8> {
    let mut frame = Segment::v4(Ipv4 {
        source: [192, 0, 2, chance.below(4) as u8],
        destination: [198, 51, 100, chance.below(4) as u8],
        ..Ipv4::default()
    });
    frame.payload = vec![0x42; chance.between(8, 100)];
    let mut bytes = frame.frame();
    match chance.below(3) {
        // EtherTypes ARP, EAPOL, LLDP, and a length instead of a type.
        0 => bytes[12..14].copy_from_slice(&chance.pick([
            [8, 6],
            [0x88, 0x8e],
            [0x88, 0xcc],
            [0, 40],
        ])),
        // ICMP, IGMP, ESP, AH, SCTP, UDP-Lite, with the IP header's checksum adjusted.
        1 => protocol(&mut bytes, chance.pick([1, 2, 50, 51, 132, 136])),
        // GRE or IP in IP, with contents that are neither.
        _ => protocol(&mut bytes, chance.pick([47, 4, 137])),
    }
    bytes
}

/// Changes the protocol and adjusts the header checksum (RFC 1624).
fn protocol(frame: &mut [u8], number: u8) {
    frame[ETHERNET + 9] = number;
    frame[ETHERNET + 10..ETHERNET + 12].fill(0);
    let sum = crate::checksum::internet_checksum(&[&frame[ETHERNET..ETHERNET + 20]]);
    frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_be_bytes());
}
