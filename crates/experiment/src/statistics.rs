//! Permutation test, interval, looks and multiplicity: what may be claimed from how many blocks.
//!
//! Everything starts from one number per block and effect, its [contrast](crate::design::Contrast):
//! for positive figures (throughput, time, us/KB) of their logarithms, so that the mean over the
//! blocks is the logarithm of the geometric mean of the within-block ratios. That is the natural
//! estimator for such figures: effects on them multiply, "twice as fast" and "half as fast" weigh
//! the same, and the ratio of A to B is one over that of B to A (Fleming and Wallace, How not to lie
//! with statistics, CACM 29(3), 1986). If a figure is zero or negative, ratios mean nothing and the
//! plain differences are used ([`Scale`]).
//!
//! | part | method |
//! |---|---|
//! | [`SignFlips`] | sign-flip permutation test over blocks, and the interval that is its inverse |
//! | [`Looks`] | when results are looked at, and how the 5% error is shared between the looks |
//! | [`holm`] | several effects of one metric |
//! | [`outliers`] | runs far from the others: reported, never dropped |
//! | [`detectable`], [`smallest_p`] | what a number of blocks can find at all |

mod flips;
mod interim_looks;
mod multiple;
mod outliers;
mod power;
mod summary;

pub use flips::{Interval, SignFlips};
pub use interim_looks::{Look, Looks};
pub use multiple::holm;
pub use outliers::outliers;
pub(crate) use power::blocks_for;
pub use power::{detectable, smallest_p};
pub use summary::Summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the levels of a metric are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// As ratios: every figure is above zero.
    Ratio,
    /// As differences in the metric's unit: a figure is zero or below, as with retransmissions.
    Difference,
}

impl Scale {
    /// The scale for these figures. It depends on the signs of all figures, so that it favours no level.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let ratio = figures.into_iter().all(|figure| figure > 0.0);
        if ratio { Self::Ratio } else { Self::Difference }
    }

    /// A figure on this scale: its natural logarithm for ratios.
    #[must_use]
    pub fn onto(self, figure: f64) -> f64 {
        match self {
            Self::Ratio => figure.ln(),
            Self::Difference => figure,
        }
    }

    /// The inverse of [`Scale::onto`].
    #[must_use]
    pub fn back(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.exp(),
            Self::Difference => value,
        }
    }
}

/// A count as a number. Exact below 2^53, far above any count here.
#[expect(clippy::cast_precision_loss, reason = "counts of runs and resamples")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}
