//! What an endpoint sends: the fields of every header.

use super::super::sender::Transmission;
use super::{Context, Endpoint, Phase};
use crate::packet::{
    ACK, CWR, Checksum, Content, ECE, FIN, Options, Origin, PSH, Packet, Piece, SYN, Tcp,
};
use crate::scenario::{IpIds, Push};
use crate::schedule::{Nanos, SECOND};

/// First timeout of a SYN (RFC 6298 section 2.1).
const SYN_TIMEOUT: Nanos = SECOND;

impl Endpoint {
    pub(super) fn send_all(&mut self, sending: &[Transmission], context: &mut Context<'_>) {
        for transmission in sending {
            let push = if self.pushes(transmission) { PSH } else { 0 };
            let fin = if transmission.fin { FIN } else { 0 };
            let reduced = self.cwr_flag(transmission);
            self.send(transmission, ACK | push | fin | reduced, context);
        }
    }

    fn pushes(&self, transmission: &Transmission) -> bool {
        match self.host.push {
            Push::Written => transmission.push,
            Push::Always => !transmission.lens.is_empty(),
            Push::Never => false,
        }
    }

    pub(super) fn send_ack(&mut self, blocks: &[(u64, u64)], context: &mut Context<'_>) {
        let start = self.halves.as_ref().map_or(0, |(sender, _)| sender.next());
        self.send(&bare(start), ACK, context);
        let base = self.peer_first_seq.wrapping_add(1);
        let uses_sack = self.uses_sack();
        let last = context.out.last_mut().and_then(Packet::tcp_mut);
        let room = (40 - 12 - usize::from(self.host.more_options) - 4) / 8;
        let blocks = &blocks[..blocks.len().min(room)];
        if let Some(tcp) = last.filter(|_| uses_sack) {
            let wire = |offset: u64| base.wrapping_add(offset as u32);
            tcp.options.sacks = blocks
                .iter()
                .map(|(from, to)| (wire(*from), wire(*to)))
                .collect();
        }
    }

    pub(super) fn send_syn(&mut self, context: &mut Context<'_>) {
        self.syn_at = context.now;
        self.syn_timer = Some(context.now + (SYN_TIMEOUT << self.syn_tries.min(6)));
        self.syn_tries += 1;
        let answering = self.phase == Phase::SynReceived;
        let agrees = match (self.host.ecn, answering) {
            (true, false) => ECE | CWR,
            (true, true) => ECE,
            (false, _) => 0,
        };
        let flags = agrees | if answering { SYN | ACK } else { SYN };
        let host = &self.host;
        let options = Options {
            mss: Some(self.announced_mss()),
            window_scale: Some(host.window_scale),
            sack_permitted: if answering {
                self.uses_sack()
            } else {
                host.sack
            },
            timestamps: (if answering {
                self.uses_timestamps()
            } else {
                host.timestamps
            })
            .then(|| (self.clock(context.now), self.echo)),
            ..Options::default()
        };
        let window = host.first_window.unwrap_or(host.receive_buffer);
        let window = window.min(0xffff) as u16;
        // A SYN takes the sequence number in front of the first byte.
        let (seq, ack) = (self.id.first_seq, self.acknowledged(answering));
        self.put(
            Parts {
                seq,
                ack,
                flags,
                window,
                options,
            },
            &bare(0),
            context,
        );
    }

    fn acknowledged(&self, any: bool) -> u32 {
        let next = self
            .halves
            .as_ref()
            .map_or(0, |(_, receiver)| receiver.next());
        let base = self.peer_first_seq.wrapping_add(1);
        if any {
            base.wrapping_add(next as u32)
        } else {
            0
        }
    }

    fn clock(&self, now: Nanos) -> u32 {
        self.id.clock.wrapping_add((now / self.host.tick) as u32)
    }

    pub(super) fn send(
        &mut self,
        transmission: &Transmission,
        flags: u8,
        context: &mut Context<'_>,
    ) {
        let timestamps = self
            .uses_timestamps()
            .then(|| (self.clock(context.now), self.echo));
        let window = self
            .halves
            .as_mut()
            .map_or(0, |(_, receiver)| receiver.window());
        let seq = self
            .id
            .first_seq
            .wrapping_add(1)
            .wrapping_add(transmission.start as u32);
        let options = Options {
            timestamps,
            more: self.host.more_options,
            ..Options::default()
        };
        let echo = if self.echoes { ECE } else { 0 };
        let flags = flags | echo;
        let ack = self.acknowledged(true);
        self.idle_since = context.now;
        self.put(
            Parts {
                seq,
                ack,
                flags,
                window,
                options,
            },
            transmission,
            context,
        );
    }

    fn put(&mut self, parts: Parts, transmission: &Transmission, context: &mut Context<'_>) {
        let pieces = number(&transmission.lens, context.next_piece);
        let count = pieces.len();
        let partial = self.host.checksum_offload;
        let tcp = Tcp {
            seq: parts.seq,
            ack: parts.ack,
            flags: parts.flags,
            window: parts.window,
            options: parts.options,
            start: transmission.start,
            pieces,
            origin: if count > 1 {
                Origin::Tso
            } else {
                Origin::Single
            },
            checksum: if partial {
                Checksum::Partial
            } else {
                Checksum::Full
            },
            reversible: true,
            gso_size: None,
        };
        let packet = self.wrap(tcp);
        self.count_ids(count.max(1) as u16);
        context.out.push(packet);
    }

    /// Random identifications come from the generator of the C library's `rand` (ISO/IEC 9899, 7.24.2): the next one is
    /// not obvious from a capture, and runs stay reproducible.
    fn count_ids(&mut self, packets: u16) {
        let next = match self.host.ip_ids {
            IpIds::Counted => self.id.ip_id.wrapping_add(packets),
            IpIds::Zero => 0,
            IpIds::Random => {
                self.id.chance = self
                    .id
                    .chance
                    .wrapping_mul(1_103_515_245)
                    .wrapping_add(12_345);
                (self.id.chance >> 16) as u16 | 1
            }
        };
        self.id.ip_id = next;
    }

    fn wrap(&self, tcp: Tcp) -> Packet {
        Packet {
            flow: self.id.flow,
            toward: self.id.side.other(),
            source: self.id.own,
            target: self.id.peer,
            ttl: self.host.ttl,
            ip_id: self.id.ip_id,
            dont_fragment: self.host.dont_fragment,
            zero_length: self.host.zero_total_length && tcp.origin == Origin::Tso,
            ecn: self.ecn_of(&tcp),
            extension: self.has_extension(),
            routers: 0,
            wrap: None,
            damaged: false,
            fragment: None,
            content: Content::Tcp(tcp),
        }
    }
}

/// The header fields that differ between a SYN and everything after it.
struct Parts {
    seq: u32,
    ack: u32,
    flags: u8,
    window: u16,
    options: Options,
}

/// A transmission without payload.
pub(super) fn bare(start: u64) -> Transmission {
    Transmission {
        start,
        lens: Vec::new(),
        fin: false,
        push: false,
    }
}

/// Numbers the segments of a transmission.
fn number(lens: &[u32], next: &mut u64) -> Vec<Piece> {
    let piece = |len: &u32| {
        *next += 1;
        Piece {
            id: *next,
            len: *len,
        }
    };
    lens.iter().map(piece).collect()
}
