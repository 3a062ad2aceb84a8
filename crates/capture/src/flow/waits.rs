//! How long a direction was silent, and what for: its application, or a timeout. What comes behind a silence says more
//! ([`super::restarts`]).

use super::{Around, Flow, MIN_RTO_NS};
use crate::frame::Frame;
use crate::tally::Gaps;

/// Gaps as long as a timeout, and those of them that were longer by the round trip known at the time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    all: Gaps,
    sure: Gaps,
    /// Shortest time from the acknowledgment of all data to what came next, where one segment was all that came behind a gap:
    /// a round trip from this point to the sender and back, or more. 0 if not known.
    turn_ns: i64,
}

impl Waits {
    pub(super) fn add(&mut self, gap_ns: i64, surely: bool) {
        self.all.add(gap_ns);
        if surely {
            self.sure.add(gap_ns);
        }
    }

    pub(super) fn note_turn(&mut self, turn_ns: i64) {
        if turn_ns > 0 && (self.turn_ns == 0 || turn_ns < self.turn_ns) {
            self.turn_ns = turn_ns;
        }
    }

    pub(super) fn take_back(&mut self, gap_ns: i64, surely: bool) {
        self.all.take_back(gap_ns);
        if surely {
            self.sure.take_back(gap_ns);
        }
    }

    /// The smallest round trip is known at the end only: where every round trip waits for a timeout, all seem long until
    /// then. An `rtt_ns` of 0 is not known: what follows gaps bounds it.
    fn longer(self, timeout_ns: i64, rtt_ns: i64) -> Gaps {
        let rtt_ns = if rtt_ns > 0 { rtt_ns } else { self.turn_ns };
        if rtt_ns > 0 && self.all.exceed(timeout_ns + rtt_ns) {
            self.all
        } else {
            self.sure
        }
    }
}

impl Flow {
    /// Adds idle time. Idle is the time beyond one round trip after everything was acknowledged, if the sender had
    /// marked the end of its data (PSH), or the other side has sent a request since. After a lost tail, which looks
    /// alike from a point behind the loss, neither is the case.
    #[inline]
    pub(super) fn note_idle(&mut self, frame: &Frame, next: u64, around: Around) {
        if self.awaits_acknowledgment(frame, next, around) {
            return;
        }
        if self.has_said_all(next, around.asked_ns) {
            if self.counts.data_frames > 0 {
                self.add_idle(frame, around.asked_ns, around.rtt_ns);
                if self.has_waited(frame, 0) && around.asked_ns <= self.last_data_ns {
                    self.doubt_pause(frame, around.rtt_ns);
                }
            }
        } else if self.has_waited(frame, 0) {
            let gap_ns = frame.time_ns - self.last_data_ns;
            if self.goes_on(frame, next, around) {
                self.idle_ns = self.idle_ns.saturating_add(gap_ns);
            } else {
                self.note_gap(frame, gap_ns, around.least_rtt_ns);
            }
        }
    }

    /// Like [`Flow::note_idle`], for expected data that goes on ([`Flow::goes_on_at`]).
    #[inline(always)]
    pub(crate) fn note_idle_before(&mut self, frame: &Frame, asked_ns: i64, rtt_ns: i64) {
        if self.has_said_all(self.ranges.next(), asked_ns) && !self.goes_on_unheard(frame.time_ns) {
            self.add_idle(frame, asked_ns, rtt_ns);
        }
    }

    /// Whether all data was acknowledged, and no more was to be expected.
    #[inline(always)]
    fn has_said_all(&self, next: u64, asked_ns: i64) -> bool {
        self.una >= next && (self.newest.is_pushed() || asked_ns > self.last_data_ns)
    }

    #[inline(always)]
    fn add_idle(&mut self, frame: &Frame, asked_ns: i64, rtt_ns: i64) {
        let quiet_since = self.last_data_ns.max(self.last_ack_ns);
        let idle_ns = (frame.time_ns - quiet_since - rtt_ns).max(0);
        // A round trip that is not known may be all of that, unless the other side has asked for more.
        if rtt_ns == 0 && idle_ns < MIN_RTO_NS && asked_ns <= self.last_data_ns {
            return;
        }
        self.idle_ns = self.idle_ns.saturating_add(idle_ns);
    }

    /// Whether a frame goes on behind a PSH, in a capture without acknowledgments, or without those that carry no data. After a
    /// timeout the sender repeats older data instead; and the data before a lost tail has no PSH, seen from behind the loss.
    #[cold]
    fn goes_on(&self, frame: &Frame, next: u64, around: Around) -> bool {
        !(self.acked && around.is_heard) && self.newest.is_pushed() && frame.seq == next as u32
    }

    /// Gaps that are as long as a timeout and a round trip.
    pub(crate) fn waits(&self, rtt_ns: i64) -> Gaps {
        let slow = self.slow.as_ref();
        slow.map_or_else(Gaps::default, |slow| slow.waits.longer(MIN_RTO_NS, rtt_ns))
    }

    /// Whether what follows gaps bounds the round trip between this point and the sender.
    pub(crate) fn knows_turn(&self) -> bool {
        self.slow
            .as_ref()
            .is_some_and(|slow| slow.waits.turn_ns > 0)
    }

    /// Whether a frame's data comes as long after the last as a timeout takes, and a round trip.
    #[inline(always)]
    pub(super) fn has_waited(&self, frame: &Frame, rtt_ns: i64) -> bool {
        frame.payload > 0
            && frame.time_ns - self.last_data_ns >= MIN_RTO_NS + rtt_ns
            && self.counts.data_frames > 0
    }

    /// Whether a frame's data may have waited for a timeout, or for its application. The first data of a side may
    /// always have: how long its application took is not known.
    #[inline(always)]
    pub(crate) fn may_have_waited(&self, frame: &Frame, rtt_ns: i64) -> bool {
        frame.payload > 0 && self.counts.data_frames == 0 || self.has_waited(frame, rtt_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_measured_by_the_round_trip_known_at_the_end() {
        let mut waits = Waits::default();
        (0..10).for_each(|_| waits.add(212, false));
        assert_eq!(waits.longer(200, 6).count, 10);
        assert_eq!(waits.longer(200, 100).count, 0);
        assert_eq!(waits.longer(200, 0).count, 0);
        waits.add(900, true);
        assert_eq!(waits.longer(200, 100).ns, 900);
    }
}
