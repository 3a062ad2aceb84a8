//! What an endpoint sends: the fields of every header.

use super::super::sender::Transmission;
use super::{Context, Endpoint, Phase};
use crate::packet::{ACK, Checksum, Content, FIN, Options, Origin, PSH, Packet, Piece, SYN, Tcp};
use crate::schedule::{MILLISECOND, Nanos, SECOND};

/// First timeout of a SYN (RFC 6298 section 2.1).
const SYN_TIMEOUT: Nanos = SECOND;

impl Endpoint {
    pub(super) fn send_all(&mut self, sending: &[Transmission], context: &mut Context<'_>) {
        for transmission in sending {
            let push = if transmission.push { PSH } else { 0 };
            let fin = if transmission.fin { FIN } else { 0 };
            self.send(transmission, ACK | push | fin, context);
        }
    }

    pub(super) fn send_ack(&mut self, blocks: &[(u64, u64)], context: &mut Context<'_>) {
        let start = self.halves.as_ref().map_or(0, |(sender, _)| sender.next());
        self.send(&bare(start), ACK, context);
        let base = self.peer_first_seq.wrapping_add(1);
        let uses_sack = self.uses_sack();
        let last = context.out.last_mut().and_then(Packet::tcp_mut);
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
        let flags = if answering { SYN | ACK } else { SYN };
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
            sacks: Vec::new(),
        };
        let window = host.receive_buffer.min(0xffff) as u16;
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

    /// The timestamp clock ticks once a millisecond, as Linux's does.
    fn clock(&self, now: Nanos) -> u32 {
        self.id.clock.wrapping_add((now / MILLISECOND) as u32)
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
            ..Options::default()
        };
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
            said: None,
        };
        let packet = self.wrap(tcp);
        self.id.ip_id = self.id.ip_id.wrapping_add(count.max(1) as u16);
        context.out.push(packet);
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
