//! The effects that a number of blocks can find.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::flips::is_exact;
use super::number;

/// The smallest two-sided p that so many blocks can give, with at most so many resamples:
/// 2^(1-n), or 2/(m+1) where all choices of signs are too many. 5 blocks give 0.0625, 6 give 0.031.
#[must_use]
pub fn smallest_p(blocks: usize, resamples: usize) -> f64 {
    if !is_exact(blocks, resamples) {
        return 2.0 / (number(resamples) + 1.0);
    }
    let all = i32::try_from(blocks).unwrap_or(i32::MAX);
    (2.0 * 0.5_f64.powi(all)).min(1.0)
}

/// The fewest blocks whose smallest p is at most `p`, with as many resamples as that takes.
#[must_use]
pub(crate) fn blocks_for(p: f64) -> usize {
    (1..=64)
        .find(|&blocks| smallest_p(blocks, usize::MAX) <= p)
        .unwrap_or(64)
}

/// The smallest effect that is found with probability `power` at two-sided level `alpha` by
/// `blocks` blocks whose contrasts have standard deviation `deviation`, on the contrast's scale: for
/// ratios, `exp` of it less 1 is the effect. For two levels and noise of standard deviation s a run
/// (of the logarithm: about its share of the mean), `deviation` is s x sqrt(2).
///
/// (t(1 - alpha/2) + t(power)) x deviation / sqrt(n) with Student's t of n - 1 degrees of freedom
/// (Chow, Shao and Wang, Sample Size Calculations in Clinical Research, 2008, section 3.1, in its
/// usual approximation). For normal noise; `None` for fewer than two blocks, probabilities that are
/// none, or where [`smallest_p`] is above `alpha` and nothing can be found.
#[must_use]
pub fn detectable(deviation: f64, blocks: usize, alpha: f64, power: f64) -> Option<f64> {
    let open = |p: f64| p > 0.0 && p < 1.0;
    if blocks < 2 || !open(alpha) || !open(power) || smallest_p(blocks, usize::MAX) > alpha {
        return None;
    }
    let t = StudentsT::new(0.0, 1.0, number(blocks - 1)).ok()?;
    let steps = t.inverse_cdf(1.0 - alpha / 2.0) + t.inverse_cdf(power);
    Some(steps * deviation / number(blocks).sqrt())
}
