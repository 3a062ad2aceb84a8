//! What comes behind a silence as long as a timeout, which shows what the silence was for.
//!
//! After a timeout the window is one segment: no more is sent until that is acknowledged (RFC 5681, 3.1). An application that
//! goes on after a pause has a window of several segments, the initial one at least (RFC 5681, 4.1; RFC 6928).

use coalescope_wire::Flags;

use super::{Flow, MIN_RTO_NS};
use crate::frame::Frame;
use crate::tally::Part;

/// Where the round trip is not known: frames of one burst are nearer to each other, at 12 Mbit/s and more.
const BURST_NS: i64 = 1_000_000;

/// A silence that may be a timeout, or a pause as long: an eighth less than the shortest timeout, for clocks that tick and round trips
/// that vary.
const ABOUT_RTO_NS: i64 = MIN_RTO_NS - MIN_RTO_NS / 8;

/// The newest data of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Newest {
    #[default]
    Open,
    /// The sender had no more (PSH).
    Pushed,
    /// The first behind a silence.
    Restarted,
    /// Both.
    RestartedPushed,
}

impl Newest {
    #[inline(always)]
    pub(super) fn of(frame: &Frame) -> Self {
        if frame.flags.has(Flags::PSH) {
            Self::Pushed
        } else {
            Self::Open
        }
    }

    /// What this becomes by a frame that has been looked at.
    #[inline(always)]
    pub(super) fn with(self, frame: &Frame) -> Self {
        match (Self::of(frame), self.is_restarted()) {
            (Self::Pushed, true) => Self::RestartedPushed,
            (_, true) => Self::Restarted,
            (newest, false) => newest,
        }
    }

    #[inline(always)]
    pub(super) fn is_restarted(self) -> bool {
        matches!(self, Self::Restarted | Self::RestartedPushed)
    }

    #[inline(always)]
    pub(super) fn is_pushed(self) -> bool {
        matches!(self, Self::Pushed | Self::RestartedPushed)
    }
}

/// A silence, and the first data behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restart {
    gap_ns: i64,
    /// The silence was longer than a timeout by a round trip.
    surely: bool,
    /// The part in which the sender's application may have paused.
    pause_ns: i64,
    /// Counted as such a pause, not as a gap.
    is_pause: bool,
    /// Sequence number behind the data.
    end: u32,
    /// No acknowledgment of this data has an answer sooner: half a round trip.
    soonest_ns: i64,
}

impl Restart {
    fn new(frame: &Frame, [gap_ns, pause_ns, rtt_ns]: [i64; 3]) -> Self {
        Self {
            gap_ns,
            pause_ns,
            end: frame.seq.wrapping_add(frame.payload),
            soonest_ns: if rtt_ns > 0 { rtt_ns / 2 } else { BURST_NS },
            ..Self::default()
        }
    }
}

impl Flow {
    /// Counts a gap as long as a timeout although the sender had not marked the end of its data, unless a merged frame shows that
    /// its application paused. `rtt_ns` is a lower bound of the round trip.
    #[cold]
    pub(super) fn note_gap(&mut self, frame: &Frame, gap_ns: i64, rtt_ns: i64) {
        let pause_ns = self.longest_pause_ns(frame, gap_ns, rtt_ns);
        if pause_ns > 0 && self.tally.part_of_segment(frame.payload) == Part::More {
            self.idle_ns = self.idle_ns.saturating_add(pause_ns);
            return;
        }
        let surely = self.has_waited(frame, rtt_ns);
        let slow = self.slow.get_or_insert_default();
        slow.waits.add(gap_ns, surely);
        slow.restart = Restart {
            surely,
            ..Restart::new(frame, [gap_ns, pause_ns, rtt_ns])
        };
        if frame.seq == self.ranges.next() as u32 {
            self.newest = Newest::Restarted;
        }
    }

    /// Looks at what comes behind a pause that PSH has announced: some senders set PSH in each frame, and of a merged frame that
    /// was lost nothing is seen behind the loss.
    #[cold]
    pub(super) fn doubt_pause(&mut self, frame: &Frame, rtt_ns: i64) {
        let gap_ns = frame.time_ns - self.last_data_ns;
        let pause_ns = self.longest_pause_ns(frame, gap_ns, rtt_ns);
        if pause_ns == 0 || self.tally.part_of_segment(frame.payload) != Part::Full {
            return;
        }
        self.newest = Newest::Restarted;
        self.slow.get_or_insert_default().restart = Restart {
            surely: true,
            is_pause: true,
            ..Restart::new(frame, [gap_ns, pause_ns, rtt_ns])
        };
    }

    /// For how long the sender's application may have paused: from when the acknowledgment of all data could have been answered, if
    /// new data came about as long after that as a timeout takes; else 0. What a path that stood still has held back was made before.
    fn longest_pause_ns(&self, frame: &Frame, gap_ns: i64, rtt_ns: i64) -> i64 {
        let next = self.ranges.next();
        let is_next = frame.seq == next as u32 && self.una >= next;
        let pause_ns = frame.time_ns - self.last_data_ns.max(self.last_ack_ns) - rtt_ns;
        let may_pause =
            is_next && rtt_ns > 0 && pause_ns >= ABOUT_RTO_NS && self.is_sent_after(frame, gap_ns);
        if may_pause { pause_ns } else { 0 }
    }

    /// Looks at the second frame behind a silence. Where the first one is not acknowledged yet, or was too late for that to be
    /// known, the sender did not wait for that: its application had paused.
    #[cold]
    pub(super) fn look_behind_gap(&mut self, frame: &Frame) {
        let restart = self.slow.as_ref().map(|slow| slow.restart);
        let restart = restart.unwrap_or_default();
        if restart.end == frame.seq.wrapping_add(frame.payload) {
            return; // The first one itself, or a repeat.
        }
        self.newest = Newest::Open;
        let behind_ns = frame.time_ns - self.last_data_ns;
        let is_acknowledged = restart.end.wrapping_sub(self.una as u32) as i32 <= 0;
        if is_acknowledged && behind_ns >= restart.soonest_ns {
            self.note_window_of_one(frame, restart);
        } else if self.acked && behind_ns < MIN_RTO_NS {
            self.note_burst(restart);
        }
    }

    /// The sender waited for the acknowledgment of one segment, as after a timeout. The last part of what an application writes
    /// is shorter than a segment, and waits as well (RFC 9293, 3.7.4).
    fn note_window_of_one(&mut self, frame: &Frame, restart: Restart) {
        let turn_ns = frame.time_ns - self.last_ack_ns;
        let is_part = self.tally.part_of_segment(frame.payload) == Part::Less;
        let waits = &mut self.slow.get_or_insert_default().waits;
        waits.note_turn(turn_ns);
        if restart.is_pause && turn_ns < MIN_RTO_NS && !is_part {
            waits.add(restart.gap_ns, restart.surely);
            self.idle_ns -= restart.pause_ns;
        }
    }

    /// The sender had a window of more than one segment.
    fn note_burst(&mut self, restart: Restart) {
        if restart.is_pause || restart.pause_ns == 0 {
            return;
        }
        let waits = &mut self.slow.get_or_insert_default().waits;
        waits.take_back(restart.gap_ns, restart.surely);
        self.idle_ns = self.idle_ns.saturating_add(restart.pause_ns);
    }
}
