//! Changes of one segment before it is built, and of the frames of a batch.

use super::chance::Chance;
use super::{MAX_FRAME, headers};
use crate::craft::{Encapsulation, Ip, Ipv4, Ipv6, Segment, Tcp, Transport, Udp, flags};

/// Shortest frame that is made. The kernel drops a shorter one with a VLAN tag behind GRO, when it
/// takes the tag off (`skb_vlan_untag`), so that the oracle cannot show it.
const SHORTEST: usize = 20;
/// How far into a frame single bits are flipped: that is where headers are.
const HEADERS: usize = 120;

/// Changes one thing about a segment.
pub(super) fn segment(chance: &mut Chance, segment: &mut Segment) {
    match chance.below(20) {
        0..=3 => size(chance, &mut segment.payload),
        4..=7 => ip(chance, &mut segment.ip),
        8 => tunnel(chance, segment),
        9 => link(chance, segment),
        10 => segment.padding = chance.between(1, 20),
        11 => address(chance, &mut segment.ip),
        _ => transport(chance, &mut segment.transport),
    }
}

fn transport(chance: &mut Chance, transport: &mut Transport) {
    match transport {
        Transport::Tcp(tcp) if chance.once_in(2) => tcp_flags(chance, tcp),
        Transport::Tcp(header) => tcp(chance, header),
        Transport::Udp(header) => udp(chance, header),
    }
}

fn size(chance: &mut Chance, payload: &mut Vec<u8>) {
    let length = match chance.below(6) {
        0 => 0,
        1 => 1,
        2 => payload.len() + 1,
        3 => payload.len().saturating_sub(1),
        4 => chance.below(payload.len() + 1),
        _ => chance.below(MAX_FRAME),
    };
    payload.resize(length, 0);
}

fn tcp_flags(chance: &mut Chance, tcp: &mut Tcp) {
    let push = [flags::PSH; 3];
    let rare = [
        flags::FIN,
        flags::SYN,
        flags::RST,
        flags::URG,
        flags::ECE,
        flags::CWR,
        flags::CWR,
        flags::AE,
        flags::ACK,
    ];
    let flag = if chance.once_in(3) {
        chance.pick(push)
    } else {
        chance.pick(rare)
    };
    tcp.flags ^= flag;
    if flag == flags::URG && chance.once_in(2) {
        tcp.urgent = 1;
    }
}

fn tcp(chance: &mut Chance, tcp: &mut Tcp) {
    match chance.below(11) {
        0 => tcp.ack = tcp.ack.wrapping_add(chance.any() & 0xffff),
        1 => tcp.window = tcp.window.wrapping_add(1),
        2 => tcp.seq = tcp.seq.wrapping_add(1),
        3 => tcp.seq = tcp.seq.wrapping_sub(chance.any() & 0xfff),
        4 => tcp.seq = tcp.seq.wrapping_add(chance.any() & 0x3fff),
        5 | 6 => timestamp(chance, tcp),
        7 => tcp.options = headers::tcp_options(chance),
        8 => tcp.checksum_error = 1 << chance.below(16),
        9 => tcp.offset_error = chance.between(0, 15) as i8 - 8,
        _ => tcp.urgent ^= 7,
    }
}

/// Changes TSval or TSecr; without the usual option nothing.
fn timestamp(chance: &mut Chance, tcp: &mut Tcp) {
    let at = chance.pick([4, 4, 8]);
    if let Some(word) = tcp
        .options
        .get_mut(at..)
        .and_then(|rest| rest.first_chunk_mut::<4>())
    {
        let time = u32::from_be_bytes(*word);
        *word = time
            .wrapping_add(chance.pick([1, 1, 1, 10, u32::MAX]))
            .to_be_bytes();
    }
}

fn udp(chance: &mut Chance, udp: &mut Udp) {
    match chance.below(4) {
        0 => udp.no_checksum ^= true,
        1 => udp.checksum_error = 1 << chance.below(16),
        2 => udp.length_error = chance.between(0, 40) as i16 - 20,
        _ => udp.source ^= 1,
    }
}

fn ip(chance: &mut Chance, ip: &mut Ip) {
    match ip {
        Ip::V4(ip) => ip_v4(chance, ip),
        Ip::V6(ip) => ip_v6(chance, ip),
    }
}

fn ip_v4(chance: &mut Chance, ip: &mut Ipv4) {
    match chance.below(15) {
        0 => ip.ttl = ip.ttl.wrapping_sub(1),
        1 => ip.tos ^= 1 << chance.below(8),
        2 => ip.dont_fragment ^= true,
        3 => ip.more_fragments = true,
        4 => ip.fragment_offset = chance.between(1, 200) as u16,
        5 => ip.reserved ^= true,
        6 => ip.id = ip.id.wrapping_sub(1),
        7 => ip.id = ip.id.wrapping_add(chance.between(1, 3) as u16),
        8 => ip.id = chance.any() as u16,
        9 => ip.id = chance.pick([0, 0xffff, 0xfffe]),
        10 => ip.checksum_error = 1 << chance.below(16),
        11 => ip.length_error = -(chance.between(1, 30) as i16),
        12 => ip.length_error = chance.between(1, 30) as i16,
        13 => ip.options = vec![1; chance.pick([4, 8])],
        _ => ip.options = vec![68, 8, 9, 0, 0, 0, 0, 1],
    }
}

fn ip_v6(chance: &mut Chance, ip: &mut Ipv6) {
    match chance.below(8) {
        0 => ip.hop_limit = ip.hop_limit.wrapping_sub(1),
        1 => ip.traffic_class ^= 1 << chance.below(8),
        2 => ip.flow_label ^= 1 << chance.below(20),
        3 => ip.length_error = -(chance.between(1, 30) as i16),
        4 => ip.length_error = chance.between(1, 30) as i16,
        5 => ip.extensions.clear(),
        6 => ip.extensions = vec![headers::extension(chance)],
        _ => ip.extensions.push(headers::extension(chance)),
    }
}

/// Changes a bit of an address.
pub(super) fn address(chance: &mut Chance, ip: &mut Ip) {
    let bit = 1 << chance.below(8);
    match ip {
        Ip::V4(ip) if chance.once_in(2) => ip.source[3] ^= bit,
        Ip::V4(ip) => ip.destination[0] ^= bit,
        Ip::V6(ip) if chance.once_in(2) => ip.source[15] ^= bit,
        Ip::V6(ip) => ip.destination[0] ^= bit,
    }
}

/// Changes the Ethernet address or the VLAN tags.
pub(super) fn link(chance: &mut Chance, segment: &mut Segment) {
    match chance.below(6) {
        0 => segment.source_mac[5] ^= 0x40,
        1 => segment.destination_mac[3] ^= 0x40,
        2 => segment.tags = headers::tags(chance),
        3 => segment.tags.clear(),
        4 => segment.tags.iter_mut().for_each(|(_, tag)| *tag ^= 0x1000),
        _ => segment.tags.iter_mut().for_each(|(_, tag)| *tag ^= 1),
    }
}

/// Changes something about the outermost tunnel, if there is one.
pub(super) fn tunnel(chance: &mut Chance, segment: &mut Segment) {
    let Some(tunnel) = segment.tunnels.first_mut() else {
        return;
    };
    if chance.once_in(2) {
        return ip(chance, &mut tunnel.outer);
    }
    match &mut tunnel.encapsulation {
        Encapsulation::Ip => address(chance, &mut tunnel.outer),
        Encapsulation::Gre {
            key,
            sequence,
            checksum,
            ..
        } => match chance.below(3) {
            0 => *key = Some(chance.below(4) as u32),
            1 => *sequence = Some(chance.below(4) as u32),
            _ => *checksum ^= true,
        },
        Encapsulation::Vxlan { vni, .. } | Encapsulation::Geneve { vni, .. }
            if chance.once_in(2) =>
        {
            *vni ^= 1;
        }
        Encapsulation::Vxlan { udp: header, .. } | Encapsulation::Geneve { udp: header, .. } => {
            udp(chance, header);
        }
    }
}

/// Changes order and number of frames, and bytes in them.
pub(super) fn batch(chance: &mut Chance, frames: &mut Vec<Vec<u8>>, rate: usize) {
    for _ in 0..frames.len() {
        if chance.permille(rate / 2) {
            rearrange(chance, frames);
        }
        if chance.permille(rate / 10) {
            let at = chance.below(frames.len());
            damage(chance, &mut frames[at]);
        }
    }
}

/// Swaps neighbours, moves a frame, sends one twice, or loses one.
fn rearrange(chance: &mut Chance, frames: &mut Vec<Vec<u8>>) {
    let (one, two) = (chance.below(frames.len()), chance.below(frames.len()));
    match chance.below(5) {
        0 | 1 if one + 1 < frames.len() => frames.swap(one, one + 1),
        2 => {
            let frame = frames.remove(one);
            frames.insert(two, frame);
        }
        3 => frames.insert(two, frames[one].clone()),
        _ if frames.len() > 1 => drop(frames.remove(one)),
        _ => {}
    }
}

/// Flips a bit, cuts, or puts garbage at the end or in place of everything.
fn damage(chance: &mut Chance, frame: &mut Vec<u8>) {
    match chance.below(5) {
        0 | 1 => {
            let at = chance.below(frame.len().min(HEADERS));
            frame[at] ^= 1 << chance.below(8);
        }
        2 => frame.truncate(chance.between(SHORTEST, frame.len())),
        3 => frame.truncate(chance.between(SHORTEST, frame.len().min(HEADERS))),
        _ => {
            let length = chance.between(SHORTEST, HEADERS);
            *frame = (0..length).map(|_| chance.any() as u8).collect();
        }
    }
}
