//! The congestion window: how losses reduce it, and how it grows.

use super::Sender;

/// Congestion state, by the names of RFC 5681.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// Until everything up to `high` is acknowledged.
    Recovery {
        high: u64,
    },
    /// After a timeout, until everything up to `high` is acknowledged.
    Loss {
        high: u64,
    },
}

/// Proportional rate reduction's counters (RFC 6937 section 3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    pub(super) delivered: u64,
    pub(super) out: u64,
    pub(super) flight: u64,
}

impl Sender {
    /// Moves the congestion window.
    pub(super) fn react(&mut self, delivered: u64, advanced: u64, upto: u64) {
        match self.state {
            State::Open if self.board.any_lost() => self.enter_recovery(),
            State::Open => self.grow(advanced),
            State::Recovery { high } if upto >= high => {
                self.cwnd = self.ssthresh;
                self.state = State::Open;
            }
            State::Recovery { .. } => self.reduce(delivered),
            State::Loss { high } => {
                if upto >= high {
                    self.state = State::Open;
                }
                self.limited = true;
                self.grow(advanced);
            }
        }
    }

    /// A mark arrived: the window is reduced once in a round trip (RFC 3168 section 6.1.2).
    pub(crate) fn hear_mark(&mut self) {
        if self.unacknowledged() < self.reduced_until || self.state != State::Open {
            return;
        }
        self.ssthresh = (self.cwnd * 7 / 10).max(2 * self.mss);
        self.cwnd = self.ssthresh;
        self.reduced_until = self.next;
        self.owes_cwr = true;
    }

    /// Whether the next frame has to carry CWR; true once.
    pub(crate) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.owes_cwr)
    }

    fn enter_recovery(&mut self) {
        // Multiplicative decrease of 0.7 as CUBIC does (RFC 9438 section 4.6).
        self.ssthresh = (self.cwnd * 7 / 10).max(2 * self.mss);
        self.state = State::Recovery { high: self.next };
        self.prr = Prr {
            delivered: 0,
            out: 0,
            flight: self.cwnd.max(self.mss),
        };
        // The first retransmission doesn't wait for room (RFC 6675 section 5, step 4.3).
        self.cwnd = self.pipe() + self.mss;
    }

    /// RFC 6937 section 3 with the packet conservation bound, which Linux, too, goes by when
    /// retransmissions get lost.
    fn reduce(&mut self, delivered: u64) {
        self.prr.delivered += delivered;
        let pipe = self.pipe();
        let room = if pipe > self.ssthresh {
            (self.prr.delivered * self.ssthresh).div_ceil(self.prr.flight)
        } else {
            self.prr.delivered.min(self.prr.out + self.ssthresh - pipe)
        };
        self.cwnd = pipe + room.saturating_sub(self.prr.out);
    }

    /// Slow start and congestion avoidance (RFC 5681 section 3.1, counting bytes as RFC 3465 does).
    fn grow(&mut self, advanced: u64) {
        if !self.limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += advanced;
            return;
        }
        self.growth += advanced;
        if self.growth >= self.cwnd {
            self.growth -= self.cwnd;
            self.cwnd += self.mss;
        }
    }
}
