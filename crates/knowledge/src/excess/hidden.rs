//! Losses on a hop that merges frames itself: what is lost behind the merging was one frame there, and several in a row where
//! it left.

use coalescope_capture::facts::{Hop, Left};

use crate::part::runs_of_lost;
use crate::thresholds::{HANDFUL, LONE, TENTH};
use crate::words::share;

/// Runs of frames that were lost one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Runs {
    all: u64,
    /// Of these, the ones of two frames and more.
    several: u64,
}

impl Runs {
    /// Those of a hop that merges single frames, if next to none of them is of one frame: chance, a full queue and a policer
    /// lose frames that stand alone as well.
    pub(super) fn of_merged(hop: &Hop) -> Option<Self> {
        let merges = hop.single.merged_further >= LONE && hop.merged.seen + hop.tso.seen < LONE;
        let runs = Self::of(&hop.in_turn);
        let alone = (runs.all - runs.several) as f64;
        (merges && runs.all >= 2 * HANDFUL && alone <= TENTH * runs.all as f64).then_some(runs)
    }

    fn of(frames: &[Left]) -> Self {
        let several = runs_of_lost(frames).filter(|frames| *frames > 1);
        Self {
            all: runs_of_lost(frames).count() as u64,
            several: several.count() as u64,
        }
    }

    pub(super) fn words(self) -> String {
        format!(
            "the hop merges frames, and {} losses are of two segments and more in a row",
            share(self.several, self.all)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hop that merges, and loses runs of so many frames, with ten frames between them that arrive.
    fn hop(runs: &[usize]) -> Hop {
        let mut hop = Hop::default();
        hop.single.merged_further = 200;
        for (run, lost) in runs.iter().flat_map(|run| [(*run, true), (10, false)]) {
            let left = Left {
                bytes: 1448,
                lost,
                ..Left::default()
            };
            hop.in_turn.extend(std::iter::repeat_n(left, run));
        }
        hop
    }

    #[test]
    fn merged_frames_are_lost_in_runs() {
        let runs = Runs::of_merged(&hop(&[2, 3, 4, 2, 2, 3, 8, 2, 2, 1, 5])).unwrap();
        assert_eq!(
            runs.words(),
            "the hop merges frames, and 10 of 11 (91%) losses are of two segments and more in a row"
        );
    }

    #[test]
    fn chance_loses_frames_that_stand_alone() {
        assert_eq!(
            Runs::of_merged(&hop(&[1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1])),
            None
        );
        assert_eq!(Runs::of_merged(&hop(&[2, 3, 4])), None);
        let mut merged_before = hop(&[2; 12]);
        merged_before.merged.seen = 40;
        assert_eq!(Runs::of_merged(&merged_before), None);
    }
}
