//! What a hop loses, and which of its connections shows it best.

use std::cell::LazyCell;

use coalescope_capture::facts::HopConnection;

use super::beside::Beside;
use super::frames::Frames;
use super::since::Since;
use crate::by_size::{BySize, Step};
use crate::crossing::Crossing;

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
