//! Counts of lost and not lost frames, merged and single: the evidence that convicts.

use std::ops::AddAssign;

use coalescope_capture::facts::{Direction, Hop, Outcomes};

use crate::thresholds::{ALPHA, HANDFUL, MERGED_LOST};
use crate::words::{probability, share};

/// Lost and not lost, merged and single.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) merged_lost: u64,
    pub(crate) merged: u64,
    pub(crate) single_lost: u64,
    pub(crate) single: u64,
}

impl Table {
    pub(crate) fn of(merged: &Outcomes, single: &Outcomes) -> Self {
        Self {
            merged_lost: merged.lost,
            merged: merged.judged(),
            single_lost: single.lost,
            single: single.judged(),
        }
    }

    /// Frames of a hop that compare: those of connections of which something arrived.
    pub(crate) fn of_hop(hop: &Hop) -> Self {
        let (merged, single) = hop.compared();
        Self::of(&merged, &single)
    }

    pub(crate) fn of_repeats(direction: &Direction) -> Self {
        let repeats = &direction.repeats;
        Self {
            merged_lost: repeats.merged_repeated,
            merged: repeats.merged,
            single_lost: repeats.single_repeated + direction.full_again.lost,
            single: repeats.single + direction.full_again.passed + direction.full_again.lost,
        }
    }

    pub(crate) fn merged_share(&self) -> f64 {
        self.merged_lost as f64 / self.merged.max(1) as f64
    }

    pub(crate) fn single_share(&self) -> f64 {
        self.single_lost as f64 / self.single.max(1) as f64
    }

    pub(crate) fn of_uncut_repeats(direction: &Direction) -> Self {
        let repeats = &direction.repeats;
        Self {
            merged_lost: repeats.tso_repeated,
            merged: repeats.tso,
            ..Self::of_repeats(direction)
        }
    }

    /// A hint at merging that does not convict it.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        let most = self.merged_share() >= MERGED_LOST && self.single_share() < MERGED_LOST;
        let unproven = self.merged_lost < HANDFUL || fisher(self).is_none_or(|p| p >= ALPHA);
        (self.merged_lost > 0 && most && unproven)
            .then_some("merged frames were lost, but too few to blame merging")
    }

    /// Whether merged frames were lost more often than single ones, and not by chance.
    pub(crate) fn falls_on_merged(&self) -> bool {
        self.merged_lost >= HANDFUL
            && self.merged_share() > self.single_share()
            && fisher(self).is_some_and(|p| p < ALPHA)
    }

    /// The table in words.
    pub(crate) fn words(&self, p: Option<f64>, fate: &str) -> String {
        self.words_of("merged frames", p, fate)
    }

    /// The table in words, with a name for what is merged.
    pub(crate) fn words_of(&self, merged: &str, p: Option<f64>, fate: &str) -> String {
        let p = p
            .map(|p| format!(" (Fisher's exact {})", probability(p)))
            .unwrap_or_default();
        format!(
            "{} {merged} {fate}, against {} single ones{p}",
            share(self.merged_lost, self.merged),
            share(self.single_lost, self.single),
        )
    }
}

impl AddAssign for Table {
    fn add_assign(&mut self, other: Self) {
        self.merged_lost += other.merged_lost;
        self.merged += other.merged;
        self.single_lost += other.single_lost;
        self.single += other.single;
    }
}

/// Outcomes as if frames that lost a part had not arrived.
pub(crate) fn all_damaged(outcomes: &Outcomes) -> Outcomes {
    Outcomes {
        lost: outcomes.damaged(),
        partly_lost: 0,
        ..*outcomes
    }
}

/// Two-sided p of Fisher's exact test.
pub(crate) fn fisher(table: &Table) -> Option<f64> {
    coalescope_capture::fisher_exact([
        table.merged_lost,
        table.merged - table.merged_lost,
        table.single_lost,
        table.single - table.single_lost,
    ])
}
