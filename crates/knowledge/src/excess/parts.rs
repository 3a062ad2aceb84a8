//! Merged frames of which a part is sent again, at one point: what passes their first segments and drops the others looks so from
//! in front. None of them is sent again whole, so that they do not count as lost.

use coalescope_capture::facts::Direction;

use crate::limits::segments;
use crate::odds::{Table, fisher};
use crate::thresholds::{DOUBT, HANDFUL, PARTLY, TENTH};
use crate::words::{counted, probability, share};

/// Segments that were sent again, of merged frames that lost a part, and of single frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    table: Table,
    frames: u64,
}

impl Parts {
    /// Those of a direction, if it repeats a part of many merged frames and hardly any single one. Chance behind a place that
    /// cuts merged frames hits single frames as often as segments, and takes a part of a few.
    pub(super) fn of(data: &Direction, looks: usize) -> Option<Self> {
        data.merge_factor_mean?;
        let table = Self::table(data);
        let frames = data.repeats.merged;
        let spares_single = table.single_share() <= TENTH * table.merged_share();
        let is_many = table.merged_lost as f64 >= PARTLY * frames as f64;
        // Asked of every connection: the test comes last, since it takes longest.
        let is_no_chance = || fisher(&table).is_some_and(|p| p < DOUBT / looks.max(1) as f64);
        let holds = frames >= 2 * HANDFUL && is_many && spares_single && is_no_chance();
        holds.then_some(Self { table, frames })
    }

    fn table(data: &Direction) -> Table {
        let repeats = &data.repeats;
        let single = repeats.single;
        let merged = (segments(data) as u64).saturating_sub(single + repeats.tso);
        let needless = data.retransmitted_spurious + repeats.single_repeated;
        let again = data.retransmitted_frames.saturating_sub(needless);
        // A frame that was lost whole is sent again in single frames.
        let whole = (repeats.merged_repeated + repeats.tso_repeated) * merged;
        let whole = whole.div_ceil(repeats.merged.max(1));
        Table {
            merged_lost: again.saturating_sub(whole).min(merged),
            merged,
            single_lost: repeats.single_repeated,
            single,
        }
    }

    pub(super) fn words(self) -> String {
        let Self { table, frames } = self;
        let p = fisher(&table).map(probability).unwrap_or_default();
        format!(
            "parts of {} were sent again: {} of their segments, against {} single ones (Fisher's exact {p})",
            counted(frames, "merged frame"),
            share(table.merged_lost, table.merged),
            share(table.single_lost, table.single),
        )
    }
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::Repeats;

    use super::*;

    /// Merged frames and single ones, of each how many were sent again whole, and all frames that were; of three segments each.
    fn direction(merged: (u64, u64), single: (u64, u64), again: u64) -> Direction {
        let frames = merged.0 + single.0 + again;
        Direction {
            data_frames: frames,
            merge_factor_mean: Some((3 * merged.0 + single.0 + again) as f64 / frames as f64),
            retransmitted_frames: again,
            repeats: Repeats {
                merged: merged.0,
                merged_repeated: merged.1,
                single: single.0,
                single_repeated: single.1,
                ..Repeats::default()
            },
            ..Direction::default()
        }
    }

    #[test]
    fn all_but_the_first_segment_is_sent_again() {
        let parts = Parts::of(&direction((54, 0), (317, 0), 55), 2).unwrap();
        assert_eq!(
            parts.words(),
            "parts of 54 merged frames were sent again: 55 of 217 (25%) of their segments, against 0 of 317 (0%) \
             single ones (Fisher's exact p < 1e-12)"
        );
        // Two segments of each pass.
        assert!(Parts::of(&direction((65, 0), (126, 0), 25), 2).is_some());
        // Some lost their last part twice, and some single ones were lost by chance.
        assert!(Parts::of(&direction((786, 50), (2_811, 9), 975), 2).is_some());
    }

    #[test]
    fn chance_and_queues_behind_what_cuts_take_few_or_hit_single_frames() {
        for (merged, single, again) in [
            ((2_644, 2), (1_677, 34), 141),
            ((41, 15), (1_318, 264), 340),
            ((1_690, 21), (207, 7), 73),
            // Lost whole, as by a policer.
            ((400, 120), (600, 0), 360),
            ((6, 0), (50, 0), 6),
        ] {
            let data = direction(merged, single, again);
            assert_eq!(Parts::of(&data, 2), None, "{merged:?} {single:?} {again}");
        }
    }
}
