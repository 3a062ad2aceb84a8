//! Whether the sender goes as far as the receiver's window lets it.
//!
//! An acknowledgment announces an edge. A sender that only the window holds back comes within a segment of the edge as
//! soon as the announcement has reached it. A sender that something else holds back takes longer, and the longer, the
//! smaller its own window is. Both are seen at any point: data up to the edge comes back after the time of the way to
//! the sender and back. One edge at a time is followed, so that most frames cost a comparison.
//!
//! A sender that spreads its data over a round trip (pacing) comes later, and so does data that a slow link or a merging card
//! gathers. If no further edge was announced by then, all that the window allows is sent: from there on it is the window
//! that holds the sender back, until what is announced next has come to the sender.

use super::Flow;
use crate::acks::Acks;

/// No edge is followed.
const NONE: u64 = 0;
/// The last edge was not reached in time.
const FREE: i64 = i64::MIN;
/// How much later than possible the sender may reach the edge, as a share of the round trip: an eighth of a window is
/// two segments of a small window, and delays vary.
const LATE: i64 = 8;
/// How long frames wait for an interrupt or a poll; see [`super::NEAR_NS`].
const BATCH_NS: i64 = 20_000;

/// A receiver opens its window as data comes (Linux: from `tcp_rmem`'s middle value on), about as fast as a starting
/// sender opens its congestion window: until then the window is no lasting limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// The largest window when the window had last doubled.
    largest: u32,
    /// Time for which the window had held the sender back until then.
    held_ns: i64,
}

impl Flow {
    /// Whether data has come as far as the edge that is followed.
    #[inline(always)]
    pub(crate) fn is_at_edge(&self) -> bool {
        self.edge_ahead != NONE && self.ranges.next() >= self.edge_ahead
    }

    /// Whether another edge can be followed.
    #[inline(always)]
    pub(crate) fn awaits_edge(&self) -> bool {
        self.edge_ahead == NONE
    }

    /// Follows the edge that the receiver's last acknowledgment announces.
    pub(crate) fn announce_edge(&mut self, acks: &Acks, now_ns: i64) {
        if self.counts.data_frames == 0 {
            return;
        }
        self.hear_unscaled(acks, now_ns);
        let Some(scale) = self.scale(acks) else {
            return;
        };
        if self.edge_since_ns != FREE && self.edge_since_ns != 0 {
            let since_ns = (now_ns - self.edge_since_ns).max(0);
            self.edge_ns = self.edge_ns.saturating_add(since_ns);
            self.note_growth(acks.window_max << scale);
        }
        let edge = self.edge(acks.last_window() << scale);
        self.edge_since_ns = now_ns;
        // A window smaller than a segment lets no data come.
        self.edge_ahead = if self.ranges.next() >= edge {
            NONE
        } else {
            edge
        };
    }

    /// How far windows are still to be shifted: not at all where the handshake shows their scale, as `acks` does that.
    fn scale(&self, acks: &Acks) -> Option<u8> {
        if acks.scale().is_some() {
            Some(0)
        } else {
            self.least_scale()
        }
    }

    /// A segment in front of the right edge of a window.
    fn edge(&self, window: u64) -> u64 {
        self.una + window.saturating_sub(self.tally.segment_bytes())
    }

    fn note_growth(&mut self, largest: u32) {
        let growth = &mut self.slow.get_or_insert_default().growth;
        if largest / 2 >= growth.largest {
            let is_first = growth.largest == 0;
            *growth = Growth {
                largest,
                held_ns: if is_first { 0 } else { self.edge_ns },
            };
        }
    }

    /// For how long the window held the sender back before it had grown to half of its largest.
    pub(crate) fn edge_growing_ns(&self) -> i64 {
        self.slow.as_ref().map_or(0, |slow| slow.growth.held_ns)
    }

    /// Data has come as far as the edge; `turn_ns` is the time of the way to the sender and back.
    pub(crate) fn reach_edge(
        &mut self,
        now_ns: i64,
        acks: &Acks,
        (turn_ns, rtt_ns): (Option<i64>, i64),
    ) {
        self.edge_ahead = NONE;
        let took_ns = now_ns - self.edge_since_ns;
        if self.is_beyond_unscaled(acks, now_ns, turn_ns) {
            return;
        }
        let in_time = turn_ns.is_some_and(|turn| took_ns <= turn + rtt_ns / LATE + BATCH_NS);
        if in_time && rtt_ns > 0 {
            return self.follow_unscaled(acks);
        }
        let scale = self.scale(acks).unwrap_or(0);
        let is_last = self.ranges.next() >= self.edge(acks.last_window() << scale);
        // The sender had sent all before that came here, and waits until what is announced here has come there.
        let waits_ns = turn_ns.unwrap_or(0).clamp(0, took_ns.max(0));
        self.edge_since_ns = if is_last && rtt_ns > 0 {
            now_ns - waits_ns
        } else {
            FREE
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::unscaled;

    const MS: i64 = 1_000_000;
    const WINDOW: u64 = 10 * 1_448;

    fn announced(window: u64) -> Acks {
        let mut acks = unscaled::tests::announced(window as u16);
        acks.set_scale(0);
        acks
    }

    /// A sender fills a window of ten segments over some time after the acknowledgment, round trip after round trip of 10 ms
    /// at the sender itself; the next acknowledgment comes 30 ms after the last. Milliseconds at the edge.
    fn at_edge(spread_ms: i64, last_window: u64) -> i64 {
        at_edge_seen(0, spread_ms, last_window)
    }

    /// The same where an acknowledgment takes so many milliseconds to be answered.
    fn at_edge_seen(turn_ms: i64, spread_ms: i64, last_window: u64) -> i64 {
        let mut flow = Flow::default();
        flow.counts.data_frames = 1;
        flow.ranges.start_at(0);
        for turn in 0..10 {
            let now_ns = (1 + 30 * turn) * MS;
            flow.una = flow.ranges.next();
            flow.announce_edge(&announced(WINDOW), now_ns);
            flow.ranges.see_next(flow.una + WINDOW);
            assert!(flow.is_at_edge());
            let sent_ns = now_ns + (turn_ms + spread_ms) * MS;
            flow.reach_edge(
                sent_ns,
                &announced(last_window),
                (Some(turn_ms * MS), 10 * MS),
            );
        }
        flow.edge_ns / MS
    }

    #[test]
    fn a_sender_that_spreads_its_data_is_held_back_once_all_is_sent() {
        assert_eq!(at_edge(0, WINDOW), 9 * 30);
        assert_eq!(at_edge(8, WINDOW), 9 * 22);
    }

    /// At the receiver each acknowledgment follows at once on the data, and the sender waits all the same.
    #[test]
    fn at_the_receiver_the_way_of_the_acknowledgment_is_a_wait() {
        assert_eq!(at_edge_seen(20, 8, WINDOW), 9 * 22);
        assert_eq!(at_edge_seen(20, 8, 2 * WINDOW), 0);
    }

    /// While the data came, another edge was announced that is farther: whatever holds the sender back, it is not the window.
    #[test]
    fn a_late_sender_short_of_the_last_edge_is_not_held_back_by_it() {
        assert_eq!(at_edge(8, 2 * WINDOW), 0);
    }
}
