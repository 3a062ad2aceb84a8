//! Packets by hand, from the inside out. Lengths are filled in; checksums are left 0.

use coalescope_wire::{LinkType, Packet, Stop, StopReason, Tcp, Transport, TunnelKind, walk};

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;

/// A TCP header without options, and `payload_len` bytes.
pub(crate) fn tcp(payload_len: usize) -> Vec<u8> {
    let mut bytes = vec![
        0, 80, 0x9c, 0x40, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 0x10, 2, 0, 0, 0, 0, 0,
    ];
    bytes.resize(20 + payload_len, 0xa5);
    bytes
}

/// A TCP header with these options, which must be a multiple of four long, and a payload.
pub(crate) fn tcp_with(options: &[u8], payload_len: usize) -> Vec<u8> {
    let mut bytes = tcp(0);
    bytes[12] = ((20 + options.len()) << 2) as u8;
    bytes.extend(options);
    bytes.resize(bytes.len() + payload_len, 0xa5);
    bytes
}

pub(crate) fn udp(destination: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len()) as u16;
    join(&[
        &[0xc0, 1],
        &destination.to_be_bytes(),
        &len.to_be_bytes(),
        &[0, 0],
        payload,
    ])
}

/// A total length over 65,535 is written as 0.
pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv4_fragment(protocol, 0x4000, payload)
}

pub(crate) fn ipv4_fragment(protocol: u8, field: u16, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(20 + payload.len()).unwrap_or(0);
    join(&[
        &[0x45, 0x02],
        &len.to_be_bytes(),
        &[0x12, 0x34],
        &field.to_be_bytes(),
        &[64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
        payload,
    ])
}

/// A payload length over 65,535 is written as 0.
pub(crate) fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap_or(0);
    join(&[
        &[0x6b, 0x80, 0, 0],
        &len.to_be_bytes(),
        &[protocol, 63],
        &[0x20; 16],
        &[0x30; 16],
        payload,
    ])
}

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    join(&[&[2; 12], &ether_type.to_be_bytes(), payload])
}

/// A VXLAN header with VNI 0x123456.
pub(crate) fn vxlan(frame: &[u8]) -> Vec<u8> {
    join(&[&[8, 0, 0, 0, 0x12, 0x34, 0x56, 0], frame])
}

pub(crate) fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Walks a frame that was captured whole.
pub(crate) fn whole(link: LinkType, frame: &[u8]) -> Result<Packet, Stop> {
    walk(link, frame, frame.len() as u32)
}

/// Walks a whole Ethernet frame that must be found to hold an IP packet.
pub(crate) fn found(frame: &[u8]) -> Packet {
    whole(LinkType::Ethernet, frame).expect("an IP packet")
}

/// Why a whole Ethernet frame is refused.
pub(crate) fn refused(frame: &[u8]) -> StopReason {
    whole(LinkType::Ethernet, frame).expect_err("a stop").reason
}

#[expect(clippy::panic, reason = "a test helper fails by panicking")]
pub(crate) fn as_tcp(packet: &Packet) -> Tcp {
    match packet.transport {
        Transport::Tcp(tcp) => tcp,
        ref other => panic!("not TCP: {other:?}"),
    }
}

/// The tunnel layers as pairs.
pub(crate) fn layers(packet: &Packet) -> Vec<(TunnelKind, u32)> {
    let layers = packet.tunnels.layers.iter().flatten();
    layers.map(|layer| (layer.kind, layer.id)).collect()
}
