//! Bridges, routers, switches and middleboxes, sound and faulty.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Outbox, Why, split};
use crate::chance::Chance;
use crate::packet::{ACK, Checksum, Content, Origin, Packet, SYN, TooBig};
use crate::path::{Hop, Which};
use crate::scenario::Scenario;
use crate::schedule::Nanos;
use crate::side::Side;

/// Bytes of the packet quoted after its IP header (RFC 792: 64 bits).
const QUOTED: usize = 8;
/// The public address of the NAT, from RFC 5737's and RFC 3849's documentation ranges.
const PUBLIC: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(203, 0, 113, 7),
    Ipv6Addr::new(0x2001, 0xdb8, 0x7, 0, 0, 0, 0, 1),
);
/// By how much the NAT shifts a port.
const PORT_SHIFT: u16 = 20_000;
/// The real server behind the director.
const REAL: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(10, 0, 9, 20),
    Ipv6Addr::new(0x2001, 0xdb8, 0x9, 0, 0, 0, 0, 0x20),
);

/// What a NAT makes of the client's address and port.
pub(crate) fn translated(client: (IpAddr, u16), ipv6: bool) -> (IpAddr, u16) {
    (pick(PUBLIC, ipv6), client.1.wrapping_sub(PORT_SHIFT))
}

/// The address behind a director's virtual one.
pub(crate) fn real_server(ipv6: bool) -> IpAddr {
    pick(REAL, ipv6)
}

/// A hop with what it needs to know.
#[derive(Debug)]
pub(crate) struct HopState {
    hop: Hop,
    chance: Chance,
    /// Frames so far, of those that are counted.
    count: u64,
    ipv6: bool,
    guest_mtu: [u32; 2],
    client: IpAddr,
    virtual_server: IpAddr,
}

/// An address of either version.
fn pick(pair: (Ipv4Addr, Ipv6Addr), ipv6: bool) -> IpAddr {
    if ipv6 { pair.1.into() } else { pair.0.into() }
}

impl HopState {
    /// The hop at its start.
    pub(crate) fn new(hop: &Hop, scenario: &Scenario, stream: u64) -> Self {
        Self {
            hop: hop.clone(),
            chance: Chance::new(scenario.seed, stream),
            count: 0,
            ipv6: scenario.ipv6,
            guest_mtu: [scenario.client.mtu, scenario.server.mtu],
            client: crate::world::address(Side::Client, scenario.ipv6),
            virtual_server: crate::world::address(Side::Server, scenario.ipv6),
        }
    }

    /// A packet arrives.
    pub(crate) fn handle(&mut self, mut packet: Packet, now: Nanos, out: &mut Outbox) {
        match self.hop {
            Hop::Router { mtu, icmp } => self.route(packet, usize::from(mtu), icmp, now, out),
            Hop::Splitter { toward, loss } if toward == packet.toward && packet.is_merged() => {
                self.split_losing(&packet, loss, now, out);
            }
            Hop::CutShort { toward, keep } if toward == packet.toward && was_merged(&packet) => {
                cut_short(packet, keep, now, out);
            }
            Hop::Fragmenter { mtu } if packet.ip_len() > usize::from(mtu) => {
                fragment_or_drop(packet, usize::from(mtu), now, out);
            }
            Hop::NoIcmp if packet.tcp().is_none() => {}
            Hop::Repeat {
                toward,
                probability,
                later,
            } if toward == packet.toward => {
                if self.chance.happens(probability) {
                    out.onward.push((now + later, packet.clone()));
                }
                out.onward.push((now, packet));
            }
            Hop::DropSomeMerged { toward, which } if toward == packet.toward => {
                if self.is_one_of(which, now) && was_merged(&packet) {
                    out.dropped.push((packet, Why::Merged));
                } else {
                    out.onward.push((now, packet));
                }
            }
            _ => match self.refusal(&packet) {
                Some(why) => out.dropped.push((packet, why)),
                None => {
                    self.damage(&mut packet, out);
                    self.rewrite(&mut packet);
                    out.onward.push((now, packet));
                }
            },
        }
    }

    fn is_one_of(&mut self, which: Which, now: Nanos) -> bool {
        self.count += 1;
        match which {
            Which::Every(nth) => self.count.is_multiple_of(nth),
            Which::Chance(probability) => self.chance.happens(probability),
            Which::Between(begin, end) => (begin..end).contains(&now),
        }
    }

    /// Why a packet doesn't pass, if it doesn't.
    fn refusal(&self, packet: &Packet) -> Option<Why> {
        let over = |limit: usize| (packet.ip_len() > limit).then_some(Why::Longer(limit));
        match self.hop {
            Hop::DropMerged { toward } => {
                (packet.toward == toward && was_merged(packet)).then_some(Why::Merged)
            }
            Hop::DropMergedIfMtuOver { guest, limit } => {
                let hit = packet.toward == guest && was_merged(packet);
                (hit && self.guest_mtu[guest.index()] > limit).then_some(Why::Merged)
            }
            Hop::DropMergedOver { toward, segments } => {
                let many = packet.tcp().is_some_and(|tcp| tcp.pieces.len() > segments);
                (packet.toward == toward && many && was_merged(packet)).then_some(Why::Merged)
            }
            Hop::DropLargerThan { toward, bytes } if packet.toward == toward => over(bytes),
            Hop::Forward { mtu } if !packet.is_merged() || !packet.can_be_cut() => {
                over(usize::from(mtu[packet.toward.index()]))
            }
            Hop::Director { mtu } => over(usize::from(mtu)),
            _ => None,
        }
    }

    /// Damages a packet: it counts as lost, although it travels on.
    fn damage(&mut self, packet: &mut Packet, out: &mut Outbox) {
        let why = match self.hop {
            Hop::Damage {
                toward,
                probability,
            } => {
                (packet.toward == toward && self.chance.happens(probability)).then_some(Why::Chance)
            }
            Hop::DamageMerged { toward } => {
                (packet.toward == toward && was_merged(packet)).then_some(Why::Merged)
            }
            _ => None,
        };
        if let Some(why) = why {
            packet.damaged = true;
            if let Some(tcp) = packet.tcp_mut() {
                tcp.checksum = Checksum::Full;
            }
            out.dropped.push((packet.clone(), why));
        }
    }

    fn rewrite(&self, packet: &mut Packet) {
        match self.hop {
            Hop::Nat => self.translate(packet),
            Hop::Director { .. } => self.direct(packet),
            Hop::Renumber { by, leaves_sack } => renumber(packet, by, leaves_sack),
            Hop::Wrap { inner, with } => packet.wrap = (packet.toward != inner).then_some(with),
            Hop::ClampMss { toward, mss } if packet.toward == toward => clamp(packet, mss),
            Hop::SegmentSize { toward, gso_size } if packet.toward == toward => {
                set_segment_size(packet, gso_size);
            }
            _ => {}
        }
    }

    fn translate(&self, packet: &mut Packet) {
        if packet.toward == Side::Server {
            packet.source = translated(packet.source, self.ipv6);
        } else {
            packet.target.0 = self.client;
            packet.target.1 = packet.target.1.wrapping_add(PORT_SHIFT);
        }
        pass_router(packet);
    }

    fn direct(&self, packet: &mut Packet) {
        if packet.toward == Side::Server {
            packet.target.0 = real_server(self.ipv6);
        } else {
            packet.source.0 = self.virtual_server;
        }
        pass_router(packet);
    }

    fn route(&mut self, mut packet: Packet, mtu: usize, icmp: bool, now: Nanos, out: &mut Outbox) {
        pass_router(&mut packet);
        let long = packet.ip_len() > mtu;
        let fits = |segment: usize| segment <= mtu;
        if long && packet.segment_ip_len().is_some_and(fits) {
            for segment in split::cut(&packet) {
                self.send_on(segment, mtu, icmp, now, out);
            }
        } else {
            self.send_on(packet, mtu, icmp, now, out);
        }
    }

    fn send_on(&self, packet: Packet, mtu: usize, icmp: bool, now: Nanos, out: &mut Outbox) {
        if packet.ip_len() <= mtu {
            out.onward.push((now, packet));
        } else if packet.dont_fragment || self.ipv6 {
            if icmp {
                out.back.push((now, too_big(&packet, mtu)));
            }
            out.dropped.push((packet, Why::Longer(mtu)));
        } else {
            fragment_or_drop(packet, mtu, now, out);
        }
    }

    fn split_losing(&mut self, packet: &Packet, loss: f64, now: Nanos, out: &mut Outbox) {
        for segment in split::cut(packet) {
            if self.chance.happens(loss) {
                out.dropped.push((segment, Why::Chance));
            } else {
                out.onward.push((now, segment));
            }
        }
    }
}

/// Passes the first segments of a frame, and drops the rest.
fn cut_short(packet: Packet, keep: usize, now: Nanos, out: &mut Outbox) {
    let segments = split::cut(&packet);
    if segments.len() > keep {
        out.dropped.push((packet, Why::Merged));
    }
    let kept = segments.into_iter().take(keep);
    out.onward.extend(kept.map(|segment| (now, segment)));
}

/// Sets the segment size of a merged frame. Without a segment size the frame is complete: no card will fill in its
/// checksum.
fn set_segment_size(packet: &mut Packet, size: Option<u16>) {
    if let Some(tcp) = packet.tcp_mut().filter(|tcp| tcp.is_merged()) {
        tcp.gso_size = size;
        if size.is_none() {
            (tcp.origin, tcp.reversible) = (Origin::Merged, false);
            tcp.checksum = Checksum::Full;
        }
    }
}

/// Adds to the numbers of a direction, and takes off what the other end acknowledges of it.
fn renumber(packet: &mut Packet, by: [u32; 2], leaves_sack: bool) {
    let odd = 2 * packet.flow as u32 + 1;
    let from = packet.toward.other().index();
    let [own, other] = [by[from], by[1 - from]].map(|by| by.wrapping_mul(odd));
    let Some(tcp) = packet.tcp_mut() else { return };
    tcp.seq = tcp.seq.wrapping_add(own);
    if tcp.flags & ACK == 0 {
        return;
    }
    tcp.ack = tcp.ack.wrapping_sub(other);
    if !leaves_sack {
        for block in &mut tcp.options.sacks {
            *block = (block.0.wrapping_sub(other), block.1.wrapping_sub(other));
        }
    }
}

/// Lowers the MSS that a SYN announces.
fn clamp(packet: &mut Packet, most: u16) {
    if let Some(tcp) = packet.tcp_mut().filter(|tcp| tcp.flags & SYN != 0) {
        tcp.options.mss = tcp.options.mss.map(|mss| mss.min(most));
    }
}

fn was_merged(packet: &Packet) -> bool {
    packet.tcp().is_some_and(|tcp| tcp.origin == Origin::Merged)
}

/// The changes that a router makes to every packet.
pub(crate) fn pass_router(packet: &mut Packet) {
    packet.ttl = packet.ttl.saturating_sub(1);
    packet.routers += 1;
}

fn fragment_or_drop(packet: Packet, mtu: usize, now: Nanos, out: &mut Outbox) {
    if packet.dont_fragment {
        out.dropped.push((packet, Why::Longer(mtu)));
        return;
    }
    let parts = split::fragment(&packet, mtu);
    out.onward.extend(parts.into_iter().map(|part| (now, part)));
}

/// The router's "packet too big", quoting the packet's IP header and its first eight bytes.
fn too_big(packet: &Packet, mtu: usize) -> Packet {
    let mut quote = crate::render::ip(
        packet,
        &vec![0; packet.tcp().map_or(0, crate::packet::Tcp::len)],
    );
    quote.truncate(packet.ip_header_len() + QUOTED);
    let mut answer = packet.clone();
    answer.toward = packet.toward.other();
    answer.target = packet.source;
    // The router sends from an address of its own.
    answer.source = (pick(PUBLIC, !packet.source.0.is_ipv4()), 0);
    (answer.ttl, answer.ecn, answer.extension) = (64, 0, false);
    answer.content = Content::TooBig(TooBig {
        mtu: mtu as u16,
        quote,
    });
    answer
}
