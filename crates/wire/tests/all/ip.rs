//! IP lengths, fragments, extension headers, and what ICMP quotes.

use crate::build::{
    IPV4, IPV6, as_tcp, ethernet, found, ipv4, ipv4_fragment, ipv6, join, refused, tcp, udp, whole,
};
use coalescope_wire::{
    Address, Fragment, LengthSource, LinkType, StopReason, Transport, walk, walk_quoted,
};

#[test]
fn ipv4_fields() {
    let ip = found(&ethernet(IPV4, &ipv4(6, &tcp(5)))).ip;
    assert_eq!((ip.version, ip.offset, ip.payload_offset), (4, 14, 34));
    assert_eq!((ip.ttl, ip.tos, ip.id, ip.protocol), (64, 2, 0x1234, 6));
    assert_eq!(
        (ip.payload_len, ip.length_source),
        (25, LengthSource::Header)
    );
    assert_eq!((ip.dont_fragment, ip.fragment), (true, None));
    let mut source = [0; 16];
    source[..4].copy_from_slice(&[10, 0, 0, 1]);
    assert_eq!(ip.source, Address(source));
}

#[test]
fn ipv6_fields() {
    let ip = found(&ethernet(IPV6, &ipv6(6, &tcp(5)))).ip;
    assert_eq!((ip.version, ip.offset, ip.payload_offset), (6, 14, 54));
    assert_eq!((ip.ttl, ip.tos, ip.id, ip.protocol), (63, 0xb8, 0, 6));
    assert_eq!(
        (ip.payload_len, ip.length_source),
        (25, LengthSource::Header)
    );
    assert!(ip.dont_fragment);
    assert_eq!(ip.source, Address([0x20; 16]));
    assert_eq!(ip.destination, Address([0x30; 16]));
}

#[test]
fn padding_does_not_count() {
    let frame = join(&[&ethernet(IPV4, &ipv4(6, &tcp(0))), &[0; 6]]);
    assert_eq!(as_tcp(&found(&frame)).payload_len, 0);
}

#[test]
fn ipv4_options_are_passed() {
    let mut packet = ipv4(6, &join(&[&[1, 1, 1, 0], &tcp(5)]));
    packet[0] = 0x46;
    let found = found(&ethernet(IPV4, &packet));
    assert_eq!(found.ip.payload_offset, 38);
    assert_eq!(as_tcp(&found).payload_len, 5);
}

#[test]
fn total_length_of_zero_takes_the_wire_length() {
    let frame = ethernet(IPV4, &ipv4(6, &tcp(70_000)));
    let packet = walk(LinkType::Ethernet, &frame[..60], frame.len() as u32).unwrap();
    assert_eq!(packet.ip.length_source, LengthSource::Frame);
    assert_eq!(as_tcp(&packet).payload_len, 70_000);
}

#[test]
fn total_length_beyond_the_wire_is_believed() {
    let mut frame = ethernet(IPV4, &ipv4(6, &tcp(5)));
    frame[16..18].copy_from_slice(&1500u16.to_be_bytes());
    assert_eq!(as_tcp(&found(&frame)).payload_len, 1460);
}

#[test]
fn a_wire_length_below_the_captured_one_is_not_believed() {
    let frame = ethernet(IPV4, &ipv4(6, &tcp(70_000)));
    let packet = walk(LinkType::Ethernet, &frame, 3).unwrap();
    assert_eq!(as_tcp(&packet).payload_len, 70_000);
}

#[test]
fn lying_ipv4_headers_are_malformed() {
    for (offset, value) in [(0, 0x44), (0, 0x65), (3, 19)] {
        let mut packet = ipv4(6, &tcp(5));
        packet[offset] = value;
        let stop = whole(LinkType::Ethernet, &ethernet(IPV4, &packet)).unwrap_err();
        assert_eq!((stop.offset, stop.reason), (14, StopReason::Malformed));
    }
}

#[test]
fn lying_tcp_headers_are_malformed() {
    for offset_byte in [0x40, 0x70] {
        let mut segment = tcp(5);
        segment[12] = offset_byte;
        let stop = whole(LinkType::Raw, &ipv4(6, &segment)).unwrap_err();
        assert_eq!((stop.offset, stop.reason), (20, StopReason::Malformed));
    }
}

#[test]
fn twenty_bytes_of_a_tcp_header_are_enough() {
    let segment = crate::build::tcp_with(&[1; 20], 1000);
    let frame = ethernet(IPV6, &ipv6(6, &segment));
    let packet = walk(LinkType::Ethernet, &frame[..74], frame.len() as u32).unwrap();
    let tcp = as_tcp(&packet);
    assert_eq!((tcp.header_len, tcp.payload_len), (40, 1000));
    assert_eq!((tcp.source_port, tcp.destination_port), (80, 40_000));
    assert_eq!((tcp.seq, tcp.ack, tcp.window), (7, 9, 512));
}

#[test]
fn ipv4_fragments() {
    let first = found(&ethernet(IPV4, &ipv4_fragment(6, 0x2000, &tcp(100))));
    assert_eq!(as_tcp(&first).payload_len, 100);
    let expected = Fragment {
        id: 0x1234,
        offset: 0,
        more: true,
    };
    assert_eq!(first.ip.fragment, Some(expected));

    let later = found(&ethernet(IPV4, &ipv4_fragment(6, 0x000f, &[9; 50])));
    assert_eq!(later.transport, Transport::LaterFragment);
    assert_eq!(later.ip.payload_len, 50);
    assert_eq!(later.ip.fragment.map(|fragment| fragment.offset), Some(120));
}

#[test]
fn first_udp_fragment_counts_its_share() {
    let mut datagram = udp(9999, &[7; 100]);
    datagram[4..6].copy_from_slice(&4000u16.to_be_bytes());
    let packet = found(&ethernet(IPV4, &ipv4_fragment(17, 0x2000, &datagram)));
    assert!(matches!(packet.transport, Transport::Udp(udp) if udp.payload_len == 100));
}

#[test]
fn ipv6_extension_headers() {
    let ah = join(&[&[6, 4], &[0; 22]]);
    let destination = join(&[&[51, 0, 1, 4, 0, 0, 0, 0], &ah]);
    let routing = join(&[&[60, 2, 4, 0, 0, 0, 0, 0], &[0; 16], &destination]);
    let hop_by_hop = join(&[&[43, 0, 5, 2, 0, 0, 1, 0], &routing]);
    let packet = found(&ethernet(IPV6, &ipv6(0, &join(&[&hop_by_hop, &tcp(77)]))));
    assert_eq!((packet.ip.protocol, packet.ip.payload_len), (6, 97));
    assert_eq!(packet.ip.payload_offset, 54 + 8 + 24 + 8 + 24);
    assert_eq!(as_tcp(&packet).payload_len, 77);
}

#[test]
fn authentication_header_in_ipv4() {
    let ah = join(&[&[6, 4], &[0; 22], &tcp(7)]);
    assert_eq!(
        as_tcp(&found(&ethernet(IPV4, &ipv4(51, &ah)))).payload_len,
        7
    );
}

#[test]
fn extension_header_longer_than_the_packet_is_malformed() {
    let packet = ipv6(60, &join(&[&[6, 9], &tcp(7)]));
    assert_eq!(refused(&ethernet(IPV6, &packet)), StopReason::Malformed);
}

#[test]
fn endless_extension_headers_are_too_deep() {
    let packet = ipv6(60, &[60, 0, 1, 4, 0, 0, 0, 0].repeat(20));
    assert_eq!(refused(&ethernet(IPV6, &packet)), StopReason::TooDeep);
}

#[test]
fn ipv6_fragments() {
    let first = join(&[&[6, 0, 0, 1, 0, 0, 0, 42], &tcp(100)]);
    let packet = found(&ethernet(IPV6, &ipv6(44, &first)));
    assert_eq!(as_tcp(&packet).payload_len, 100);
    assert!(
        packet
            .ip
            .fragment
            .is_some_and(|fragment| fragment.more && fragment.id == 42)
    );

    let later = join(&[&[6, 0, 0, 0x78, 0, 0, 0, 42], &[7; 30]]);
    let packet = found(&ethernet(IPV6, &ipv6(44, &later)));
    assert_eq!(packet.transport, Transport::LaterFragment);
    assert_eq!((packet.ip.payload_len, packet.ip.protocol), (30, 6));
    assert_eq!(
        packet.ip.fragment.map(|fragment| fragment.offset),
        Some(120)
    );
}

#[test]
fn atomic_fragment_is_no_fragment() {
    let atomic = join(&[&[6, 0, 0, 0, 0, 0, 0, 42], &tcp(100)]);
    let packet = found(&ethernet(IPV6, &ipv6(44, &atomic)));
    assert_eq!(packet.ip.fragment, None);
    assert_eq!(as_tcp(&packet).payload_len, 100);
}

/// A hop-by-hop header with a jumbo payload option, as BIG TCP writes it.
fn jumbo(len: u32) -> Vec<u8> {
    join(&[&[6, 0, 0xc2, 4], &len.to_be_bytes()])
}

#[test]
fn jumbo_payload() {
    let segment = tcp(80_000);
    let header = jumbo(8 + segment.len() as u32);
    let frame = ethernet(IPV6, &ipv6(0, &join(&[&header, &segment])));
    let packet = walk(LinkType::Ethernet, &frame[..100], frame.len() as u32).unwrap();
    assert_eq!(packet.ip.length_source, LengthSource::Header);
    assert_eq!(as_tcp(&packet).payload_len, 80_000);
}

#[test]
fn jumbo_payload_in_vxlan() {
    let segment = tcp(80_000);
    let header = jumbo(8 + segment.len() as u32);
    let inner = ethernet(IPV6, &ipv6(0, &join(&[&header, &segment])));
    let frame = ethernet(IPV4, &ipv4(17, &udp(4789, &crate::build::vxlan(&inner))));
    assert_eq!(as_tcp(&found(&frame)).payload_len, 80_000);
}

#[test]
fn small_jumbo_payload_is_malformed() {
    let mut packet = ipv6(0, &join(&[&jumbo(1000), &tcp(5)]));
    packet[4..6].fill(0);
    assert_eq!(refused(&ethernet(IPV6, &packet)), StopReason::Malformed);
}

#[test]
fn no_jumbo_option_takes_the_wire_length() {
    let frame = ethernet(IPV6, &ipv6(6, &tcp(80_000)));
    let packet = found(&frame);
    assert_eq!(packet.ip.length_source, LengthSource::Frame);
    assert_eq!(as_tcp(&packet).payload_len, 80_000);
}

#[test]
fn other_protocols_are_found() {
    for protocol in [50, 89, 132] {
        let packet = found(&ethernet(IPV4, &ipv4(protocol, &[0; 30])));
        assert_eq!(packet.transport, Transport::Other);
    }
    let echo = found(&ethernet(IPV4, &ipv4(1, &[8, 0, 0, 0, 0, 1, 0, 1])));
    assert_eq!(echo.transport, Transport::Other);
}

#[test]
fn udp_lengths() {
    let mut datagram = udp(53, &[0; 40]);
    for (field, expected) in [(48u16, Some(40)), (0, Some(40)), (20, Some(12)), (7, None)] {
        datagram[4..6].copy_from_slice(&field.to_be_bytes());
        let walked = whole(LinkType::Raw, &ipv4(17, &datagram));
        let payload_len = walked.ok().and_then(|packet| match packet.transport {
            Transport::Udp(udp) => Some(udp.payload_len),
            _ => None,
        });
        assert_eq!(payload_len, expected, "field {field}");
    }
}

#[test]
fn icmp_quotes() {
    let quoted = ipv4(6, &tcp(1000));
    let icmp = join(&[&[3, 4, 0, 0, 0, 0, 0x05, 0x78], &quoted[..28]]);
    let frame = ethernet(IPV4, &ipv4(1, &icmp));
    let Transport::TooBig(error) = found(&frame).transport else {
        panic!("not an ICMP error");
    };
    assert_eq!((error.mtu, error.quoted_offset), (1400, 42));
    let quote = walk_quoted(&frame[error.quoted_offset..]).unwrap();
    assert_eq!(
        (quote.protocol, quote.source_port, quote.destination_port),
        (6, 80, 40_000)
    );
    assert_eq!((quote.seq, quote.ip.payload_len), (7, 1020));
}

#[test]
fn icmp_v6_quotes() {
    let quoted = ipv6(17, &udp(443, &[0; 1300]));
    let icmp = join(&[&[2, 0, 0, 0, 0, 0, 0x05, 0], &quoted]);
    let frame = ethernet(IPV6, &ipv6(58, &icmp));
    let Transport::TooBig(error) = found(&frame).transport else {
        panic!("not an ICMP error");
    };
    assert_eq!(error.mtu, 1280);
    let quote = walk_quoted(&frame[error.quoted_offset..]).unwrap();
    assert_eq!(
        (quote.protocol, quote.destination_port, quote.seq),
        (17, 443, 0)
    );
}

#[test]
fn quotes_that_say_nothing() {
    assert_eq!(walk_quoted(&[]).unwrap_err().reason, StopReason::Truncated);
    assert_eq!(walk_quoted(&[0; 40]).unwrap_err().reason, StopReason::NotIp);
    let short = &ipv4(6, &tcp(0))[..27];
    assert_eq!(
        walk_quoted(short).unwrap_err().reason,
        StopReason::Truncated
    );
    let later = walk_quoted(&ipv4_fragment(6, 1, &[9; 8])).unwrap();
    assert_eq!((later.source_port, later.seq), (0, 0));
    assert_eq!(walk_quoted(&ipv4(50, &[9; 8])).unwrap().source_port, 0);
}
