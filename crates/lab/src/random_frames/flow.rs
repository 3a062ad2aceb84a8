//! A flow: a first frame, and what changes from one frame to the next.

use super::chance::Chance;
use super::{MAX_FRAME, Mix, disturb, headers, rare};
use crate::craft::{Ip, Segment, Tcp, Transport, Udp, flags};

/// Total length of the longest IP packet.
const LONGEST_PACKET: usize = 65_535;
/// Header of an Ethernet frame.
const ETHERNET: usize = 14;

/// A sender of segments.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) template: Segment,
    pub(super) size: usize,
    /// Payload length of the last segment, which fills a merged packet up to the limit, and the
    /// number of segments before it.
    tail: Option<(usize, usize)>,
    sent: usize,
    ids: Vec<Counting>,
    /// A byte of every frame that is changed last, and the bits to flip.
    change: Option<(usize, u8)>,
}

/// How IPv4's identification goes on from frame to frame.
#[derive(Clone, Copy, Debug)]
enum Counting {
    Up,
    Fixed,
    Random,
}

impl Flow {
    /// Some flows. Many differ from an earlier one in a single property.
    pub(super) fn several(chance: &mut Chance, mix: Mix, count: usize) -> Vec<Self> {
        let mut flows = vec![Self::new(chance, mix)];
        while flows.len() < count {
            let flow = if chance.once_in(2) {
                flows[chance.below(flows.len())].sibling(chance)
            } else {
                Self::new(chance, mix)
            };
            flows.push(flow);
        }
        flows
    }

    fn new(chance: &mut Chance, mix: Mix) -> Self {
        let v6 = mix.v6 && chance.once_in(3);
        let transport = if mix.udp && chance.once_in(6) {
            udp(chance)
        } else {
            tcp(chance)
        };
        let mut template = Segment::new(headers::ip(chance, v6), transport);
        if mix.links && chance.once_in(10) {
            link(chance, &mut template);
        }
        if mix.tunnels && chance.once_in(5) {
            tunnels(chance, mix, &mut template);
        }
        if mix.rare && chance.once_in(2) {
            rare::template(chance, &mut template);
        }
        let change = if mix.rare && chance.once_in(4) {
            rare::change(chance, &template)
        } else {
            None
        };
        let mut flow = Self {
            template,
            size: 0,
            tail: None,
            sent: 0,
            ids: Vec::new(),
            change,
        };
        flow.ids = (0..3).map(|_| counting(chance)).collect();
        flow.set_size(chance);
        flow
    }

    /// A copy of this flow with one difference, perhaps in a field that GRO does not compare.
    fn sibling(&self, chance: &mut Chance) -> Self {
        let mut flow = self.clone();
        flow.sent = 0;
        let template = &mut flow.template;
        match chance.below(6) {
            0 => template.source_mac[5] ^= 0x10,
            1 => template.destination_mac[0] ^= 0x04,
            2 => disturb::address(chance, &mut template.ip),
            3 => disturb::link(chance, template),
            4 => disturb::tunnel(chance, template),
            _ => ports(template, chance.below(3) as u16),
        }
        flow
    }

    /// The next frame, perhaps changed.
    pub(super) fn next(&mut self, chance: &mut Chance, rate: usize) -> Vec<u8> {
        let size = self.next_size();
        let mut segment = self.template.clone();
        segment.payload = vec![0; size];
        if chance.permille(rate) {
            disturb::segment(chance, &mut segment);
            if chance.once_in(2) {
                self.keep(&segment);
            }
        }
        self.advance(chance, segment.payload.len());
        let mut frame = finish(segment);
        if let Some((at, bits)) = self.change
            && let Some(byte) = frame.get_mut(at)
        {
            *byte ^= bits;
        }
        frame
    }

    /// Keeps a change for the rest of the flow, but for the size.
    fn keep(&mut self, segment: &Segment) {
        self.template = Segment {
            payload: Vec::new(),
            ..segment.clone()
        };
    }

    fn next_size(&mut self) -> usize {
        self.sent += 1;
        match self.tail {
            Some((before, tail)) if self.sent.is_multiple_of(before + 1) => tail,
            _ => self.size,
        }
    }

    fn advance(&mut self, chance: &mut Chance, payload: usize) {
        if let Transport::Tcp(tcp) = &mut self.template.transport {
            tcp.seq = tcp.seq.wrapping_add(payload as u32);
        }
        let outer = self
            .template
            .tunnels
            .iter_mut()
            .map(|tunnel| &mut tunnel.outer);
        for (ip, counting) in std::iter::once(&mut self.template.ip)
            .chain(outer)
            .zip(&self.ids)
        {
            count(chance, ip, *counting);
        }
    }

    /// Chooses a size: a usual one, any, or one that fills 65,535 bytes together with its last segment.
    fn set_size(&mut self, chance: &mut Chance) {
        let headers = self.template.frame().len();
        let most = MAX_FRAME - headers;
        self.size = match chance.below(10) {
            0..=3 => 1448,
            4 => most,
            5 => chance.between(1, 20),
            6 => chance.between(1, most),
            7 | 8 => return self.fill_to_the_limit(chance, headers - ETHERNET, most),
            _ => chance.pick([100, 536, 1460, 4096, 8192]),
        };
    }

    /// Segments of one size, and a last one that brings a merged packet to the limit, one below or one above.
    fn fill_to_the_limit(&mut self, chance: &mut Chance, headers: usize, most: usize) {
        let room = LONGEST_PACKET - headers;
        let before = chance.between(8, 40);
        self.size = (room / (before + 1)).clamp(1, most - 2);
        self.size += chance.below(3);
        let before = room / self.size;
        self.tail = Some((before, room % self.size + chance.below(3)));
    }
}

/// Fills the payload with bytes that depend on their sequence number, and cuts the frame to the longest length.
fn finish(mut segment: Segment) -> Vec<u8> {
    let start = match &segment.transport {
        Transport::Tcp(tcp) => tcp.seq,
        Transport::Udp(_) => 0,
    };
    for (at, byte) in segment.payload.iter_mut().enumerate() {
        let position = start.wrapping_add(at as u32);
        *byte = (position ^ (position >> 8)) as u8;
    }
    let frame = segment.frame();
    let excess = frame.len().saturating_sub(MAX_FRAME);
    if excess == 0 {
        return frame;
    }
    segment
        .payload
        .truncate(segment.payload.len().saturating_sub(excess));
    segment.frame()
}

fn tcp(chance: &mut Chance) -> Transport {
    Transport::Tcp(Tcp {
        source: 5000 + chance.below(3) as u16,
        seq: if chance.once_in(8) {
            u32::MAX - 5000
        } else {
            chance.any()
        },
        ack: chance.any(),
        window: chance.any() as u16,
        flags: chance.pick([
            flags::ACK,
            flags::ACK,
            flags::ACK,
            flags::ACK | flags::ECE,
            flags::ACK | flags::AE,
        ]),
        options: headers::tcp_options(chance),
        ..Tcp::default()
    })
}

fn udp(chance: &mut Chance) -> Transport {
    let destination = chance.pick([443, 443, 443, 9]);
    let no_checksum = chance.once_in(8);
    Transport::Udp(Udp {
        source: 5000 + chance.below(3) as u16,
        destination,
        no_checksum,
        ..Udp::default()
    })
}

fn link(chance: &mut Chance, template: &mut Segment) {
    if chance.once_in(4) {
        template.pppoe = Some(1 + chance.below(2) as u16);
    } else {
        template.tags = headers::tags(chance);
    }
}

fn tunnels(chance: &mut Chance, mix: Mix, template: &mut Segment) {
    let levels = if chance.once_in(8) { 2 } else { 1 };
    for _ in 0..levels {
        let v6 = mix.v6 && chance.once_in(4);
        template.tunnels.push(headers::tunnel(chance, v6));
    }
}

/// Both ports of UDP and TCP.
fn ports(template: &mut Segment, offset: u16) {
    match &mut template.transport {
        Transport::Tcp(tcp) => {
            (tcp.source, tcp.destination) = (tcp.source + 10, tcp.destination + offset);
        }
        Transport::Udp(udp) => {
            (udp.source, udp.destination) = (udp.source + 10, udp.destination + offset);
        }
    }
}

fn counting(chance: &mut Chance) -> Counting {
    match chance.below(8) {
        0..=4 => Counting::Up,
        5 | 6 => Counting::Fixed,
        _ => Counting::Random,
    }
}

fn count(chance: &mut Chance, ip: &mut Ip, counting: Counting) {
    let Ip::V4(ip) = ip else { return };
    ip.id = match counting {
        Counting::Up => ip.id.wrapping_add(1),
        Counting::Fixed => ip.id,
        Counting::Random => chance.any() as u16,
    };
}
