//! Whether the sender goes as far as the receiver's window lets it.
//!
//! An acknowledgment announces an edge. A sender that only the window holds back comes within a segment of it
//! as soon as the announcement has reached it; one that is held back by anything else needs as much longer as
//! its own window is smaller. Both are seen at any point: what the sender does comes back after the time that
//! the way to it and back takes. One edge at a time is followed, so that most frames cost a comparison.

use super::Flow;

/// No edge is followed.
const NONE: u64 = 0;
/// The last one was not reached in time.
const FREE: i64 = i64::MIN;
/// The sender may come so much later than it could, as a share of the round trip: an eighth of a window is
/// two segments of a small one, and delays vary.
const LATE: i64 = 8;
/// Frames wait so long for an interrupt or a poll; see [`super::NEAR_NS`].
const BATCH_NS: i64 = 20_000;

/// A receiver opens its window as data comes (Linux: from `tcp_rmem`'s middle value on), about as fast as a sender that
/// starts does its own: till then nothing is held back for good.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// The largest window when it had doubled last.
    largest: u32,
    /// Time for which it had held the sender back till then.
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

    /// The receiver announces its window, of which the largest so far is known.
    pub(crate) fn announce_edge(&mut self, window: u64, largest: u32, now_ns: i64) {
        if self.counts.data_frames == 0 {
            return;
        }
        if self.edge_since_ns != FREE && self.edge_since_ns != 0 {
            self.edge_ns += (now_ns - self.edge_since_ns).max(0);
            self.note_growth(largest);
        }
        let edge = self.una + window.saturating_sub(self.tally.segment_bytes());
        self.edge_since_ns = now_ns;
        // Of a window of less than a segment nothing is to come.
        self.edge_ahead = if self.ranges.next() >= edge {
            NONE
        } else {
            edge
        };
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

    /// Data has come as far as the edge; the way to the sender and back takes `turn_ns`.
    pub(crate) fn reach_edge(&mut self, now_ns: i64, turn_ns: Option<i64>, rtt_ns: i64) {
        self.edge_ahead = NONE;
        let took_ns = now_ns - self.edge_since_ns;
        let in_time = turn_ns.is_some_and(|turn| took_ns <= turn + rtt_ns / LATE + BATCH_NS);
        if !in_time || rtt_ns == 0 {
            self.edge_since_ns = FREE;
        }
    }
}
