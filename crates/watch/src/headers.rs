//! Addresses and ports of a dropped frame, from its first bytes.

use coalescope_wire::{Address, LinkType, Packet, Transport, walk};

use crate::facts::Flow;

/// The flow of a frame whose network header begins with these bytes; none if that is not IP. Of a tunnel, the innermost.
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
    })
}

fn ports(packet: &Packet) -> Option<(u16, u16)> {
    match &packet.transport {
        Transport::Tcp(tcp) => Some((tcp.source_port, tcp.destination_port)),
        Transport::Udp(udp) => Some((udp.source_port, udp.destination_port)),
        _ => None,
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
