//! The sending half of a TCP connection: what may be sent, what was lost, what to send again.
//!
//! Loss detection is RFC 6675's (three segments' worth of SACKed bytes above a hole) and RFC
//! 8985's (something sent later has arrived); the window during recovery follows RFC 6937's
//! proportional rate reduction with its conservative bound, so that a sender that has lost nearly
//! everything goes on with one segment for each that arrives. Counting is in bytes and in integers.

mod bbr;
mod chrono;
mod timers;
mod window;

use std::collections::VecDeque;

use super::rtt::Rtt;
use super::scoreboard::{Chunk, Scoreboard};
use crate::scenario::{Congestion, Host};
use crate::schedule::Nanos;
use bbr::Bbr;
pub(crate) use chrono::Chrono;
use window::{Prr, State};

/// Segments above a hole that make it a loss (RFC 6675 section 2).
const DUP_THRESH: u64 = 3;
/// Longest IP packet a TSO frame may be, less room for headers.
const TSO_MAX: u64 = 65_535 - 120;

/// What an acknowledgement reports to the sender.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) upto: u64,
    pub(crate) sacks: Vec<(u64, u64)>,
    /// Right edge of the window.
    pub(crate) edge: u64,
    /// No data, no SYN or FIN: may count as a duplicate.
    pub(crate) pure: bool,
}

/// Something to put on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    /// One length for each segment; empty for a FIN or a probe.
    pub(crate) lens: Vec<u32>,
    pub(crate) fin: bool,
    pub(crate) push: bool,
}

/// The sending half.
#[derive(Debug)]
pub(crate) struct Sender {
    mss: u64,
    tso: bool,
    sack: bool,
    tail_probe: bool,
    board: Scoreboard,
    next: u64,
    written: u64,
    pushes: VecDeque<u64>,
    finished: bool,
    edge: u64,
    cwnd: u64,
    ssthresh: u64,
    growth: u64,
    limited: bool,
    state: State,
    prr: Prr,
    dupacks: u64,
    rtt: Rtt,
    probed: bool,
    timer: Option<Nanos>,
    timer_is_probe: bool,
    persist: Option<Nanos>,
    probes_mtu: bool,
    /// Timeouts in a row without anything acknowledged in between.
    in_vain: u32,
    bbr: Option<Bbr>,
    send_buffer: u64,
    /// Marks reduce the window once until this is acknowledged.
    reduced_until: u64,
    /// The next frame of new data says that the window was reduced for a mark.
    owes_cwr: bool,
    /// When pacing allows the next sending.
    pace: Option<Nanos>,
    /// The time, by what the sender waited for.
    pub(crate) chrono: Chrono,
    /// Timeouts so far.
    pub(crate) timeouts: u64,
}

impl Sender {
    /// A sender after the handshake.
    pub(crate) fn new(mss: u64, initial_window: u32, edge: u64, rtt: Rtt) -> Self {
        Self {
            mss,
            tso: true,
            sack: true,
            tail_probe: true,
            board: Scoreboard::default(),
            next: 0,
            written: 0,
            pushes: VecDeque::new(),
            finished: false,
            edge,
            cwnd: mss * u64::from(initial_window),
            ssthresh: u64::MAX,
            growth: 0,
            limited: false,
            state: State::Open,
            prr: Prr::default(),
            dupacks: 0,
            rtt,
            probed: false,
            timer: None,
            timer_is_probe: false,
            persist: None,
            probes_mtu: false,
            in_vain: 0,
            bbr: None,
            send_buffer: u64::MAX,
            reduced_until: 0,
            owes_cwr: false,
            pace: None,
            chrono: Chrono::default(),
            timeouts: 0,
        }
    }

    /// Applies a host's settings; SACK is used if both ends support it.
    pub(crate) fn with(mut self, host: &Host, sack: bool) -> Self {
        self.tso = host.tso;
        self.sack = sack;
        self.tail_probe = host.tail_probe && sack;
        self.probes_mtu = host.mtu_probing;
        self.send_buffer = host.send_buffer;
        if host.congestion == Congestion::Bbr {
            self.bbr = Some(Bbr::new(self.mss, self.cwnd, self.rtt.smoothed()));
        }
        self
    }

    /// Continues with shorter segments, if these are shorter: longer ones in flight are taken for lost.
    pub(crate) fn shrink(&mut self, mss: u64) -> bool {
        if mss >= self.mss || mss == 0 {
            return false;
        }
        self.mss = mss;
        self.board.recut(mss);
        self.timer = None;
        true
    }

    /// Called when the application writes.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.written += bytes;
        self.pushes.push_back(self.written);
    }

    /// The application closes.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Everything written, and the FIN, is acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.finished && self.board.is_empty() && self.next > self.written
    }

    /// First byte not yet acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.board.first().map_or(self.next, |chunk| chunk.start)
    }

    /// Next byte to send.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// When the sender must be called.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let times = [self.timer, self.persist, self.pace];
        times.into_iter().flatten().min()
    }

    /// Takes in an acknowledgement.
    pub(crate) fn acknowledge(&mut self, ack: &Acknowledged, now: Nanos) {
        let before = self.unacknowledged();
        let same_window = ack.edge == self.edge;
        self.edge = self.edge.max(ack.edge);
        if ack.upto > self.next || ack.upto < before {
            return;
        }
        let mut delivered = self.board.acknowledge(ack.upto, now, &mut self.rtt);
        if self.sack {
            delivered += self.board.sack(&ack.sacks, now, &mut self.rtt);
        } else if ack.upto == before && ack.pure && same_window && !self.board.is_empty() {
            self.dupacks += 1;
            delivered = self.mss;
        }
        let advanced = ack.upto - before;
        self.find_losses(advanced);
        self.react(delivered, advanced, ack.upto);
        self.follow_model(delivered, ack.upto, now);
        if advanced > 0 {
            self.rtt.reset_backoff();
            self.in_vain = 0;
        }
        if advanced > 0 || delivered > 0 {
            self.probed = false;
            self.arm(now);
        }
        if self.edge > self.next {
            self.persist = None;
        }
    }

    /// Marks segments that must be taken for lost.
    fn find_losses(&mut self, advanced: u64) {
        if self.sack {
            self.board.mark_holes((DUP_THRESH - 1) * self.mss);
            self.board.mark_overtaken(self.rtt.smoothed() / 4);
            return;
        }
        let in_recovery = self.state != State::Open;
        if self.dupacks >= DUP_THRESH && !in_recovery || advanced > 0 && in_recovery {
            // NewReno (RFC 6582): the third duplicate, or a partial acknowledgement, shows one
            // hole.
            self.board.mark_first();
        }
        if advanced > 0 {
            self.dupacks = 0;
        }
    }

    /// Bytes thought to be in the network.
    fn pipe(&self) -> u64 {
        let guessed = if self.sack {
            0
        } else {
            self.dupacks * self.mss
        };
        self.board.pipe().saturating_sub(guessed)
    }

    /// The transmissions that may be sent now.
    pub(crate) fn transmit(&mut self, now: Nanos) -> Vec<Transmission> {
        let mut out = Vec::new();
        while !self.is_paced(now) {
            let Some(sending) = self.retransmit(now).or_else(|| self.send_new(now)) else {
                self.pace = None;
                break;
            };
            self.pace_out(&sending, now);
            out.push(sending);
        }
        self.keep_time(now);
        if self.timer.is_none() && !self.board.is_empty() {
            self.arm(now);
        }
        self.arm_persist(now);
        out
    }

    /// A lost segment, alone: Linux and others resend single segments.
    fn retransmit(&mut self, now: Nanos) -> Option<Transmission> {
        let pipe = self.pipe();
        if pipe > 0 && pipe + self.mss > self.cwnd {
            return None;
        }
        let chunk = self.board.resend_lost(now)?;
        self.prr.out += u64::from(chunk.len);
        Some(self.transmission(&[chunk]))
    }

    fn send_new(&mut self, now: Nanos) -> Option<Transmission> {
        let room = self.cwnd.saturating_sub(self.pipe());
        let most = if self.tso {
            let burst = self.bbr.as_ref().map_or(TSO_MAX, Bbr::burst);
            burst.min(TSO_MAX).max(self.mss)
        } else {
            self.mss
        };
        let mut chunks = Vec::new();
        let mut total = 0;
        while let Some(chunk) = self.next_chunk(now, room - total, most - total) {
            total += u64::from(chunk.len);
            self.next += u64::from(chunk.len);
            self.board.push(chunk);
            chunks.push(chunk);
            if chunk.fin || self.ends_write(&chunk) || total + self.mss > most.min(room) {
                break;
            }
        }
        if chunks.is_empty() {
            return None;
        }
        self.prr.out += total;
        Some(self.transmission(&chunks))
    }

    /// The next segment of new data, if window and congestion window have room for it.
    fn next_chunk(&mut self, now: Nanos, room: u64, most: u64) -> Option<Chunk> {
        let fin = self.written <= self.next;
        let buffered = self.unacknowledged().saturating_add(self.send_buffer);
        let available = self.written.min(buffered).saturating_sub(self.next);
        if available == 0 && !fin {
            self.limited = false;
            return None;
        }
        if fin && !(self.finished && self.next == self.written) {
            self.limited = false;
            return None;
        }
        let len = if fin { 1 } else { available.min(self.mss) };
        let fits = self.next + len <= self.edge || fin;
        if !fits {
            self.limited = false;
        } else if len > room {
            self.limited = true;
        }
        (fits && len <= room && len <= most).then(|| Chunk::new(self.next, len as u32, fin, now))
    }

    fn ends_write(&mut self, chunk: &Chunk) -> bool {
        let end = chunk.start + u64::from(chunk.len);
        self.pushes
            .iter()
            .any(|push| *push > chunk.start && *push <= end)
    }

    fn transmission(&mut self, chunks: &[Chunk]) -> Transmission {
        let first = chunks[0];
        let push = chunks
            .iter()
            .any(|chunk| !chunk.fin && self.ends_write(chunk));
        let done = self.unacknowledged();
        while self.pushes.front().is_some_and(|push| *push <= done) {
            self.pushes.pop_front();
        }
        Transmission {
            start: first.start,
            lens: chunks
                .iter()
                .filter(|chunk| !chunk.fin)
                .map(|chunk| chunk.len)
                .collect(),
            fin: first.fin,
            push,
        }
    }
}
