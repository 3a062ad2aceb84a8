//! A connection at one point: its ends, handshake, phases and two flows.

mod handshake;
mod lines;
mod predicted;
mod window;

use coalescope_wire::{Flags, Tunnels, Vlans};

use crate::flow::{Around, Data, Flow, Late};
use crate::frame::{Frame, TooBig};
use crate::halves::Halves;
use crate::key::Key;
use crate::outstanding::Common;
use crate::phases::PhaseClock;
use handshake::{Handshake, SMALL_MSS, Syn};

/// Index of the direction that the lower end of the key sends.
pub(crate) const LOW: usize = 0;
/// Index of the direction that the higher end of the key sends.
pub(crate) const HIGH: usize = 1;

/// What a frame did, for the join with other points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tracked {
    /// Position of the first payload byte.
    pub(crate) start: u64,
    pub(crate) data: Data,
    /// Position that the frame acknowledges in the other direction, when that advanced.
    pub(crate) acked: Option<u64>,
}

/// One connection. Fields are in the order of memory: first two cache lines, beginning with the fields that expected
/// frames touch, then the two directions.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) key: Key,
    pub(crate) last_ns: i64,
    /// Round trip of the whole path as far as the first frames show it; 0 if they do not.
    rtt_ns: i64,
    rtt_known: bool,
    pub(crate) client_is_low: bool,
    pub(crate) reset: bool,
    /// The SYN-ACK was seen, and no ACK of the SYN-ACK yet.
    awaits_handshake: bool,
    /// Both directions have begun and no handshake is open: frames can be predicted.
    is_steady: bool,
    /// Bits of both ends.
    ends: u64,
    pub(crate) phases: PhaseClock,
    pub(crate) handshake: Handshake,
    pub(crate) first_number: u64,
    pub(crate) first_ns: i64,
    /// The longer half of the round trip, where the whole is not known.
    half_ns: i64,
    /// VLAN tags and tunnels; boxed, since most connections have none.
    pub(crate) layers: Option<Box<(Vlans, Tunnels)>>,
    pub(crate) flows: [Flow; 2],
}

impl Connection {
    pub(crate) fn new(frame: &Frame) -> Self {
        let mut connection = Self {
            key: frame.key,
            last_ns: frame.time_ns,
            rtt_ns: 0,
            rtt_known: false,
            client_is_low: frame.key.client_is_low_by_ports(),
            reset: false,
            awaits_handshake: false,
            is_steady: false,
            ends: frame.key.mark(),
            phases: PhaseClock::default(),
            handshake: Handshake::default(),
            first_number: frame.number,
            first_ns: frame.time_ns,
            half_ns: 0,
            layers: frame.layers(),
            flows: [Flow::default(), Flow::default()],
        };
        if frame.flags.has(Flags::SYN) {
            let sender_is_client = !frame.flags.has(Flags::ACK);
            connection.client_is_low = frame.from_low == sender_is_client;
        }
        connection
    }

    /// Whether this SYN begins another connection between the same ends (a port used again).
    pub(crate) fn is_succeeded_by(&self, frame: &Frame) -> bool {
        let first_syn = frame.flags.has(Flags::SYN) && !frame.flags.has(Flags::ACK);
        first_syn
            && match self.handshake.syn {
                Some(syn) => syn.isn != frame.seq,
                None => self.flows.iter().any(|flow| flow.counts.data_frames > 0),
            }
    }

    /// Whether this frame can be the first one of the direction of which nothing was seen: its numbers are near those of the
    /// other direction.
    pub(crate) fn is_answered_by(&self, frame: &Frame) -> bool {
        let from = if frame.from_low { LOW } else { HIGH };
        let [own, other] = [from, 1 - from].map(|index| &self.flows[index]);
        frame.flags.has(Flags::ACK)
            && own.counts.frames == 0
            && own.is_near(frame.seq)
            && other.is_near(frame.ack)
    }

    /// Takes a frame of this connection.
    #[inline(always)]
    pub(crate) fn track(&mut self, frame: &Frame, common: &mut Common) -> Tracked {
        match self.predicts(frame, common) {
            Some(prediction) => self.track_predicted(frame, prediction, common),
            None => self.track_any(frame, common),
        }
    }

    /// Takes a frame of this connection; true if the frame is a copy of an earlier one.
    #[inline(always)]
    pub(crate) fn take(&mut self, frame: &Frame, common: &mut Common) -> bool {
        match self.predicts(frame, common) {
            Some(prediction) => {
                self.take_predicted(frame, prediction, common);
                false
            }
            None => self.track_any(frame, common).data == Data::Doubled,
        }
    }

    /// Processes any frame, with all checks.
    #[inline(never)]
    fn track_any(&mut self, frame: &Frame, common: &mut Common) -> Tracked {
        let tracked = self.track_one(frame, common);
        let is_started = self.flows.iter().all(Flow::is_started);
        self.is_steady = is_started && !self.awaits_handshake;
        tracked
    }

    #[inline(always)]
    fn track_one(&mut self, frame: &Frame, common: &mut Common) -> Tracked {
        self.last_ns = self.last_ns.max(frame.time_ns);
        let from = if frame.from_low { LOW } else { HIGH };
        let (rtt_ns, least_rtt_ns, ends) = (self.rtt_ns, self.least_rtt_ns(), self.ends);
        let reset = self.reset;
        let (sender, receiver) = self.sides(frame);
        // The state before this frame: send and acknowledged change it below.
        let around = Around {
            loss_reported: receiver.acks.reports_loss(),
            without_sack: receiver.acks.sack_frames == 0,
            rtt_ns,
            least_rtt_ns,
            turn_ns: receiver.turn.min_ns(),
            asked_ns: receiver.last_data_ns,
            is_heard: receiver.acks.pure > 1,
            ends,
            reset,
            advances: frame.flags.has(Flags::ACK) && receiver.is_advanced_by(frame),
            acknowledged: receiver.first_acknowledged(frame, &sender.acks),
        };
        let waited = sender.may_have_waited(frame, least_rtt_ns);
        let (start, data) = sender.send(frame, around, common);
        if data == Data::Doubled {
            return Tracked {
                start,
                data,
                acked: None,
            };
        }
        // Asked before acks.add, which counts this ACK: the hole is one that earlier ACKs reported.
        let late = Late {
            after_hole: sender.acks.is_repeating(),
            waited,
        };
        let advanced = receiver.acknowledged(frame, late, common);
        // After acknowledged: an ACK of all data that was sent is no duplicate ACK (RFC 5681, section 2).
        sender.acks.add(frame, receiver.has_outstanding());
        let acked = advanced.then_some(receiver.una);
        self.special(frame, from, data);
        let (sender, receiver) = self.sides(frame);
        let is_reached = frame.payload > 0 && sender.is_at_edge();
        let is_awaited = receiver.awaits_edge();
        self.follow_edge(frame, is_reached, is_awaited);
        Tracked { start, data, acked }
    }

    #[inline]
    fn special(&mut self, frame: &Frame, from: usize, data: Data) {
        let from_client = (from == LOW) == self.client_is_low;
        if frame.flags.has(Flags::SYN | Flags::RST) {
            self.reset |= frame.flags.has(Flags::RST);
            if frame.flags.has(Flags::SYN) {
                self.take_syn(frame, from);
            }
        } else if self.awaits_handshake && from_client {
            self.take_handshake_ack(frame);
        }
        if data == Data::New {
            self.phases.data(frame, from_client);
            self.learn_rtt();
        }
    }

    #[cold]
    fn take_syn(&mut self, frame: &Frame, from: usize) {
        let syn = Syn::new(frame);
        if frame.flags.has(Flags::ACK) {
            self.handshake.take_answer(frame, syn);
        } else {
            self.handshake.syn_ns = frame.time_ns;
            self.handshake.syn = Some(syn);
            self.phases.syn(frame.time_ns);
        }
        self.awaits_handshake = self.handshake.is_awaited();
        self.flows[from].begin_if_new(frame.seq.wrapping_add(1));
        // Until the other SYN comes, and where it never does: a host's own MSS is about what its interface sends.
        if let Some(mss) = syn.mss.filter(|mss| *mss >= SMALL_MSS) {
            self.flows[from].tally.segment.set_bound(u32::from(mss));
        }
        self.learn_options();
    }

    /// Options count when both sides sent them (RFC 7323 2.2, 3.2).
    fn learn_options(&mut self) {
        let (Some(syn), Some(syn_ack)) = (self.handshake.syn, self.handshake.syn_ack) else {
            return;
        };
        if let Some((own, other)) = syn.scale.zip(syn_ack.scale) {
            let (own, other) = own.zip(other).unwrap_or((0, 0));
            let client = if self.client_is_low { LOW } else { HIGH };
            self.flows[client].acks.set_scale(own);
            self.flows[1 - client].acks.set_scale(other);
        }
        let options = self.handshake.options();
        let mss = syn.mss.into_iter().chain(syn_ack.mss).min();
        if let Some(bound) = mss.and_then(|mss| u32::from(mss).checked_sub(options)) {
            for flow in &mut self.flows {
                flow.tally.segment.set_bound(bound.max(1));
            }
        }
    }

    #[cold]
    fn take_handshake_ack(&mut self, frame: &Frame) {
        self.handshake.ack_ns = frame.time_ns;
        self.awaits_handshake = self.handshake.is_awaited();
        self.phases.connected(frame.time_ns);
        // Without the SYN the handshake shows half a round trip: the rest has to be learned from what follows.
        if let Some(rtt_ns) = self.handshake.rtt_ns() {
            self.rtt_ns = rtt_ns;
            self.rtt_known = true;
        }
    }

    /// Learns the round trip. Without a handshake the two halves of the path stand in for it, as far as they are known:
    /// in a capture that begins in the middle of losses the first frames are often data that waited for a repair.
    #[inline]
    fn learn_rtt(&mut self) {
        if self.rtt_known {
            return;
        }
        let halves = self.halves();
        match halves.whole_ns() {
            Some(whole) => self.rtt_ns = whole,
            None => self.half_ns = halves.to_server_ns.max(halves.to_client_ns).unwrap_or(0),
        }
    }

    /// A lower bound of the round trip: the whole if known, else its longer half.
    #[inline(always)]
    fn least_rtt_ns(&self) -> i64 {
        if self.rtt_ns > 0 {
            self.rtt_ns
        } else {
            self.half_ns
        }
    }

    /// The direction that a frame belongs to, and the opposite direction.
    #[inline(always)]
    fn sides(&mut self, frame: &Frame) -> (&mut Flow, &mut Flow) {
        let [low, high] = &mut self.flows;
        if frame.from_low {
            (low, high)
        } else {
            (high, low)
        }
    }

    /// Counts a "packet too big" that came now and quotes a frame of the given direction.
    pub(crate) fn reject(&mut self, error: &TooBig, now_ns: i64) {
        let options = self.handshake.options();
        let flow = &mut self.flows[if error.from_low { LOW } else { HIGH }];
        flow.reject(error, options, (now_ns, self.rtt_ns));
    }

    /// The two halves of the path, from the handshake or else from data and echoes.
    pub(crate) fn halves(&self) -> Halves {
        let handshake = self.handshake.halves();
        let client = if self.client_is_low { LOW } else { HIGH };
        let turn = |side: usize| self.flows[side].turn.min_ns();
        Halves {
            to_server_ns: least(handshake.to_server_ns, turn(client)),
            to_client_ns: least(handshake.to_client_ns, turn(1 - client)),
        }
    }

    /// Payload bytes, each once, of the direction that has more of them.
    pub(crate) fn most_bytes(&self) -> u64 {
        let [low, high] = &self.flows;
        low.unique_bytes().max(high.unique_bytes())
    }

    /// See [`crate::outstanding::Outstanding::rest`].
    #[inline]
    pub(crate) fn rest(&mut self, common: &mut Common) {
        for flow in &mut self.flows {
            flow.outstanding.rest(common);
        }
    }

    /// Whether the connection was closed or reset, or its SYN was never answered.
    pub(crate) fn is_over(&self) -> bool {
        let [low, high] = &self.flows;
        let has_data = self.flows.iter().any(|flow| flow.counts.data_frames > 0);
        let is_unanswered = self.handshake.syn_ack.is_none() && !has_data;
        self.reset || low.fin && high.fin || is_unanswered
    }

    /// Settles what is still open.
    pub(crate) fn finish(&mut self, common: &mut Common) {
        let last_ns = self.last_ns;
        let largest = self.flows.each_ref().map(|flow| flow.acks.largest_window());
        let [low, high] = &mut self.flows;
        low.finish(common, last_ns, largest[1]);
        high.finish(common, last_ns, largest[0]);
    }
}

fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}
