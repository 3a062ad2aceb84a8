//! Link types, VLAN tags, PPP and PPPoE.

use crate::build::{
    IPV4, IPV6, as_tcp, ethernet, found, ipv4, ipv6, join, layers, refused, tcp, whole,
};
use coalescope_wire::{LinkType, Sent, StopReason, TunnelKind};

/// The payload length of the TCP segment that the walk must find.
fn payload(link: LinkType, frame: &[u8]) -> u32 {
    as_tcp(&whole(link, frame).expect("an IP packet")).payload_len
}

#[test]
fn link_types_keep_their_numbers() {
    for number in [0, 1, 9, 50, 51, 101, 108, 113, 228, 229, 276, 127] {
        assert_eq!(LinkType::from_dlt(number).dlt(), number);
    }
    assert_eq!(LinkType::from_dlt(12), LinkType::Raw);
    assert_eq!(LinkType::from_dlt(14), LinkType::Raw);
    assert_eq!(LinkType::LinuxSll2.name(), "LINUX_SLL2");
    assert_eq!(LinkType::Other(127).name(), "OTHER");
}

#[test]
fn unknown_link_is_refused() {
    let stop = whole(LinkType::Other(127), &[0; 64]).unwrap_err();
    assert_eq!((stop.offset, stop.reason), (0, StopReason::UnknownLink));
}

#[test]
fn raw_links() {
    let (four, six) = (ipv4(6, &tcp(5)), ipv6(6, &tcp(6)));
    assert_eq!(payload(LinkType::Raw, &four), 5);
    assert_eq!(payload(LinkType::Raw, &six), 6);
    assert_eq!(payload(LinkType::Ipv4, &four), 5);
    assert_eq!(payload(LinkType::Ipv6, &six), 6);
    let wrong = whole(LinkType::Ipv4, &six).unwrap_err();
    assert_eq!(wrong.reason, StopReason::Malformed);
}

#[test]
fn loopback_families_in_either_order() {
    for (family, packet) in [
        (2u32, ipv4(6, &tcp(9))),
        (10, ipv6(6, &tcp(9))),
        (24, ipv6(6, &tcp(9))),
        (28, ipv6(6, &tcp(9))),
        (30, ipv6(6, &tcp(9))),
    ] {
        for order in [family.to_be_bytes(), family.to_le_bytes()] {
            assert_eq!(payload(LinkType::Null, &join(&[&order, &packet])), 9);
            assert_eq!(payload(LinkType::Loop, &join(&[&order, &packet])), 9);
        }
    }
    let appletalk = whole(LinkType::Null, &[16, 0, 0, 0, 0x45]).unwrap_err();
    assert_eq!(appletalk.reason, StopReason::NotIp);
}

fn sll(packet_type: u8, device: u16, protocol: u16, payload: &[u8]) -> Vec<u8> {
    join(&[
        &[0, packet_type],
        &device.to_be_bytes(),
        &[0, 6, 1, 2, 3, 4, 5, 6, 0, 0],
        &protocol.to_be_bytes(),
        payload,
    ])
}

#[test]
fn cooked_capture_says_who_sent() {
    for (packet_type, sent) in [(0, Sent::Inbound), (3, Sent::Inbound), (4, Sent::Outbound)] {
        let frame = sll(packet_type, 1, IPV4, &ipv4(6, &tcp(3)));
        assert_eq!(whole(LinkType::LinuxSll, &frame).unwrap().sent, sent);
    }
    assert_eq!(
        found(&ethernet(IPV4, &ipv4(6, &tcp(0)))).sent,
        Sent::Unknown
    );
}

#[test]
fn cooked_capture_with_vlan() {
    let tagged = join(&[&[0x20, 0x05], &IPV6.to_be_bytes(), &ipv6(6, &tcp(3))]);
    let packet = whole(LinkType::LinuxSll, &sll(4, 1, 0x8100, &tagged)).unwrap();
    assert_eq!((packet.vlans.count, packet.vlans.tci[0]), (1, 0x2005));
}

#[test]
fn cooked_capture_of_netlink_is_not_ip() {
    let frame = sll(4, 824, IPV4, &ipv4(6, &tcp(3)));
    let stop = whole(LinkType::LinuxSll, &frame).unwrap_err();
    assert_eq!(stop.reason, StopReason::NotIp);
}

#[test]
fn cooked_capture_2() {
    let header = [
        0x08, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0,
    ];
    let packet = whole(LinkType::LinuxSll2, &join(&[&header, &ipv4(6, &tcp(8))])).unwrap();
    assert_eq!(packet.sent, Sent::Outbound);
    assert_eq!(packet.ip.offset, 20);
    assert_eq!(as_tcp(&packet).payload_len, 8);
}

#[test]
fn ppp_with_and_without_its_fields() {
    let packet = ipv4(6, &tcp(4));
    for lead in [
        &[0xff, 3, 0, 0x21][..],
        &[0, 0x21],
        &[0x21],
        &[0xff, 3, 0x21],
    ] {
        assert_eq!(payload(LinkType::Ppp, &join(&[lead, &packet])), 4);
        assert_eq!(payload(LinkType::PppHdlc, &join(&[lead, &packet])), 4);
    }
    let six = join(&[&[0xff, 3, 0, 0x57], &ipv6(6, &tcp(4))]);
    assert_eq!(payload(LinkType::Ppp, &six), 4);
    let lcp = whole(LinkType::Ppp, &[0xff, 3, 0xc0, 0x21, 1, 1]).unwrap_err();
    assert_eq!(lcp.reason, StopReason::NotIp);
}

#[test]
fn cisco_hdlc() {
    let frame = join(&[&[0x0f, 0, 8, 0], &ipv4(6, &tcp(4))]);
    assert_eq!(payload(LinkType::PppHdlc, &frame), 4);
}

/// A PPPoE session header (session 0x0102) and PPP with IPv4 in it.
fn pppoe(packet: &[u8]) -> Vec<u8> {
    let len = (packet.len() as u16 + 2).to_be_bytes();
    join(&[&[0x11, 0, 1, 2], &len, &[0, 0x21], packet])
}

#[test]
fn pppoe_session() {
    let session = pppoe(&ipv4(6, &tcp(4)));
    let packet = found(&ethernet(0x8864, &session));
    assert_eq!(layers(&packet), [(TunnelKind::Pppoe, 0x0102)]);
    assert_eq!(payload(LinkType::PppEther, &session), 4);
    let discovery = [0x11, 9, 0, 0, 0, 0];
    assert_eq!(refused(&ethernet(0x8864, &discovery)), StopReason::NotIp);
}

#[test]
fn pppoe_length_excludes_padding_when_ip_has_none() {
    let mut packet = ipv4(6, &tcp(4));
    packet[2..4].fill(0);
    let frame = join(&[&ethernet(0x8864, &pppoe(&packet)), &[0; 10]]);
    assert_eq!(as_tcp(&found(&frame)).payload_len, 4);
}

/// Receivers cut the packet to PPPoE's length; an IP header that says more has padding counted in.
#[test]
fn ip_ends_where_pppoe_does() {
    for beyond in 0..=6 {
        let mut packet = ipv4(6, &tcp(4));
        packet[3] += beyond;
        let frame = join(&[&ethernet(0x8864, &pppoe(&packet)), &[0; 6]]);
        assert_eq!(as_tcp(&found(&frame)).payload_len, 4, "{beyond} beyond");
    }
}

#[test]
fn vlan_stacks() {
    let inner = join(&[&[0, 7], &IPV4.to_be_bytes(), &ipv4(6, &tcp(2))]);
    let middle = join(&[&[0, 6, 0x81, 0], &inner]);
    let outer = join(&[&[0, 5, 0x91, 0], &middle]);
    let packet = found(&ethernet(0x88a8, &outer));
    assert_eq!((packet.vlans.count, packet.vlans.tci), (3, [5, 6, 7, 0]));
    assert_eq!(packet.ip.offset, 26);
}

#[test]
fn endless_tags_are_too_deep() {
    let tags = [0, 1, 0x81, 0].repeat(300);
    assert_eq!(refused(&ethernet(0x8100, &tags)), StopReason::TooDeep);
}

#[test]
fn five_tags_are_counted() {
    let tags = [0, 1, 0x81, 0].repeat(4);
    let last = join(&[&tags, &[0, 1], &IPV4.to_be_bytes(), &ipv4(6, &tcp(2))]);
    assert_eq!(found(&ethernet(0x8100, &last)).vlans.count, 5);
}

#[test]
fn other_ether_types_are_not_ip() {
    for ether_type in [0x0806, 0x88cc, 0x0026, 0x88e5] {
        let stop = whole(LinkType::Ethernet, &ethernet(ether_type, &[0xaa; 64])).unwrap_err();
        assert_eq!((stop.offset, stop.reason), (14, StopReason::NotIp));
    }
}

#[test]
fn short_frames_are_truncated() {
    let frame = ethernet(IPV4, &ipv4(6, &tcp(0)));
    for len in 0..frame.len() {
        assert_eq!(refused(&frame[..len]), StopReason::Truncated, "at {len}");
    }
}
