//! What the walk does not look into is named.

use crate::build::{IPV4, IPV6, ethernet, ipv4, ipv6, join, tcp, udp, vxlan, whole};
use coalescope_wire::{LinkType, Unread};

fn unread_in(link: LinkType, frame: &[u8]) -> Option<Unread> {
    match whole(link, frame) {
        Ok(packet) => Unread::inside(&packet, frame),
        Err(stop) => Unread::behind(stop, link, frame),
    }
}

fn unread(frame: &[u8]) -> Option<Unread> {
    unread_in(LinkType::Ethernet, frame)
}

fn in_udp(port: u16, payload: &[u8]) -> Option<Unread> {
    unread(&ethernet(IPV4, &ipv4(17, &udp(port, payload))))
}

fn inner() -> Vec<u8> {
    ipv4(6, &tcp(100))
}

#[test]
fn protocols_over_ip_are_named() {
    for (protocol, expected) in [
        (50, Some(Unread::Esp)),
        (97, Some(Unread::EtherIp)),
        (115, Some(Unread::L2tp)),
        (89, None),
    ] {
        let payload = [7; 100];
        let (v4, v6) = (ipv4(protocol, &payload), ipv6(protocol, &payload));
        assert_eq!(unread(&ethernet(IPV4, &v4)), expected, "{protocol}");
        assert_eq!(unread(&ethernet(IPV6, &v6)), expected, "{protocol}");
        // In a tunnel that is taken off, and in a fragment.
        let tunnelled = udp(4789, &vxlan(&ethernet(IPV4, &v4)));
        assert_eq!(unread(&ethernet(IPV4, &ipv4(17, &tunnelled))), expected);
        let mut fragment = v4;
        fragment[6..8].copy_from_slice(&[0, 90]);
        assert_eq!(unread(&ethernet(IPV4, &fragment)), expected, "{protocol}");
    }
}

#[test]
fn what_lies_between_ethernet_and_ip_is_named() {
    let tagged = |ether_type: u16, payload: &[u8]| {
        ethernet(
            0x8100,
            &join(&[&[0, 5], &ether_type.to_be_bytes(), payload]),
        )
    };
    for (ether_type, expected) in [
        (0x88e5, Some(Unread::Macsec)),
        (0x894f, Some(Unread::Nsh)),
        (0x0806, None),
    ] {
        assert_eq!(unread(&ethernet(ether_type, &[3; 60])), expected);
        assert_eq!(unread(&tagged(ether_type, &[3; 60])), expected);
        let cooked = join(&[&ether_type.to_be_bytes(), &[0; 18], &[3; 60]]);
        assert_eq!(unread_in(LinkType::LinuxSll2, &cooked), expected);
    }
    let snap = |protocol: u16| {
        let header = [0xaa, 0xaa, 3, 0, 0, 0];
        join(&[&header, &protocol.to_be_bytes(), &inner()])
    };
    for (payload, expected) in [
        (snap(IPV4), Some(Unread::Snap)),
        (snap(IPV6), Some(Unread::Snap)),
        (snap(0x2000), None),
        // A spanning tree's message, and a frame that ends too early.
        (vec![0x42, 0x42, 3, 0, 0, 0, 0, 0, 0], None),
        (vec![0xaa, 0xaa], None),
    ] {
        assert_eq!(unread(&ethernet(payload.len() as u16, &payload)), expected);
    }
}

#[test]
fn tunnels_in_udp_are_told_by_their_port_and_how_they_begin() {
    let behind = |header: &[u8]| join(&[header, &inner()]);
    for (port, payload, expected) in [
        (4500, behind(&[1, 2, 3, 4]), Some(Unread::Esp)),
        (4500, behind(&[0; 4]), None),
        (4500, vec![0xff], None),
        (1701, behind(&[0, 2, 0, 1, 0, 1]), Some(Unread::L2tp)),
        (1701, behind(&[0xc8, 2, 0, 1, 0, 1]), None),
        (
            2152,
            behind(&[0x30, 255, 0, 9, 0, 0, 0, 1]),
            Some(Unread::GtpU),
        ),
        (2152, behind(&[0x32, 1, 0, 9, 0, 0, 0, 1]), None),
        (2153, behind(&[0x30, 255, 0, 9, 0, 0, 0, 1]), None),
        (6080, behind(&[0, 4, 0, 0]), Some(Unread::Gue)),
        (6080, behind(&[0x20, 4, 0, 0]), None),
        (5555, inner(), Some(Unread::Fou)),
        (5555, ipv6(6, &tcp(9)), Some(Unread::Fou)),
        (5555, join(&[&inner(), &[0]]), None),
        (53, vec![0x45; 40], None),
    ] {
        assert_eq!(in_udp(port, &payload), expected, "{port} {payload:?}");
    }
}

#[test]
fn what_is_read_is_not_named() {
    assert_eq!(unread(&ethernet(IPV4, &inner())), None);
    assert_eq!(in_udp(4789, &vxlan(&ethernet(IPV4, &inner()))), None);
    for length in 0..60 {
        let frame = ethernet(IPV4, &ipv4(17, &udp(2152, &[0x30; 60])));
        unread(&frame[..length]);
    }
}
