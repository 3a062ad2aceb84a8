//! A summary of one cell's figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number;

/// A metric's figures in one cell, in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many there are.
    pub runs: usize,
    /// Runs that gave none.
    pub missing: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Sample standard deviation (n - 1); absent for fewer than two.
    pub deviation: Option<f64>,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Summary {
    /// The summary of figures that are all finite; `None` without any.
    #[must_use]
    pub fn of(figures: &[f64], missing: usize) -> Option<Self> {
        let median = median(figures)?;
        let mean = figures.iter().sum::<f64>() / number(figures.len());
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let deviation = (figures.len() > 1).then(|| (squares / number(figures.len() - 1)).sqrt());
        let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self {
            runs: figures.len(),
            missing,
            mean,
            median,
            deviation,
            least,
            most,
        })
    }
}

/// The middle, or the mean of the two in the middle.
pub(super) fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let high = *sorted.get(sorted.len() / 2)?;
    let low = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(low, high))
}
