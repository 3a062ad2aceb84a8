//! Losses on a hop that merges frames itself: what is lost behind the merging was one frame there, and several in a row where
//! it left.

use coalescope_capture::facts::Left;

use crate::bucket::Fit;
use crate::crossing::Crossing;
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
    /// lose frames that stand alone as well. A burst may meet an empty bucket each time, which the order of frames shows.
    pub(super) fn of_merged(hop: &Crossing<'_>) -> Option<Self> {
        let merges = hop.single.merged_further >= LONE && hop.merged.seen + hop.tso.seen < LONE;
        let runs = Self::of(&hop.in_turn);
        let alone = (runs.all - runs.several) as f64;
        // Of a few long runs a bucket that loses their first frames as well says nothing either.
        let are_many = || runs.all >= 2 * HANDFUL || hop.room().is_some();
        let in_runs = alone <= TENTH * runs.all as f64 && runs.all > 0;
        let for_room = || hop.room().is_some_and(Fit::explains_runs);
        (merges && in_runs && are_many() && !for_room()).then_some(runs)
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
    use coalescope_capture::facts::Hop;

    use super::*;

    /// A hop that merges.
    fn merging(frames: Vec<Left>) -> Hop {
        let mut hop = Hop {
            in_turn: frames,
            ..Hop::default()
        };
        hop.single.merged_further = 200;
        hop.single.lost = hop.in_turn.iter().filter(|left| left.lost).count() as u64;
        hop
    }

    /// One that loses runs of so many frames, with ten frames between them that arrive.
    fn losing(runs: &[usize]) -> Hop {
        let runs = runs.iter().flat_map(|run| [(*run, true), (10, false)]);
        let frames = runs.flat_map(|(run, lost)| {
            let left = Left {
                bytes: 1448,
                lost,
                ..Left::default()
            };
            std::iter::repeat_n(left, run)
        });
        merging(frames.collect())
    }

    fn of(hop: &Hop) -> Option<Runs> {
        Runs::of_merged(&Crossing::of(hop))
    }

    #[test]
    fn merged_frames_are_lost_in_runs() {
        let runs = of(&losing(&[2, 3, 4, 2, 2, 3, 8, 2, 2, 1, 5])).unwrap();
        assert_eq!(
            runs.words(),
            "the hop merges frames, and 10 of 11 (91%) losses are of two segments and more in a row"
        );
    }

    #[test]
    fn chance_loses_frames_that_stand_alone() {
        assert_eq!(of(&losing(&[1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1])), None);
        assert_eq!(of(&losing(&[2, 3, 4])), None);
        let mut merged_before = losing(&[2; 12]);
        merged_before.merged.seen = 40;
        assert_eq!(of(&merged_before), None);
    }

    /// A burst of 12 to 19 frames, 10 us apart, every 20 ms.
    fn bursts(is_lost: impl FnMut((i64, i64, u32)) -> bool) -> Hop {
        let all = (0..60).flat_map(|burst| (0..12 + burst * 5 % 8).map(move |at| (burst, at)));
        let mut is_lost = is_lost;
        let frames = all.map(|(burst, at)| {
            let (ns, bytes) = (burst * 20_000_000 + at * 10_000, 1448);
            Left {
                bytes,
                ns,
                lost: is_lost((ns, at, bytes)),
                ..Left::default()
            }
        });
        merging(frames.collect())
    }

    /// The tokens that bursts find left, of 20,000 that come back at 8 Mbit/s.
    #[test]
    fn a_bucket_that_is_empty_loses_the_ends_of_bursts() {
        let (mut tokens, mut last_ns) = (20_000.0_f64, 0);
        let policed = bursts(|(ns, _, bytes)| {
            tokens = (tokens + (ns - last_ns) as f64 / 1_000.0).min(20_000.0);
            last_ns = ns;
            let needs = f64::from(bytes + 66);
            let fits = needs <= tokens;
            tokens -= if fits { needs } else { 0.0 };
            !fits
        });
        assert!(Runs::of(&policed.in_turn).several > 2 * HANDFUL);
        assert_eq!(of(&policed), None);
    }

    /// A few long runs, with every tenth frame of them that passes: a rate may fit them, but not their first frames.
    #[test]
    fn a_few_runs_are_no_want_of_room_if_their_first_frames_are_lost() {
        let lost = bursts(|(ns, at, _)| ns / 20_000_000 % 8 == 0 && (at > 0 || ns % 3 == 0));
        let runs = Runs::of(&lost.in_turn);
        assert!(runs.all < 2 * HANDFUL, "{runs:?}");
        let crossing = Crossing::of(&lost);
        assert_eq!(of(&lost).is_some(), crossing.room().is_some());
        assert!(!crossing.room().is_some_and(Fit::explains_runs));
    }

    /// Every other group of four frames is merged, and lost, wherever in the burst it is.
    #[test]
    fn a_bucket_has_room_for_the_first_of_what_was_merged() {
        let mut burst = 0;
        let lost = bursts(|(_, at, _)| {
            burst += u32::from(at == 0);
            (at / 4 + i64::from(burst % 2)) % 2 == 0
        });
        assert!(of(&lost).is_some());
    }
}
