//! The sender's timers: timeouts, tail loss probes, window probes.

use super::super::scoreboard::Chunk;
use super::{Sender, State, Transmission};
use crate::schedule::Nanos;

/// Timeouts in a row that are taken for a black hole of large packets (Linux's `tcp_write_timeout` goes
/// by `tcp_retries1`, 3).
const BLACK_HOLE: u32 = 3;
/// Segments after that (Linux's `tcp_base_mss`).
const BASE_MSS: u64 = 1024;

impl Sender {
    /// Sets the timer for a tail loss probe or a retransmission timeout.
    pub(super) fn arm(&mut self, now: Nanos) {
        if self.board.is_empty() {
            self.timer = None;
            return;
        }
        let probing = self.tail_probe
            && self.state == State::Open
            && !self.probed
            && !self.board.any_sacked();
        let timeout = self.rtt.timeout();
        let probe = self.rtt.probe_timeout(self.board.count());
        self.timer_is_probe = probing && probe < timeout;
        self.timer = Some(now + if self.timer_is_probe { probe } else { timeout });
    }

    /// A closed window with data to send and nothing under way needs probing (RFC 9293 section
    /// 3.8.6.1).
    pub(super) fn arm_persist(&mut self, now: Nanos) {
        let waiting = self.next < self.written && self.board.is_empty();
        if !waiting {
            self.persist = None;
        } else if self.persist.is_none() {
            self.persist = Some(now + self.rtt.timeout());
        }
    }

    /// Called at the time asked for.
    pub(crate) fn on_time(&mut self, now: Nanos) -> Vec<Transmission> {
        if self.pace.is_some_and(|at| at <= now) {
            self.pace = None;
            return self.transmit(now);
        }
        if self.persist.is_some_and(|at| at <= now) {
            return vec![self.probe_window(now)];
        }
        if self.timer.is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.timer = None;
        if self.timer_is_probe {
            self.probe_tail(now)
        } else {
            self.time_out(now)
        }
    }

    /// Fills what is left of the window, or asks for its state with an old sequence number as
    /// Linux does (`tcp_xmit_probe_skb`).
    fn probe_window(&mut self, now: Nanos) -> Transmission {
        self.rtt.back_off();
        self.persist = Some(now + self.rtt.timeout());
        let left = self.edge.saturating_sub(self.next).min(self.mss);
        if left == 0 {
            return Transmission {
                start: self.next.wrapping_sub(1),
                lens: Vec::new(),
                fin: false,
                push: false,
            };
        }
        let chunk = Chunk::new(self.next, left as u32, false, now);
        self.next += left;
        self.board.push(chunk);
        self.arm(now);
        self.persist = None;
        self.transmission(&[chunk])
    }

    /// New data if there is any, or the last segment once more (RFC 8985 section 7.3).
    fn probe_tail(&mut self, now: Nanos) -> Vec<Transmission> {
        self.probed = true;
        let chunk = match self.next_chunk(now, self.mss, self.mss) {
            Some(chunk) => {
                self.next += u64::from(chunk.len);
                self.board.push(chunk);
                Some(chunk)
            }
            None => self.board.resend_last(now),
        };
        self.arm(now);
        chunk
            .map(|chunk| self.transmission(&[chunk]))
            .into_iter()
            .collect()
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1: everything not SACKed is lost, the window is one
    /// segment.
    fn time_out(&mut self, now: Nanos) -> Vec<Transmission> {
        self.timeouts += 1;
        self.in_vain += 1;
        if self.probes_mtu && self.in_vain >= BLACK_HOLE {
            self.shrink(BASE_MSS);
        }
        self.pace = None;
        if !matches!(self.state, State::Loss { .. }) {
            self.ssthresh = (self.cwnd / 2).max(2 * self.mss);
        }
        self.board.lose_all();
        self.dupacks = 0;
        self.cwnd = self.mss;
        self.growth = 0;
        self.state = State::Loss { high: self.next };
        self.rtt.back_off();
        self.transmit(now)
    }
}
