//! Frames of some sort, and how many of them were lost.

use coalescope_capture::facts::{Fate, Left, Length};

use crate::odds::{Table, fisher};

/// Frames, all and those that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) lost: u64,
    pub(crate) all: u64,
}

impl From<Fate> for Part {
    fn from(fate: Fate) -> Self {
        Self {
            lost: fate.lost,
            all: fate.passed + fate.lost,
        }
    }
}

impl Part {
    pub(crate) fn one(lost: bool) -> Self {
        Self {
            lost: u64::from(lost),
            all: 1,
        }
    }

    pub(crate) fn of<'l>(lengths: impl Iterator<Item = &'l Length>) -> Self {
        lengths.fold(Self::default(), |sum, length| Self {
            lost: sum.lost + u64::from(length.lost),
            all: sum.all + u64::from(length.lost) + u64::from(length.passed),
        })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            all: self.all + other.all,
        }
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            lost: self.lost - other.lost,
            all: self.all - other.all,
        }
    }

    pub(crate) fn share(self) -> f64 {
        self.lost as f64 / self.all.max(1) as f64
    }

    /// Logarithm of the likelihood of these counts if each frame is lost with this probability.
    pub(crate) fn likelihood(self, probability: f64) -> f64 {
        let term = |n: u64, p: f64| if n == 0 { 0.0 } else { n as f64 * p.ln() };
        term(self.lost, probability) + term(self.all - self.lost, 1.0 - probability)
    }

    /// Likelihood with the probability that makes the counts likeliest.
    pub(crate) fn own_likelihood(self) -> f64 {
        self.likelihood(self.share())
    }

    /// Fisher's p of these frames against others.
    pub(crate) fn against(self, other: Self) -> f64 {
        fisher(&Table {
            merged_lost: self.lost,
            merged: self.all,
            single_lost: other.lost,
            single: other.all,
        })
        .unwrap_or(1.0)
    }
}

/// Lengths of the runs of frames that were lost one after the other.
pub(crate) fn runs_of_lost(frames: &[Left]) -> impl Iterator<Item = usize> {
    let runs = frames.chunk_by(|a, b| a.lost == b.lost);
    runs.filter(|run| run[0].lost).map(<[Left]>::len)
}
