//! A sender that goes by a model of the path, the rate that it delivers and its round trip, and sends
//! evenly at that rate, in the manner of BBR (draft-cardwell-iccrg-bbr-congestion-control): losses do not
//! slow it down.

use super::{Sender, Transmission};
use crate::schedule::{Nanos, SECOND};

/// 2/ln 2, with which the rate doubles in each round trip.
const STARTUP: f64 = 2.89;
/// Gains of one cycle, a round trip each: more, then less, then as much.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Round trips for which the largest rate counts.
const REMEMBERED: usize = 10;
/// Twice what the path holds may be under way, for ACKs that come late or together.
const WINDOW: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Startup,
    Drain,
    Probe { step: usize, since: Nanos },
}

/// The model.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    phase: Phase,
    mss: u64,
    /// Bytes a second of the last round trips.
    rates: Vec<f64>,
    least_rtt: Nanos,
    /// The round trip under way: when it began, where it ends, what was delivered in it.
    began: Nanos,
    ends: u64,
    delivered: u64,
    full_rate: f64,
    full_rounds: u32,
    initial_window: u64,
}

impl Bbr {
    /// The model before anything was sent.
    pub(super) fn new(mss: u64, initial_window: u64, rtt: Nanos) -> Self {
        Self {
            phase: Phase::Startup,
            mss,
            rates: Vec::new(),
            least_rtt: rtt.max(1),
            began: 0,
            ends: 0,
            delivered: 0,
            full_rate: 0.0,
            full_rounds: 0,
            initial_window,
        }
    }

    /// Bytes a second that the path delivers.
    fn rate(&self) -> f64 {
        let known = self.rates.iter().copied().fold(0.0, f64::max);
        let first = self.initial_window as f64 * SECOND as f64 / self.least_rtt as f64;
        if known > 0.0 { known } else { first }
    }

    fn gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => STARTUP,
            Phase::Drain => 1.0 / STARTUP,
            Phase::Probe { step, .. } => CYCLE[step],
        }
    }

    /// Time that so many bytes take at the model's rate.
    pub(super) fn time_of(&self, bytes: u64) -> Nanos {
        (bytes as f64 * SECOND as f64 / (self.rate() * self.gain())) as Nanos
    }

    /// What is sent at once: a millisecond's worth, at least two segments (Linux's `tcp_tso_autosize`).
    pub(super) fn burst(&self) -> u64 {
        ((self.rate() / 1000.0) as u64).max(2 * self.mss)
    }

    /// Bytes that may be under way.
    pub(super) fn window(&self) -> u64 {
        let gain = if self.phase == Phase::Startup {
            STARTUP
        } else {
            WINDOW
        };
        let path = self.path_holds() * gain;
        (path as u64).max(self.initial_window.max(4 * self.mss))
    }

    fn path_holds(&self) -> f64 {
        self.rate() * self.least_rtt as f64 / SECOND as f64
    }

    /// Updates the model on an acknowledgement up to `upto`, with `next` to be sent next and `pipe` in flight.
    pub(super) fn update(
        &mut self,
        delivered: u64,
        (upto, next, pipe): (u64, u64, u64),
        least_rtt: Nanos,
        now: Nanos,
    ) {
        self.least_rtt = least_rtt.max(1);
        self.delivered += delivered;
        if upto >= self.ends {
            self.end_round(next, now);
        }
        self.move_on(pipe, now);
    }

    fn end_round(&mut self, next: u64, now: Nanos) {
        if self.began > 0 && now > self.began {
            let rate = self.delivered as f64 * SECOND as f64 / (now - self.began) as f64;
            self.rates.push(rate);
            if self.rates.len() > REMEMBERED {
                self.rates.remove(0);
            }
            self.find_full();
        }
        (self.began, self.ends, self.delivered) = (now, next, 0);
    }

    /// The path is full when three round trips bring less than a quarter more.
    fn find_full(&mut self) {
        if self.rate() >= self.full_rate * 1.25 {
            (self.full_rate, self.full_rounds) = (self.rate(), 0);
        } else {
            self.full_rounds += 1;
        }
        if self.phase == Phase::Startup && self.full_rounds >= 3 {
            self.phase = Phase::Drain;
        }
    }

    fn move_on(&mut self, pipe: u64, now: Nanos) {
        match self.phase {
            Phase::Drain if pipe as f64 <= self.path_holds() => {
                self.phase = Phase::Probe {
                    step: 2,
                    since: now,
                };
            }
            Phase::Probe { step, since } if now >= since + self.least_rtt => {
                self.phase = Phase::Probe {
                    step: (step + 1) % CYCLE.len(),
                    since: now,
                };
            }
            _ => {}
        }
    }
}

impl Sender {
    /// Lets the model set the window, whatever was lost; after a timeout it takes over again at once.
    pub(super) fn follow_model(&mut self, delivered: u64, upto: u64, now: Nanos) {
        let (next, pipe, least) = (self.next, self.pipe(), self.rtt.least());
        if let Some(bbr) = &mut self.bbr {
            bbr.update(delivered, (upto, next, pipe), least, now);
            self.cwnd = bbr.window();
        }
    }

    /// Whether pacing forbids to send now.
    pub(super) fn is_paced(&self, now: Nanos) -> bool {
        self.pace.is_some_and(|at| at > now)
    }

    /// Delays the next sending by the time that this one takes at the model's rate.
    pub(super) fn pace_out(&mut self, sent: &Transmission, now: Nanos) {
        if let Some(bbr) = &self.bbr {
            let bytes: u64 = sent.lens.iter().map(|len| u64::from(*len)).sum();
            self.pace = Some(self.pace.unwrap_or(now).max(now) + bbr.time_of(bytes));
        }
    }
}
