//! Addresses and ports of a dropped frame, from its first bytes.

use std::net::{Ipv4Addr, Ipv6Addr};

use coalescope_wire::{Address, LinkType, Packet, Transport, walk};

use crate::facts::{Flow, Tunnel};

/// The flow of a frame whose network header begins with these bytes; none if it is not IP. In a
/// tunnel, the inner flow.
pub(crate) fn flow(headers: &[u8]) -> Option<Flow> {
    let packet = walk(LinkType::Raw, headers, u32::MAX).ok()?;
    let (source_port, destination_port) = match ports(&packet) {
        Some((source, destination)) => (Some(source), Some(destination)),
        None => (None, None),
    };
    let address = |address: Address| address.of_version(packet.ip.version).to_string();
    Some(Flow {
        protocol: protocol(packet.ip.protocol),
        source: address(packet.ip.source),
        source_port,
        destination: address(packet.ip.destination),
        destination_port,
        tunnel: tunnel(headers, &packet),
    })
}

/// The tunnel around the frame. A capture filter has to match the addresses of the tunnel's ends.
fn tunnel(headers: &[u8], packet: &Packet) -> Option<Tunnel> {
    let name = packet.tunnels.layers[0]?.to_string();
    let (source, destination) = ends(headers)?;
    Some(Tunnel {
        name,
        source,
        destination,
    })
}

/// Addresses of the first IP header.
fn ends(headers: &[u8]) -> Option<(String, String)> {
    let four = |at: usize| -> Option<String> {
        let bytes: [u8; 4] = headers.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(bytes).to_string())
    };
    let six = |at: usize| -> Option<String> {
        let bytes: [u8; 16] = headers.get(at..at + 16)?.try_into().ok()?;
        Some(Ipv6Addr::from(bytes).to_string())
    };
    match headers.first()? >> 4 {
        4 => Some((four(12)?, four(16)?)),
        6 => Some((six(8)?, six(24)?)),
        _ => None,
    }
}

fn ports(packet: &Packet) -> Option<(u16, u16)> {
    match &packet.transport {
        Transport::Tcp(tcp) => Some((tcp.source_port, tcp.destination_port)),
        Transport::Udp(udp) => Some((udp.source_port, udp.destination_port)),
        _ => None,
    }
}

/// A protocol's name, or its IANA number.
fn protocol(number: u8) -> String {
    match number {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        other => other.to_string(),
    }
}
