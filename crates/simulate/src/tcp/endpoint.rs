//! One end of one connection: handshake, header fields, and the two halves put together.

mod marks;
mod outgoing;
mod reset;

use std::net::IpAddr;

use super::receiver::Receiver;
use super::rtt::Rtt;
use super::sender::{Acknowledged, Chrono, Sender};
use crate::app::App;
use crate::packet::{ACK, Content, EXTENSION, FIN, Options, Packet, RST, SYN, Tcp};
use crate::scenario::{Host, Turn};
use crate::schedule::{MILLISECOND, Nanos};
use crate::side::Side;
use outgoing::bare;

/// Timeout assumed when a handshake gave no round-trip time.
const UNKNOWN_RTT: Nanos = 100 * MILLISECOND;

/// What an endpoint is called with: the time, the numbers for pieces, and room for what it sends.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Nanos,
    pub(crate) next_piece: &'a mut u64,
    pub(crate) out: Vec<Packet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    SynSent,
    SynReceived,
    Open,
}

/// Where an endpoint is and what it starts from.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) flow: usize,
    pub(crate) side: Side,
    pub(crate) own: (IpAddr, u16),
    pub(crate) peer: (IpAddr, u16),
    pub(crate) first_seq: u32,
    pub(crate) clock: u32,
    pub(crate) ip_id: u16,
    /// Where chance stands for identifications that are drawn.
    pub(crate) chance: u32,
}

/// One end of one connection.
#[derive(Debug)]
pub(crate) struct Endpoint {
    id: Identity,
    host: Host,
    phase: Phase,
    app: App,
    halves: Option<(Sender, Receiver)>,
    peer_first_seq: u32,
    peer: Options,
    peer_window: u16,
    echo: u32,
    syn_at: Nanos,
    syn_timer: Option<Nanos>,
    syn_tries: u32,
    idle_since: Nanos,
    assembling: Option<(u16, usize)>,
    /// A mark came, and its sender has not sent CWR yet.
    echoes: bool,
    /// It has sent or received a reset.
    is_reset: bool,
    /// When the connection was set up, as seen from here.
    pub(crate) opened_at: Option<Nanos>,
    /// When data arrived last that went on the stream: a needless repeat brings nothing.
    pub(crate) received_at: Option<Nanos>,
    /// The round trip of the handshake.
    pub(crate) handshake: Option<Nanos>,
}

impl Endpoint {
    /// An end that has not spoken yet.
    pub(crate) fn new(id: Identity, host: &Host, turns: &[Turn]) -> Self {
        Self {
            app: App::new(turns, id.side),
            id,
            host: host.clone(),
            phase: Phase::Idle,
            halves: None,
            peer_first_seq: 0,
            peer: Options::default(),
            peer_window: 0,
            echo: 0,
            syn_at: 0,
            syn_timer: None,
            syn_tries: 0,
            idle_since: 0,
            assembling: None,
            echoes: false,
            is_reset: false,
            opened_at: None,
            received_at: None,
            handshake: None,
        }
    }

    /// The client connects.
    pub(crate) fn connect(&mut self, context: &mut Context<'_>) {
        self.phase = Phase::SynSent;
        self.send_syn(context);
    }

    /// Payload bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.halves
            .as_ref()
            .map_or(0, |(_, receiver)| receiver.received())
    }

    /// Timeouts of the sender so far.
    pub(crate) fn timeouts(&self) -> u64 {
        self.halves
            .as_ref()
            .map_or(0, |(sender, _)| sender.timeouts)
    }

    /// The sender's time, by what it waited for.
    pub(crate) fn chrono(&self) -> Chrono {
        let halves = self.halves.as_ref();
        halves.map_or_else(Chrono::default, |(sender, _)| sender.chrono)
    }

    /// Both directions are closed.
    pub(crate) fn is_closed(&self) -> bool {
        let closed =
            |(sender, receiver): &(Sender, Receiver)| sender.is_done() && receiver.is_closed();
        self.halves.as_ref().is_some_and(closed)
    }

    /// When this end must be called.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        if self.is_reset {
            return None;
        }
        let mut times = vec![self.syn_timer, self.app.deadline(), self.keepalive_at()];
        times.push(self.reset_at());
        if let Some((sender, receiver)) = &self.halves {
            times.extend([sender.deadline(), receiver.deadline()]);
        }
        times.into_iter().flatten().min()
    }

    fn keepalive_at(&self) -> Option<Nanos> {
        let idle = self.host.keepalive?;
        (self.phase == Phase::Open && !self.is_closed()).then_some(self.idle_since + idle)
    }

    /// Called at the time asked for.
    pub(crate) fn on_time(&mut self, context: &mut Context<'_>) {
        if self.syn_timer.is_some_and(|at| at <= context.now) {
            self.send_syn(context);
        }
        let now = context.now;
        if self.reset_at().is_some_and(|at| at <= now) && !self.is_reset {
            return self.reset(context);
        }
        let Some((sender, receiver)) = &mut self.halves else {
            return;
        };
        let sending = sender.on_time(now);
        let acknowledge = receiver.on_time(now);
        self.send_all(&sending, context);
        self.proceed(acknowledge, context);
        self.keep_alive(context);
    }

    /// An old sequence number, which makes the peer answer (RFC 9293 section 3.8.4).
    fn keep_alive(&mut self, context: &mut Context<'_>) {
        if self.keepalive_at().is_some_and(|at| at <= context.now) {
            self.idle_since = context.now;
            let start = self.halves.as_ref().map_or(0, |(sender, _)| sender.next());
            self.send(&bare(start.wrapping_sub(1)), ACK, context);
        }
    }

    /// A packet has arrived.
    pub(crate) fn receive(&mut self, packet: &Packet, context: &mut Context<'_>) {
        if packet.damaged || self.is_reset || !self.assembled(packet) {
            return;
        }
        let tcp = match &packet.content {
            Content::Tcp(tcp) => tcp,
            Content::TooBig(message) => return self.reduce(message.mtu, context),
        };
        if tcp.flags & RST != 0 {
            self.is_reset = true;
            return;
        }
        self.hear_marks(packet, tcp);
        self.idle_since = context.now;
        self.take_timestamps(tcp);
        if tcp.flags & SYN != 0 {
            self.receive_syn(tcp, context);
            return;
        }
        if self.phase == Phase::SynReceived {
            self.open(context.now);
        }
        self.receive_segment(tcp, context);
    }

    /// True when a packet is whole; fragments must come in order, which they do here.
    fn assembled(&mut self, packet: &Packet) -> bool {
        let Some(part) = packet.fragment else {
            return true;
        };
        let known = match self.assembling {
            Some((id, len)) if id == packet.ip_id => len,
            _ => 0,
        };
        if part.offset != known {
            return false;
        }
        self.assembling = Some((packet.ip_id, known + part.len));
        !part.more
    }

    /// Takes the MTU that a router reports. An MTU below the one in use makes segments smaller, and segments that were
    /// too long are sent again at once (RFC 1191 section 6.4; Linux's `tcp_v4_mtu_reduced`).
    fn reduce(&mut self, mtu: u16, context: &mut Context<'_>) {
        let headers = if self.id.own.0.is_ipv4() { 40 } else { 60 };
        let options = if self.uses_timestamps() { 12 } else { 0 };
        let mss = u64::from(mtu).saturating_sub(headers + options);
        let Some((sender, _)) = &mut self.halves else {
            return;
        };
        if sender.shrink(mss) {
            self.proceed(false, context);
        }
    }

    fn take_timestamps(&mut self, tcp: &Tcp) {
        if let Some((value, _)) = tcp.options.timestamps {
            self.echo = value;
        }
    }

    fn receive_syn(&mut self, tcp: &Tcp, context: &mut Context<'_>) {
        self.peer_first_seq = tcp.seq;
        self.peer = tcp.options.clone();
        self.peer_window = tcp.window;
        match self.phase {
            Phase::Idle | Phase::SynReceived => {
                self.phase = Phase::SynReceived;
                self.send_syn(context);
            }
            Phase::SynSent => {
                self.open(context.now);
                self.proceed(true, context);
            }
            Phase::Open => self.proceed(true, context),
        }
    }

    fn open(&mut self, now: Nanos) {
        let sample = if self.syn_tries == 1 {
            now - self.syn_at
        } else {
            UNKNOWN_RTT
        };
        self.handshake = (self.syn_tries == 1).then_some(sample);
        self.phase = Phase::Open;
        self.opened_at = Some(now);
        self.syn_timer = None;
        let mss = self.segment_size();
        let host = &self.host;
        let window = u64::from(self.peer_window);
        let sender = Sender::new(mss, host.initial_window, window, Rtt::new(sample));
        let sender = sender.with(host, self.uses_sack());
        let receiver = Receiver::new(mss, host);
        self.halves = Some((sender, receiver));
    }

    /// Payload per segment: the smaller MSS less the options of every segment (RFC 6691).
    pub(crate) fn segment_size(&self) -> u64 {
        let own = u64::from(self.announced_mss());
        let peer = self.peer.mss.map_or(536, u64::from);
        let extension = if self.has_extension() {
            EXTENSION as u64
        } else {
            0
        };
        let more = u64::from(self.host.more_options) + extension;
        own.min(peer) - if self.uses_timestamps() { 12 } else { 0 } - more
    }

    fn has_extension(&self) -> bool {
        self.host.extension && !self.id.own.0.is_ipv4()
    }

    fn announced_mss(&self) -> u16 {
        let headers = if self.id.own.0.is_ipv4() { 40 } else { 60 };
        (self.host.mtu.min(65_535) - headers) as u16
    }

    fn uses_timestamps(&self) -> bool {
        self.host.timestamps && self.peer.timestamps.is_some()
    }

    fn uses_sack(&self) -> bool {
        self.host.sack && self.peer.sack_permitted
    }

    fn receive_segment(&mut self, tcp: &Tcp, context: &mut Context<'_>) {
        let now = context.now;
        let ack = self.acknowledgement(tcp);
        let start = tcp.seq.wrapping_sub(self.peer_first_seq.wrapping_add(1));
        let Some((sender, receiver)) = &mut self.halves else {
            return;
        };
        sender.acknowledge(&ack, now);
        let mut acknowledge = false;
        if tcp.len() > 0 {
            let before = receiver.received();
            acknowledge =
                receiver.receive(u64::from(start), tcp.len() as u64, tcp.pieces.len(), now);
            if receiver.received() > before {
                self.received_at = Some(now);
            }
        } else if tcp.flags & FIN == 0 && is_before(start, receiver.next() as u32) {
            // A window probe or a keep-alive.
            acknowledge = true;
        }
        if tcp.flags & FIN != 0 {
            receiver.finish(u64::from(start) + tcp.len() as u64);
            acknowledge = true;
        }
        self.proceed(acknowledge, context);
    }

    fn acknowledgement(&self, tcp: &Tcp) -> Acknowledged {
        let base = self.id.first_seq.wrapping_add(1);
        let offset = |seq: u32| u64::from(seq.wrapping_sub(base));
        let upto = offset(tcp.ack);
        let scale = self.peer.window_scale.unwrap_or(0);
        let sacks = tcp.options.sacks.iter();
        Acknowledged {
            upto,
            sacks: sacks
                .map(|(left, right)| (offset(*left), offset(*right)))
                .collect(),
            edge: upto + (u64::from(tcp.window) << scale),
            pure: tcp.len() == 0 && tcp.flags & FIN == 0,
        }
    }

    /// Lets the application go on, sends what may be sent, and acknowledges if need be.
    fn proceed(&mut self, acknowledge: bool, context: &mut Context<'_>) {
        let now = context.now;
        let Some((sender, receiver)) = &mut self.halves else {
            return;
        };
        while let Some(bytes) = self.app.poll(now, receiver.received()) {
            sender.write(bytes);
        }
        let last_word = self.id.side == Side::Server || receiver.is_closed();
        let closes_early = self.host.half_close && self.app.has_spoken();
        if closes_early || self.app.is_done() && last_word {
            sender.finish();
        }
        let blocks = if acknowledge {
            receiver.blocks()
        } else {
            Vec::new()
        };
        let sending = sender.transmit(now);
        if acknowledge && (sending.is_empty() || !blocks.is_empty()) {
            self.send_ack(&blocks, context);
        }
        self.send_all(&sending, context);
    }
}

/// Comparison of sequence numbers (RFC 9293 section 3.4).
fn is_before(left: u32, right: u32) -> bool {
    left.wrapping_sub(right) > u32::MAX / 2
}
