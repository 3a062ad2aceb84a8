//! Random headers to begin a flow with.

use super::chance::Chance;
use crate::craft::{Encapsulation, Ip, Ipv4, Ipv6, Tunnel, Udp, timestamps};

const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88a8;
/// IPv6 extension headers.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// An IPv6 header if `v6` is set, otherwise an IPv4 header.
pub(super) fn ip(chance: &mut Chance, v6: bool) -> Ip {
    if v6 {
        Ip::V6(ip_v6(chance))
    } else {
        Ip::V4(ip_v4(chance))
    }
}

fn ip_v4(chance: &mut Chance) -> Ipv4 {
    Ipv4 {
        tos: chance.pick([0, 0, 0, 1, 2, 3, 0x10, 0xb8]),
        id: chance.any() as u16,
        dont_fragment: !chance.once_in(4),
        ttl: chance.pick([64, 64, 63, 1, 255]),
        source: [192, 0, 2, chance.below(4) as u8],
        destination: [198, 51, 100, chance.below(4) as u8],
        ..Ipv4::default()
    }
}

fn ip_v6(chance: &mut Chance) -> Ipv6 {
    let mut ip = Ipv6 {
        traffic_class: chance.pick([0, 0, 0, 1, 2, 3, 0xb8]),
        flow_label: if chance.once_in(3) {
            0
        } else {
            chance.any() & 0xf_ffff
        },
        hop_limit: chance.pick([64, 64, 63, 1, 255]),
        ..Ipv6::default()
    };
    ip.source[15] = chance.below(4) as u8;
    if chance.once_in(8) {
        ip.extensions.push(extension(chance));
    }
    ip
}

/// An extension header without its Next Header field.
pub(super) fn extension(chance: &mut Chance) -> (u8, Vec<u8>) {
    let value = chance.below(3) as u8;
    match chance.below(6) {
        0 => (HOP_BY_HOP, vec![0, 1, 4, 0, 0, 0, value]),
        1 => (ROUTING, vec![0, 4, 0, 0, 0, 0, 0]),
        2 => (FRAGMENT, vec![0, 0, 0, 0, 0, 0, value]),
        3 => (
            DESTINATION_OPTIONS,
            [&[1, 1, 12][..], &[0; 11], &[value]].concat(),
        ),
        _ => (DESTINATION_OPTIONS, vec![0, 1, 4, 0, 0, 0, value]),
    }
}

/// VLAN tags: one, or one in another.
pub(super) fn tags(chance: &mut Chance) -> Vec<(u16, u16)> {
    let tag =
        |chance: &mut Chance| (chance.below(3) + 1) as u16 | (chance.pick([0, 0, 5, 8]) << 12);
    let mut tags = vec![(VLAN, tag(chance))];
    if chance.once_in(3) {
        tags.insert(0, (chance.pick([VLAN, SERVICE_VLAN]), tag(chance)));
    }
    tags
}

/// A tunnel of any kind.
pub(super) fn tunnel(chance: &mut Chance, v6: bool) -> Tunnel {
    Tunnel {
        outer: ip(chance, v6),
        encapsulation: encapsulation(chance),
    }
}

fn encapsulation(chance: &mut Chance) -> Encapsulation {
    let vni = chance.below(3) as u32 + 1;
    match chance.below(7) {
        0..=2 => Encapsulation::Ip,
        3 | 4 => gre(chance),
        5 => Encapsulation::Vxlan {
            udp: tunnel_udp(chance, 4789),
            vni,
        },
        _ => Encapsulation::Geneve {
            udp: tunnel_udp(chance, 6081),
            vni,
        },
    }
}

fn gre(chance: &mut Chance) -> Encapsulation {
    Encapsulation::Gre {
        key: chance.once_in(3).then(|| chance.below(3) as u32),
        sequence: chance.once_in(8).then_some(1),
        checksum: chance.once_in(4),
        ethernet: chance.once_in(3),
    }
}

fn tunnel_udp(chance: &mut Chance, destination: u16) -> Udp {
    let source = 50_000 + chance.below(3) as u16;
    Udp {
        source,
        destination,
        no_checksum: !chance.once_in(3),
        ..Udp::default()
    }
}

/// TCP options as stacks send them, and some that none sends.
pub(super) fn tcp_options(chance: &mut Chance) -> Vec<u8> {
    let times = timestamps(chance.any(), chance.any());
    match chance.below(12) {
        0..=6 => times,
        7 | 8 => Vec::new(),
        9 => [&times[2..], &[1, 1]].concat(),
        10 => [
            &times[..],
            &[1, 1, 5, 10],
            &chance.any().to_be_bytes(),
            &chance.any().to_be_bytes(),
        ]
        .concat(),
        _ => vec![1, 3, 3, chance.below(15) as u8],
    }
}
