//! From one point to the next: what became of frames.

use schemars::JsonSchema;
use serde::Serialize;

use crate::lengths::{Fate, Lengths};
use crate::passes::Amid;

/// What became of the frames of one sort from one point to the next.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Outcomes {
    /// Frames seen at the first point.
    pub seen: u64,
    /// Arrived as they were.
    pub arrived: u64,
    /// Did not arrive in any form.
    pub lost: u64,
    /// Arrived as several frames.
    pub resplit: u64,
    /// Arrived inside a larger frame.
    pub merged_further: u64,
    /// Arrived as IP fragments.
    pub fragmented: u64,
    /// Arrived in part.
    pub partly_lost: u64,
    /// Not in the second capture, but acknowledged by the receiver: that capture missed them.
    pub missed: u64,
    /// The captures do not overlap enough to tell, or memory ran out.
    pub not_judged: u64,
}

impl Outcomes {
    /// Frames that arrived in some form, in part at least.
    #[must_use]
    pub fn came_through(&self) -> u64 {
        self.intact() + self.partly_lost
    }

    /// Frames whose fate is known: shares are shares of these.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.lost + self.came_through()
    }

    /// Frames that arrived whole, in some form; with those that the second capture [lacks](Self::lacks).
    #[must_use]
    pub fn intact(&self) -> u64 {
        self.whole() + if self.lacks() { self.missed } else { 0 }
    }

    /// Frames whose fate the second capture shows.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.whole() + self.damaged()
    }

    /// Frames that the second capture has whole, in some form.
    fn whole(&self) -> u64 {
        self.arrived + self.resplit + self.merged_further + self.fragmented
    }

    /// Whether the second capture lacks about as many frames as were lost, or more, as one with a filter by length or with
    /// short slots does: frames that the receiver acknowledged arrived. Of a few, an acknowledgment of the repair may pass
    /// for one of the frame.
    #[must_use]
    pub fn lacks(&self) -> bool {
        2 * self.missed > self.lost
    }

    /// Frames that were lost, in whole or in part.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.lost + self.partly_lost
    }
}

/// One hop, in one direction of data.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Hop {
    /// The point that data left.
    pub from: String,
    /// The point that it went to.
    pub to: String,
    /// Connections found at both.
    pub connections_matched: u64,
    /// Clock of `to` minus clock of `from`, in seconds, at the start.
    pub clock_offset_s: Option<f64>,
    /// How fast the clock of `to` gains on that of `from`, in parts per million.
    pub clock_drift_ppm: Option<f64>,
    /// One-way delay, smallest, in seconds (half of what both directions sum to, where known).
    pub delay_min_s: Option<f64>,
    /// One-way delay, median, in seconds.
    pub delay_median_s: Option<f64>,
    /// How much longer than at least frames take in the middle, in this direction. For the judgment alone.
    #[serde(skip)]
    pub delay_spread_s: Option<f64>,
    /// Data frames that overtook or were overtaken on this hop.
    pub reordered: u64,
    /// Merged frames.
    pub merged: Outcomes,
    /// Frames not yet cut by their sender (TSO).
    pub tso: Outcomes,
    /// Frames of one segment.
    pub single: Outcomes,
    /// Of the single frames, those with no other of their connection within a millisecond.
    pub lone: Outcomes,
    /// Odds ratio of loss, merged against single; null where it cannot be computed.
    pub odds_ratio: Option<f64>,
    /// Fisher's exact test of lost x merged, two-sided.
    pub p_value: Option<f64>,
    /// Per connection, worst first, at most 100.
    pub connections: Vec<HopConnection>,
    /// Connections beyond those listed that lost merged frames: for the judgment alone.
    #[serde(skip)]
    pub losers: Vec<Loser>,
    /// What became of merged frames by their length: for the judgment alone.
    #[serde(skip)]
    pub by_length: Lengths,
    /// Lost frames of connections of which nothing arrived: for the judgment alone.
    #[serde(skip)]
    pub blocked: Blocked,
    /// Frames that left within 0.3 ms and arrived, by their bytes in all.
    #[serde(skip)]
    pub together: Lengths,
    /// Single frames about as long as a segment.
    #[serde(skip)]
    pub full: Fate,
    /// Single frames by the pause in front of them, each longer than the one before, from a millisecond on.
    #[serde(skip)]
    pub rested: Vec<Fate>,
    /// Where full single frames arrived while merged (or TSO) ones were being lost.
    #[serde(skip)]
    pub amid: Amid,
    /// Frames around the first losses, in the order in which they left.
    #[serde(skip)]
    pub in_turn: Vec<Left>,
    /// What became of frames over time, for text.
    #[serde(skip)]
    pub strip: Strip,
}

/// A data frame that left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// When, by the clock of the point.
    pub ns: i64,
    /// Its connection, by a number that only frames of one hop share.
    pub connection: u32,
    /// Its payload.
    pub bytes: u32,
    /// From the last acknowledgment to its end, as the point had seen them; 0 before the first acknowledgment.
    pub ahead: u32,
    /// It was merged, or is a TSO frame.
    pub merged: bool,
    /// It never arrived.
    pub lost: bool,
}

/// Frames lost by connections that lost merged ones, and of which nothing arrived, as where a firewall drops all: beside the
/// single frames of other connections they show nothing of merging.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocked {
    /// Merged frames.
    pub merged: u64,
    /// Single frames.
    pub single: u64,
}

impl Hop {
    /// What became of merged frames and of single ones, of connections of which something arrived.
    #[must_use]
    pub fn compared(&self) -> (Outcomes, Outcomes) {
        let without = |all: &Outcomes, blocked: u64| Outcomes {
            seen: all.seen.saturating_sub(blocked),
            lost: all.lost.saturating_sub(blocked),
            ..*all
        };
        (
            without(&self.merged, self.blocked.merged),
            without(&self.single, self.blocked.single),
        )
    }
}

/// One connection over one hop.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct HopConnection {
    /// Its id at `from`.
    pub from_id: u64,
    /// Its id at `to`.
    pub to_id: u64,
    /// How it was recognised: `handshake`, `sequence numbers`, `payload`.
    pub matched_by: &'static str,
    /// Which direction of the connection this is: `to_client` or `to_server`.
    pub direction: &'static str,
    /// Merged frames.
    pub merged: Outcomes,
    /// TSO frames.
    pub tso: Outcomes,
    /// Frames of one segment.
    pub single: Outcomes,
    /// Frame numbers at `from` of merged or TSO frames that were lost; a few.
    pub merged_lost_frames: Vec<u64>,
    /// Frame numbers at `from` of single frames that were lost; a few.
    pub single_lost_frames: Vec<u64>,
    /// Frame numbers at `from` of merged or TSO frames that arrived in some form; a few.
    pub merged_arrived_frames: Vec<u64>,
    /// The number that its frames have in [`Hop::in_turn`].
    #[serde(skip)]
    pub in_turn_as: u32,
    /// What became of merged or TSO frames by their length: for the judgment alone.
    #[serde(skip)]
    pub by_length: Lengths,
    /// Frames that left within 0.3 ms and arrived, by their bytes in all: for the judgment alone.
    #[serde(skip)]
    pub together: Lengths,
    /// Single frames about as long as a segment.
    #[serde(skip)]
    pub full: Fate,
    /// Where full single frames arrived while merged (or TSO) ones were being lost.
    #[serde(skip)]
    pub amid: Amid,
}

/// A connection that is not listed, of which a hop lost merged frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loser {
    /// Its id at `from`.
    pub from_id: u64,
    /// Its id at `to`.
    pub to_id: u64,
    /// Merged frames that were lost.
    pub lost: u64,
    /// Merged frames whose fate is known.
    pub judged: u64,
}

impl HopConnection {
    /// What is kept of it where it is not listed.
    pub(crate) fn loser(&self) -> Loser {
        Loser {
            from_id: self.from_id,
            to_id: self.to_id,
            lost: self.merged.lost,
            judged: self.merged.judged(),
        }
    }
}

/// What became of the frames of a hop over time, from the first to the last that is known of.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    /// How long a slot lasts, in seconds.
    pub slot_s: f64,
    /// The slots, 256 at most, by the time at which frames left.
    pub slots: Vec<Slot>,
}

/// What became of frames that left in one slot of time; those that were missed or not judged are not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Merged (or TSO) frames that were lost.
    pub merged_lost: u32,
    /// Single frames that were lost, and frames of which a part was.
    pub other_lost: u32,
    /// Merged (or TSO) frames that arrived in some form.
    pub merged_arrived: u32,
    /// Single frames that arrived.
    pub single_arrived: u32,
}

impl Slot {
    /// Adds the counts of another slot.
    pub fn add(&mut self, other: &Self) {
        let add = |count: &mut u32, more: u32| *count = count.saturating_add(more);
        add(&mut self.merged_lost, other.merged_lost);
        add(&mut self.other_lost, other.other_lost);
        add(&mut self.merged_arrived, other.merged_arrived);
        add(&mut self.single_arrived, other.single_arrived);
    }
}
