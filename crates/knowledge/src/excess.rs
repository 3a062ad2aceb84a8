//! Whether merged frames are lost more often than single ones, and whether a law explains that which has nothing to do
//! with merging.
//!
//! Loss for each byte hits a frame of four segments four times as often as one of a single segment. A queue or a
//! policer has room for short frames most of the time, and hits longer ones the more often, the longer they are. Merging
//! is innocent where one of these explains what was lost, or where merged frames are lost no more often; else it is in
//! doubt.

mod room;

use coalescope_capture::facts::{Direction, Fate, Hop, Lengths, Outcomes};

use crate::by_size::BySize;
use crate::finding::Reason;
use crate::limits::is_delayed;
use crate::odds::{Table, fisher};
use crate::thresholds::{
    A_FEW, DOUBT, HANDFUL, HOP_QUEUE_S, LONE, LOSS_FRAMES, MERGED_LOST, TENTH,
};

/// How the loss of merged frames compares with that of single ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// No more than by chance.
    None,
    /// More, for their length, and the reason for that, if it shows.
    ByLength(Option<Reason>),
    /// More, but so little that this may be chance, and nothing explains it.
    Slight,
    /// More, and their length does not explain it, but single ones are lost as well.
    Mixed,
    /// More, and nothing but merging explains it.
    Unexplained,
}

impl Excess {
    /// On a hop, all its connections together.
    pub(crate) fn on_hop(hop: &Hop) -> Self {
        let size = BySize::of_hop(hop);
        let length = (&hop.by_length, is_narrow(hop.full));
        Self::of(&size, length, 1, || reason_on(hop))
    }

    /// Of a direction at one point. Delays show a queue there, but their absence shows nothing, since a short queue hardly
    /// shows. `looks` is the number of directions that are looked at.
    pub(crate) fn at_point(data: &Direction, looks: usize) -> Self {
        let size = BySize::of_repeats(data);
        let mut full = data.full;
        full.add(data.full_again);
        Self::of(&size, (&data.by_length, is_narrow(full)), looks, || {
            let delays = data.rtt_min_s.zip(data.rtt_median_s);
            let queue = delays.is_some_and(|(min, median)| is_delayed(min, median));
            queue.then_some(Reason::Queue)
        })
    }

    /// Why longer frames are lost more often, if that shows.
    pub(crate) fn reason(self) -> Option<Reason> {
        match self {
            Self::ByLength(reason) => reason,
            _ => None,
        }
    }

    fn of(
        size: &BySize<'_>,
        (lengths, narrow): (&Lengths, bool),
        looks: usize,
        reason: impl Fn() -> Option<Reason>,
    ) -> Self {
        let table = &size.table;
        if !table.falls_on_merged() {
            Self::None
        } else if narrow || size.falls_by_the_byte() || room::explains(table, lengths) {
            Self::ByLength(reason())
        } else if let Some(reason) = reason().filter(|_| hits_single(table)) {
            Self::ByLength(Some(reason))
        } else if fisher(table).is_some_and(|p| p >= DOUBT / looks.max(1) as f64) {
            Self::Slight
        } else if hits_single(table) {
            Self::Mixed
        } else {
            Self::Unexplained
        }
    }

    /// Whether merging is not cleared.
    pub(crate) fn is_doubt(self) -> bool {
        matches!(self, Self::Mixed | Self::Unexplained)
    }
}

/// Whether single frames are lost as well, a tenth as often as merged ones or more often.
fn hits_single(table: &Table) -> bool {
    table.single_lost >= HANDFUL && table.single_share() >= TENTH * table.merged_share()
}

/// Whether most full single frames are lost as well: then the path is too narrow for either.
fn is_narrow(full: Fate) -> bool {
    let all = full.passed + full.lost;
    all >= A_FEW && full.lost as f64 >= MERGED_LOST * all as f64
}

/// Why a hop loses frames by the byte, if it shows that. Where bits go wrong, frames that stand alone are hit as often;
/// where room is short, they never are. A full queue delays the frames that it does not drop, and a policer does not.
fn reason_on(hop: &Hop) -> Option<Reason> {
    let share = |outcomes: &Outcomes| outcomes.lost as f64 / outcomes.seen.max(1) as f64;
    let alike = 2.0 * share(&hop.lone) >= share(&hop.single);
    let delays = hop
        .delay_spread_s
        .is_some_and(|spread| spread >= HOP_QUEUE_S);
    if hop.lone.lost >= LOSS_FRAMES && alike && BySize::of_hop(hop).falls_by_the_byte() {
        Some(Reason::Corruption)
    } else if delays {
        Some(Reason::Queue)
    } else {
        (hop.lone.seen >= LONE && !alike).then_some(Reason::Policer)
    }
}
