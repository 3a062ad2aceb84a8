//! Tunnels.

use crate::build::{
    IPV4, IPV6, as_tcp, ethernet, found, ipv4, ipv6, join, layers, refused, tcp, udp, vxlan,
};
use coalescope_wire::{LengthSource, StopReason, Transport, TunnelKind};

/// An Ethernet frame with IPv4 with this payload.
fn in_ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ethernet(IPV4, &ipv4(protocol, payload))
}

/// An Ethernet frame to put into tunnels.
fn inner() -> Vec<u8> {
    in_ipv4(6, &tcp(100))
}

/// What a frame must be found to hold: the tunnels, and the inner segment of 100 bytes.
#[track_caller]
fn expect(frame: &[u8], tunnels: &[(TunnelKind, u32)]) {
    let packet = found(frame);
    assert_eq!(layers(&packet), tunnels);
    assert_eq!(as_tcp(&packet).payload_len, 100);
}

#[test]
fn vxlan_ports() {
    for port in [4789, 8472, 4790] {
        let frame = in_ipv4(17, &udp(port, &vxlan(&inner())));
        expect(&frame, &[(TunnelKind::Vxlan, 0x12_3456)]);
    }
}

#[test]
fn vxlan_without_its_flag_is_udp() {
    let mut payload = vxlan(&inner());
    payload[0] = 0;
    for port in [4789, 4790] {
        let packet = found(&in_ipv4(17, &udp(port, &payload)));
        assert!(matches!(packet.transport, Transport::Udp(udp) if udp.payload_len == 162));
    }
}

#[test]
fn vxlan_too_short_is_udp() {
    let packet = found(&in_ipv4(17, &udp(4789, &[8, 0, 0])));
    assert!(matches!(packet.transport, Transport::Udp(udp) if udp.payload_len == 3));
}

#[test]
fn vxlan_gpe_payloads() {
    for (next, payload) in [
        (1, ipv4(6, &tcp(100))),
        (2, ipv6(6, &tcp(100))),
        (3, inner()),
    ] {
        let gpe = join(&[&[0x0c, 0, 0, next, 0, 0, 5, 0], &payload]);
        expect(&in_ipv4(17, &udp(4790, &gpe)), &[(TunnelKind::Vxlan, 5)]);
    }
    let nsh = [0x0c, 0, 0, 4, 0, 0, 5, 0];
    assert_eq!(refused(&in_ipv4(17, &udp(4790, &nsh))), StopReason::NotIp);
}

#[test]
fn arp_in_vxlan_is_not_ip() {
    let arp = vxlan(&ethernet(0x0806, &[0; 28]));
    assert_eq!(refused(&in_ipv4(17, &udp(4789, &arp))), StopReason::NotIp);
}

#[test]
fn geneve_with_options() {
    for (ether_type, payload) in [
        (0x6558, inner()),
        (IPV4, ipv4(6, &tcp(100))),
        (IPV6, ipv6(6, &tcp(100))),
    ] {
        let header = join(&[
            &[2, 0],
            &u16::to_be_bytes(ether_type),
            &[0, 1, 0, 0],
            &[9; 8],
        ]);
        let frame = in_ipv4(17, &udp(6081, &join(&[&header, &payload])));
        expect(&frame, &[(TunnelKind::Geneve, 256)]);
    }
}

#[test]
fn geneve_of_another_version_or_with_lying_options_is_udp() {
    for first in [0x40, 0x3f] {
        let packet = found(&in_ipv4(
            17,
            &udp(6081, &[first, 0, 0x65, 0x58, 0, 0, 1, 0]),
        ));
        assert!(matches!(packet.transport, Transport::Udp(_)));
    }
}

#[test]
fn ip_in_ip() {
    let (four, six) = (ipv4(6, &tcp(100)), ipv6(6, &tcp(100)));
    for frame in [
        in_ipv4(4, &four),
        in_ipv4(41, &six),
        ethernet(IPV6, &ipv6(4, &four)),
        ethernet(IPV6, &ipv6(41, &six)),
    ] {
        expect(&frame, &[(TunnelKind::IpInIp, 0)]);
    }
}

#[test]
fn gre_flags() {
    let packet = ipv4(6, &tcp(100));
    for (flags, fields, key) in [
        (0x00, vec![], 0),
        (0x80, vec![0xee; 4], 0),
        (0x20, vec![0, 0, 0, 7], 7),
        (0x10, vec![0xee; 4], 0),
        (0xb0, [[0xee; 4], [0, 0, 0, 7], [0xee; 4]].concat(), 7),
    ] {
        let gre = join(&[&[flags, 0, 8, 0], &fields, &packet]);
        expect(&in_ipv4(47, &gre), &[(TunnelKind::Gre, key)]);
    }
}

#[test]
fn gre_payloads() {
    for (protocol, payload) in [(IPV6, ipv6(6, &tcp(100))), (0x6558, inner())] {
        let gre = join(&[&[0, 0], &u16::to_be_bytes(protocol), &payload]);
        expect(&in_ipv4(47, &gre), &[(TunnelKind::Gre, 0)]);
    }
    let keepalive = [0, 0, 0, 0];
    assert_eq!(refused(&in_ipv4(47, &keepalive)), StopReason::NotIp);
    let routed = [0x40, 0, 8, 0, 0, 0, 0, 0];
    assert_eq!(refused(&in_ipv4(47, &routed)), StopReason::NotIp);
}

#[test]
fn gre_with_mpls() {
    let gre = join(&[&[0, 0, 0x88, 0x47], &label(17, true), &ipv4(6, &tcp(100))]);
    let tunnels = [(TunnelKind::Gre, 0), (TunnelKind::Mpls, 17)];
    expect(&in_ipv4(47, &gre), &tunnels);
}

#[test]
fn pptp() {
    let header = [0x30, 0x81, 0x88, 0x0b, 0, 144, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2];
    let gre = join(&[&header, &[0xff, 3, 0, 0x21], &ipv4(6, &tcp(100))]);
    expect(&in_ipv4(47, &gre), &[(TunnelKind::Gre, 9)]);
    let ack = [0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 9, 0, 0, 0, 2];
    assert_eq!(refused(&in_ipv4(47, &ack)), StopReason::NotIp);
}

#[test]
fn erspan_types() {
    let type_1 = join(&[&[0, 0, 0x88, 0xbe], &inner()]);
    expect(&in_ipv4(47, &type_1), &[(TunnelKind::Erspan, 0)]);

    let type_2 = [
        0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 5, 0xfc, 3, 0, 0, 0, 0,
    ];
    let frame = in_ipv4(47, &join(&[&type_2, &inner()]));
    expect(&frame, &[(TunnelKind::Erspan, 3)]);

    let type_3 = [
        0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 5, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let frame = in_ipv4(47, &join(&[&type_3, &inner()]));
    expect(&frame, &[(TunnelKind::Erspan, 4)]);

    let mut with_platform = type_3;
    with_platform[19] = 1;
    let frame = in_ipv4(47, &join(&[&with_platform, &[0xee; 8], &inner()]));
    expect(&frame, &[(TunnelKind::Erspan, 4)]);
}

/// A label stack entry.
fn label(value: u32, bottom: bool) -> [u8; 4] {
    (value << 12 | u32::from(bottom) << 8 | 64).to_be_bytes()
}

#[test]
fn mpls_with_ip() {
    let stack = [label(16, false), label(99, true)].concat();
    for payload in [ipv4(6, &tcp(100)), ipv6(6, &tcp(100))] {
        for ether_type in [0x8847, 0x8848] {
            let frame = ethernet(ether_type, &join(&[&stack, &payload]));
            expect(&frame, &[(TunnelKind::Mpls, 99)]);
        }
    }
}

#[test]
fn mpls_pseudowires() {
    let tunnels = [(TunnelKind::Mpls, 99)];
    let (bare, mut zeros) = (inner(), inner());
    zeros[..6].copy_from_slice(&[0, 0, 0x5e, 0, 1, 1]);
    for payload in [&bare, &zeros] {
        for control in [&[][..], &[0, 0, 0, 1]] {
            let frame = join(&[&label(99, true), control, payload]);
            expect(&ethernet(0x8847, &frame), &tunnels);
        }
    }
}

#[test]
fn endless_labels_are_too_deep() {
    let labels = label(3, false).repeat(400);
    assert_eq!(refused(&ethernet(0x8847, &labels)), StopReason::TooDeep);
}

#[test]
fn eight_ip_levels_at_most() {
    let mut packet = ipv4(6, &tcp(100));
    for _ in 0..7 {
        packet = ipv4(4, &packet);
    }
    let deepest = found(&ethernet(IPV4, &packet));
    assert_eq!(
        (deepest.tunnels.count, as_tcp(&deepest).payload_len),
        (7, 100)
    );
    let too_deep = ethernet(IPV4, &ipv4(4, &packet));
    assert_eq!(refused(&too_deep), StopReason::TooDeep);
}

/// Sets the inner IPv4 total length of a tunnelled frame to 0, as TSO leaves it.
fn without_inner_length(mut frame: Vec<u8>) -> Vec<u8> {
    let offset = found(&frame).ip.offset;
    frame[offset + 2..offset + 4].fill(0);
    frame
}

#[test]
fn inner_length_of_zero_ends_with_the_outer_payload() {
    let tunnelled = in_ipv4(17, &udp(4789, &vxlan(&inner())));
    let padded = join(&[&without_inner_length(tunnelled), &[0; 8]]);
    let packet = found(&padded);
    assert_eq!(packet.ip.length_source, LengthSource::Frame);
    assert_eq!(as_tcp(&packet).payload_len, 100);
}

#[test]
fn both_lengths_zero_end_with_the_frame() {
    let big = ethernet(IPV4, &ipv4(6, &tcp(80_000)));
    let frame = in_ipv4(17, &udp(4789, &vxlan(&big)));
    let packet = found(&frame);
    assert_eq!(packet.ip.length_source, LengthSource::Frame);
    assert_eq!(as_tcp(&packet).payload_len, 80_000);
    let cut = coalescope_wire::walk(
        coalescope_wire::LinkType::Ethernet,
        &frame[..128],
        frame.len() as u32,
    );
    assert_eq!(as_tcp(&cut.unwrap()).payload_len, 80_000);
}

#[test]
fn an_inner_header_beyond_the_outer_payload_is_not_read() {
    let mut frame = in_ipv4(4, &ipv4(6, &tcp(100)));
    frame[16..18].copy_from_slice(&30u16.to_be_bytes());
    assert_eq!(refused(&frame), StopReason::Truncated);
}
