//! Parts of a point that stands alone, each followed by itself: all frames of a connection are in one of them.
//!
//! What connections share decides nothing, or no more is said: copies of frames, from which a capture is known to double
//! them, memory for what is not acknowledged, and room for connections. Then all frames have to be followed in their order.

use crate::counts::Counts;
use crate::facts::trace::Trace;
use crate::kept::Connections;
use crate::lockstep::alone;
use crate::numbering::Numbering;
use crate::outstanding::MAX_PER_POINT;
use crate::point::{Followed, Point};
use crate::reader::{BATCH, End, Item};

/// Follows a part.
#[derive(Default)]
pub(crate) struct Follower {
    point: Point,
    waiting: usize,
}

impl Follower {
    /// One that is to keep no more connections than that, as long as nobody says that memory is short.
    pub(crate) fn limited(max_connections: usize, is_short: Option<fn() -> bool>) -> Self {
        let mut follower = Self::default();
        follower.point.table.set_limit(max_connections, is_short);
        follower
    }

    /// Takes frames.
    pub(crate) fn take(&mut self, items: &[Item]) {
        for items in items.chunks(BATCH) {
            self.point.take_all(items);
            self.waiting = self.waiting.max(self.point.common.waiting() + BATCH);
        }
    }

    /// Whether the point is known to be more than the sum of its parts.
    pub(crate) fn is_more_than_a_part(&self) -> bool {
        let totals = &self.point.totals;
        totals.doubled > 0 || totals.summed.connections > 0
    }

    /// What was followed.
    pub(crate) fn finish(mut self) -> Part {
        self.point.settle();
        Part {
            followed: self.point.followed(),
            waiting: self.waiting,
        }
    }
}

/// What was followed of a part.
pub struct Part {
    pub(crate) followed: Followed,
    /// Transmissions that waited for their acknowledgment at one time, at most.
    waiting: usize,
}

impl Part {
    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            waiting: self.waiting as u64,
            ..self.followed.totals.counts()
        }
    }
}

/// The facts of all parts: those of one reading, or `None` where these may be others.
pub(crate) fn join(
    name: &str,
    parts: Vec<Part>,
    (end, numbering): (&End, Numbering),
    max_connections: usize,
) -> Option<Trace> {
    let waiting = parts.iter().map(|part| part.waiting as u64).sum();
    let summed = |part: &Part| part.followed.totals.summed.connections;
    let summed: u64 = parts.iter().map(summed).sum();
    let mut all = Followed::default();
    for part in parts {
        all.add(part.followed);
    }
    let is_too_many = max_connections > 0 && all.connections.len() > max_connections;
    if !is_sum(all.totals.doubled, waiting) || summed > 0 || is_too_many {
        return None;
    }
    let connections = Connections::of_parts(all.connections, numbering);
    Some(alone(name, &all.totals, connections, end))
}

/// Whether a point is the sum of its parts, of which so many frames were doubled, and so many waited.
pub(crate) fn is_sum(doubled: u64, waiting: u64) -> bool {
    doubled == 0 && waiting <= MAX_PER_POINT as u64
}
