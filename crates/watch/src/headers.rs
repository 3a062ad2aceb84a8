//! Addresses and ports of a dropped frame, from its first bytes.

use std::net::{Ipv4Addr, Ipv6Addr};

use coalescope_wire::{Address, Ip, LinkType, Packet, Transport, walk};

use crate::facts::Flow;

/// The flow of a frame whose network header begins with these bytes; none if that is not IP. Of a tunnel, the innermost.
pub(crate) fn flow(headers: &[u8]) -> Option<Flow> {
    let packet = walk(LinkType::Raw, headers, u32::MAX).ok()?;
    let (source_port, destination_port) = match ports(&packet) {
        Some((source, destination)) => (Some(source), Some(destination)),
        None => (None, None),
    };
    Some(Flow {
        protocol: protocol(packet.ip.protocol),
        source: address(&packet.ip, packet.ip.source),
        source_port,
        destination: address(&packet.ip, packet.ip.destination),
        destination_port,
    })
}

fn ports(packet: &Packet) -> Option<(u16, u16)> {
    match &packet.transport {
        Transport::Tcp(tcp) => Some((tcp.source_port, tcp.destination_port)),
        Transport::Udp(udp) => Some((udp.source_port, udp.destination_port)),
        _ => None,
    }
}

fn address(ip: &Ip, Address(bytes): Address) -> String {
    match ip.version {
        4 => {
            let [a, b, c, d, ..] = bytes;
            Ipv4Addr::new(a, b, c, d).to_string()
        }
        _ => Ipv6Addr::from(bytes).to_string(),
    }
}

/// IANA's numbers of protocols, of which two have names here.
fn protocol(number: u8) -> String {
    match number {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        other => other.to_string(),
    }
}
