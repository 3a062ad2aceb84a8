//! Whether the sender goes as far as the receiver's window lets it.
//!
//! An acknowledgment announces an edge. A sender that only the window holds back comes within a segment of the edge as
//! soon as the announcement has reached it. A sender that something else holds back takes longer, and the longer, the
//! smaller its own window is. Both are seen at any point: data up to the edge comes back after the time of the way to
//! the sender and back. One edge at a time is followed, so that most frames cost a comparison.

use super::Flow;

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

    /// Follows the edge that the receiver announces; `largest` is its largest window so far.
    pub(crate) fn announce_edge(&mut self, window: u64, largest: u32, now_ns: i64) {
        if self.counts.data_frames == 0 {
            return;
        }
        if self.edge_since_ns != FREE && self.edge_since_ns != 0 {
            let since_ns = (now_ns - self.edge_since_ns).max(0);
            self.edge_ns = self.edge_ns.saturating_add(since_ns);
            self.note_growth(largest);
        }
        let edge = self.una + window.saturating_sub(self.tally.segment_bytes());
        self.edge_since_ns = now_ns;
        // A window smaller than a segment lets no data come.
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

    /// Data has come as far as the edge; `turn_ns` is the time of the way to the sender and back.
    pub(crate) fn reach_edge(&mut self, now_ns: i64, turn_ns: Option<i64>, rtt_ns: i64) {
        self.edge_ahead = NONE;
        let took_ns = now_ns - self.edge_since_ns;
        let in_time = turn_ns.is_some_and(|turn| took_ns <= turn + rtt_ns / LATE + BATCH_NS);
        if !in_time || rtt_ns == 0 {
            self.edge_since_ns = FREE;
        }
    }
}
