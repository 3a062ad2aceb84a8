//! No input panics; what `etherparse` builds is found as built; cutting a frame changes nothing
//! but whether it is found.

use crate::any_bytes::{LINKS, check};
use crate::build::{IPV4, as_tcp, ethernet, ipv4, ipv6, join, tcp, udp, vxlan};
use coalescope_wire::{
    Flags, LinkType, Packet, StopReason, TcpOptions, Transport, walk, walk_quoted,
};
use etherparse::{PacketBuilder, SlicedPacket, TransportSlice, VlanId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Bytes that the walk branches on, so that random frames get deep.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let telling = select(vec![
        0x45u8, 0x60, 0x08, 0x00, 0x06, 0x11, 0x2f, 0x29, 0x81, 0x88, 0x47, 0x64, 0xdd, 0x86, 0x12,
        0xb5, 0x17, 0xc1, 0x65, 0x58, 0x04, 0x50, 0x2c, 0x3c, 0xff, 0x03, 0x21,
    ]);
    vec(prop_oneof![2 => telling, 1 => any::<u8>()], 0..200)
}

/// Frames that are valid but for a few bytes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (select(samples()), changes).prop_map(|(mut frame, changes)| {
        for (index, value) in changes {
            let at = index.index(frame.len());
            frame[at] = value;
        }
        frame
    })
}

fn samples() -> Vec<Vec<u8>> {
    let plain = ethernet(IPV4, &ipv4(6, &tcp(30)));
    let geneve = join(&[&[1, 0, 0x65, 0x58, 0, 0, 1, 0, 9, 9, 9, 9], &plain]);
    let erspan = join(&[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1], &[0; 8], &plain]);
    let hop_by_hop = [0, 0, 5, 2, 0, 0, 1, 0].repeat(2);
    let extended = join(&[
        &hop_by_hop,
        &[44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 1],
    ]);
    vec![
        ethernet(IPV4, &ipv4(17, &udp(4789, &vxlan(&plain)))),
        ethernet(IPV4, &ipv4(17, &udp(6081, &geneve))),
        ethernet(IPV4, &ipv4(47, &erspan)),
        ethernet(0x86dd, &ipv6(0, &join(&[&extended, &tcp(40)]))),
        ethernet(0x8847, &join(&[&[0, 1, 1, 64, 0, 0, 0, 1], &plain])),
        plain,
    ]
}

/// Everything a caller does with a walk, and what must hold of it.
fn exercise(link: LinkType, frame: &[u8], wire_len: u32) {
    let _ = walk_quoted(frame);
    let _ = TcpOptions::parse(frame, wire_len as usize);
    match walk(link, frame, wire_len) {
        Ok(packet) => check(frame, &packet),
        Err(stop) => assert!(stop.offset <= frame.len() + 300),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_panic(link in select(&LINKS[..]), frame in bytes(), wire_len: u32) {
        exercise(LinkType::from_dlt(link), &frame, wire_len);
        exercise(LinkType::from_dlt(link), &frame, frame.len() as u32);
    }

    #[test]
    fn no_mutation_panics(frame in mutated(), cut: prop::sample::Index, wire_len: u32) {
        let cut = &frame[..cut.index(frame.len() + 1)];
        exercise(LinkType::Ethernet, cut, frame.len() as u32);
        exercise(LinkType::Ethernet, cut, wire_len);
    }

    #[test]
    fn cutting_changes_nothing_else(frame in select(samples()), cut: prop::sample::Index) {
        let cut = &frame[..cut.index(frame.len() + 1)];
        let whole = walk(LinkType::Ethernet, &frame, frame.len() as u32);
        match walk(LinkType::Ethernet, cut, frame.len() as u32) {
            Err(stop) => prop_assert_eq!(stop.reason, StopReason::Truncated),
            // A tunnel header that is cut off leaves the UDP that carries it.
            Ok(Packet { transport: Transport::Udp(udp), .. }) => {
                prop_assert!(cut.len() < udp.offset + 16);
            }
            found => prop_assert_eq!(found, whole),
        }
    }
}

/// What `etherparse` is told to build.
#[derive(Clone, Debug)]
struct Plan {
    vlans: Vec<u16>,
    six: bool,
    addresses: [[u8; 16]; 2],
    ttl: u8,
    ports: [u16; 2],
    numbers: [u32; 2],
    window: u16,
    options: Vec<u8>,
    payload: Vec<u8>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let ip = (any::<bool>(), any::<[[u8; 16]; 2]>(), any::<u8>());
    let tcp = (any::<[u16; 2]>(), any::<[u32; 2]>(), any::<u16>());
    let vlans = vec(0u16..4096, 0..=2);
    let options = (0usize..=10).prop_map(|words| vec![1; words * 4]);
    (vlans, ip, tcp, options, vec(any::<u8>(), 0..1500)).prop_map(
        |(vlans, (six, addresses, ttl), (ports, numbers, window), options, payload)| Plan {
            vlans,
            six,
            addresses,
            ttl,
            ports,
            numbers,
            window,
            options,
            payload,
        },
    )
}

fn vlan(id: u16) -> VlanId {
    VlanId::try_new(id).expect("twelve bits")
}

fn four([a, b, c, d, ..]: [u8; 16]) -> [u8; 4] {
    [a, b, c, d]
}

fn build_ip(plan: &Plan) -> etherparse::IpHeaders {
    use etherparse::{IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header};
    let [source, destination] = plan.addresses;
    if plan.six {
        let header = Ipv6Header {
            traffic_class: 3,
            flow_label: Ipv6FlowLabel::ZERO,
            payload_length: 0,
            next_header: IpNumber::TCP,
            hop_limit: plan.ttl,
            source,
            destination,
        };
        return IpHeaders::Ipv6(header, etherparse::Ipv6Extensions::default());
    }
    let addresses = (four(source), four(destination));
    let header = Ipv4Header::new(0, plan.ttl, IpNumber::TCP, addresses.0, addresses.1);
    let header = header.expect("no payload, so it fits");
    IpHeaders::Ipv4(header, etherparse::Ipv4Extensions::default())
}

fn frame(plan: &Plan) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([1; 6], [2; 6]);
    let ip = build_ip(plan);
    let ip = match plan.vlans[..] {
        [] => link.ip(ip),
        [one] => link.single_vlan(vlan(one)).ip(ip),
        [outer, inner, ..] => link.double_vlan(vlan(outer), vlan(inner)).ip(ip),
    };
    let tcp = ip
        .tcp(plan.ports[0], plan.ports[1], plan.numbers[0], plan.window)
        .ack(plan.numbers[1])
        .psh()
        .options_raw(&plan.options)
        .expect("at most 40 bytes");
    let mut bytes = Vec::new();
    tcp.write(&mut bytes, &plan.payload)
        .expect("a packet that fits");
    bytes
}

proptest! {
    #[test]
    fn etherparse_packets_are_found_as_built(plan in plans()) {
        let frame = frame(&plan);
        let packet = crate::build::found(&frame);
        let tcp = as_tcp(&packet);
        prop_assert_eq!(usize::from(packet.vlans.count), plan.vlans.len());
        prop_assert_eq!(&packet.vlans.tci[..plan.vlans.len()], &plan.vlans[..]);
        prop_assert_eq!(packet.ip.version, if plan.six { 6 } else { 4 });
        prop_assert_eq!(packet.ip.ttl, plan.ttl);
        let width = if plan.six { 16 } else { 4 };
        prop_assert_eq!(&packet.ip.source.0[..width], &plan.addresses[0][..width]);
        prop_assert_eq!(&packet.ip.destination.0[..width], &plan.addresses[1][..width]);
        prop_assert_eq!([tcp.source_port, tcp.destination_port], plan.ports);
        prop_assert_eq!([tcp.seq, tcp.ack], plan.numbers);
        prop_assert_eq!(tcp.window, plan.window);
        prop_assert_eq!(tcp.flags, Flags(Flags::ACK | Flags::PSH));
        prop_assert_eq!(tcp.option_bytes(&frame), &plan.options[..]);
        prop_assert_eq!(tcp.payload_len as usize, plan.payload.len());
    }

    #[test]
    fn etherparse_reads_the_same_header(plan in plans()) {
        let frame = frame(&plan);
        let sliced = SlicedPacket::from_ethernet(&frame).expect("what it built itself");
        let Some(TransportSlice::Tcp(theirs)) = sliced.transport else {
            panic!("not TCP");
        };
        let ours = as_tcp(&crate::build::found(&frame));
        prop_assert_eq!(ours.checksum, theirs.checksum());
        prop_assert_eq!(usize::from(ours.header_len), theirs.header_len());
        prop_assert_eq!(ours.offset, frame.len() - theirs.slice().len());
    }
}
