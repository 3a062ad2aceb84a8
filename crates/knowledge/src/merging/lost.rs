//! What a hop loses, and which of its connections shows it best.

use std::cell::LazyCell;

use coalescope_capture::facts::{Hop, HopConnection, Trace};

use super::beside::Beside;
use super::frames::Frames;
use super::since::Since;
use crate::by_size::{BySize, Step};
use crate::crossing::Crossing;
use crate::judged::at;
use crate::part::Part;
use crate::thresholds::{A_FEW, MERGED_LOST};

const NEVER_ARRIVED: &str = "that left never arrived";

/// What a hop loses: words for its frames, the connection that shows it best, and the numbers.
pub(crate) struct Lost<'a> {
    pub(crate) frames: Frames,
    pub(super) worst: &'a HopConnection,
    pub(crate) step: Step,
    /// What became of these frames.
    fate: &'static str,
}

impl<'a> Lost<'a> {
    pub(crate) fn on(hop: &'a Crossing<'a>) -> Option<Self> {
        let all = BySize::of_hop(hop).step(1);
        let worst = worst_on(hop, |connection| BySize::of_connection(hop, connection));
        let Some(step) = all.or(worst.map(|(_, step)| step)) else {
            return Self::for_a_time(hop).or_else(|| Self::uncut_on(hop));
        };
        let worst = worst.map(|(connection, _)| connection);
        Some(Self {
            frames: Frames::Merged,
            worst: worst.or(hop.connections.first())?,
            step,
            fate: NEVER_ARRIVED,
        })
    }

    /// Frames that are lost from some time on, or up to some time.
    fn for_a_time(hop: &'a Crossing<'a>) -> Option<Self> {
        let (step, worst) = Since::step(hop)?;
        Some(Self {
            frames: Frames::Merged,
            worst,
            step,
            fate: "that left between the first and the last such loss never arrived",
        })
    }

    /// Frames that were taken for TSO frames, and are lost whole: had the sender's card segmented them, their segments
    /// would pass like others.
    fn uncut_on(hop: &'a Crossing<'a>) -> Option<Self> {
        let (worst, step) = worst_on(hop, |connection| BySize::of_uncut(hop, connection))?;
        Some(Self {
            frames: Frames::Large,
            worst,
            step,
            fate: NEVER_ARRIVED,
        })
    }

    /// What it says of itself as evidence.
    pub(crate) fn words(&self) -> String {
        self.step.words(self.frames.words(), self.fate)
    }
}

/// Whether the connections that lost merged frames lost most of their single ones as well, those of which nothing arrived left out: then
/// the single frames that arrived are of others, on a better leg or of another class.
pub(super) fn loses_all_alike(hop: &Hop) -> bool {
    let arrives =
        |seen: &&HopConnection| seen.merged.came_through() + seen.single.came_through() > 0;
    let losers = hop.connections.iter().filter(|seen| seen.merged.lost > 0);
    let single = losers.filter(arrives).map(|seen| Part {
        lost: seen.single.lost,
        all: seen.single.judged(),
    });
    let single = single.fold(Part::default(), Part::and);
    single.lost > A_FEW && single.share() >= MERGED_LOST
}

/// Merged frames on their way, of segments that do not fit, when the first message about a single one comes back.
const SEVERAL: u64 = 8;

/// Whether messages "packet too big" about single frames explain what their connections lost: the segments themselves did not fit,
/// merged or not, and later ones, which do, make longer frames of fewer bytes.
pub(super) fn is_of_path_mtu(hop: &Hop, trace: &Trace) -> bool {
    let refused = |seen: &HopConnection| {
        let ends = [(&hop.from, seen.from_id), (&hop.to, seen.to_id)];
        let told = ends.iter().filter_map(|(point, id)| at(trace, point, *id));
        let single = told.map(|told| told.direction(seen.direction).rejected.single);
        single.max().unwrap_or(0)
    };
    let losers = hop.connections.iter().filter(|seen| seen.merged.lost > 0);
    let (lost, refused) = losers.fold((0, 0), |(lost, all), seen| {
        (lost + seen.merged.lost, all + refused(seen))
    });
    SEVERAL * refused >= lost && refused > 0
}

/// The first connection that shows by itself that longer frames cannot be carried, unless others show that some are.
fn worst_on<'c>(
    hop: &'c Crossing<'_>,
    frames: impl Fn(&'c HopConnection) -> BySize<'c>,
) -> Option<(&'c HopConnection, Step)> {
    let looks = hop.connections.len();
    let mut steps = hop.connections.iter();
    let beside = LazyCell::new(|| Beside::of_hop(hop));
    steps.find_map(|seen| {
        let step = frames(seen).step(looks)?;
        let is_alone = !beside.loses_a_part(seen.direction, &step);
        is_alone.then_some((seen, step))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection by what its merged and its single frames lost, and how many arrived.
    fn seen(merged: (u64, u64), single: (u64, u64)) -> HopConnection {
        let mut seen = HopConnection::default();
        (seen.merged.lost, seen.merged.arrived) = merged;
        (seen.single.lost, seen.single.arrived) = single;
        seen
    }

    #[test]
    fn flows_that_lose_nearly_all_are_not_compared_with_those_that_lose_nothing() {
        let with = |connections: &[HopConnection]| {
            loses_all_alike(&Hop {
                connections: connections.to_vec(),
                ..Hop::default()
            })
        };
        let sound = seen((0, 0), (0, 500));
        let blocked = seen((3, 0), (9, 0));
        assert!(with(&[
            seen((4, 0), (9, 1)),
            seen((3, 0), (7, 1)),
            sound.clone()
        ]));
        assert!(!with(&[seen((40, 0), (9, 60)), sound.clone()]));
        assert!(!with(&[seen((40, 0), (0, 12)), blocked, sound]));
    }
}
