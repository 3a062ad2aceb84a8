//! Cutting frames: TSO at a sender, re-segmentation at a router, and IP fragmentation.

use crate::packet::{Checksum, Content, FIN, Fragment, Origin, PSH, Packet};

/// The segments of a frame, each with its own headers and a full checksum. A frame of one segment
/// comes out with its checksum filled in.
pub(crate) fn cut(packet: &Packet) -> Vec<Packet> {
    let Some(tcp) = packet.tcp() else {
        return vec![packet.clone()];
    };
    let count = tcp.pieces.len().max(1);
    let mut offset = 0;
    (0..count)
        .map(|index| {
            let segment = segment(packet, index, count, offset);
            offset += segment.tcp().map_or(0, crate::packet::Tcp::len);
            segment
        })
        .collect()
}

fn segment(packet: &Packet, index: usize, count: usize, offset: usize) -> Packet {
    let mut segment = packet.clone();
    segment.zero_length = false;
    if packet.ip_id != 0 {
        segment.ip_id = packet.ip_id.wrapping_add(index as u16);
    }
    if let Content::Tcp(tcp) = &mut segment.content {
        tcp.pieces = tcp.pieces.get(index).copied().into_iter().collect();
        tcp.origin = Origin::Single;
        tcp.gso_size = None;
        tcp.checksum = Checksum::Full;
        tcp.seq = tcp.seq.wrapping_add(offset as u32);
        tcp.start = tcp.start.wrapping_add(offset as u64);
        if index + 1 < count {
            tcp.flags &= !(PSH | FIN);
        }
    }
    segment
}

/// IP fragments no longer than `mtu` (RFC 791 section 3.2). The checksum must be final, since it
/// can't be filled in later.
pub(crate) fn fragment(packet: &Packet, mtu: usize) -> Vec<Packet> {
    let room = (mtu - packet.ip_header_len()) / 8 * 8;
    let total = packet.ip_payload_len();
    let part = |offset: usize| {
        let len = room.min(total - offset);
        let mut part = packet.clone();
        part.fragment = Some(Fragment {
            offset,
            len,
            more: offset + len < total,
        });
        if let Content::Tcp(tcp) = &mut part.content {
            tcp.checksum = Checksum::Full;
        }
        part
    };
    (0..total).step_by(room).map(part).collect()
}
