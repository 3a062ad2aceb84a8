//! The sign-flip permutation test over blocks, and the interval that is its inverse.

use crate::design::Chance;

use super::number;

/// The use of the seed for resamples.
const RESAMPLES: u64 = 2;
/// Blocks in one table of subset sums, from which random subsets are put together: a byte's bits.
const TABLE: usize = 8;
/// Rounding allowed where sums are compared, as a share of the sum of all magnitudes.
const ROUNDING: f64 = 1e-13;

/// The values of one contrast, one a block, and what flipping the signs of any of them does.
///
/// If the levels do not differ, a block's value would as likely have had the other sign: its order
/// was random, and exchanging the levels changes the sign and nothing else. All 2^n choices of
/// signs are then equally probable given the magnitudes, whatever the noise looks like (skewed,
/// heavy-tailed, drifting, different from block to block), so the share of them whose mean is at
/// least as extreme is an exact p (Fisher, 1935, section 21; Lehmann and Romano, Testing Statistical
/// Hypotheses, 2005, section 15.2). For two levels this is the complete set of permutations within
/// blocks. For an interaction it needs the noise to be exchangeable within a block.
///
/// Shifting the values by d tests the effect d, and the interval holds the d that are not rejected.
/// Its ends are ordered means of subsets of blocks (Hartigan, Using subsample values as typical
/// values, JASA 64, 1969), so no search is needed, and interval and p never contradict each other.
///
/// Exact if 2^n is at most one more than the resamples allowed; otherwise seeded Monte Carlo with the
/// observed signs counted in, p = (b+1)/(m+1), which keeps the error without any approximation
/// (Phipson and Smyth, Permutation p-values should never be zero, 2010).
#[derive(Clone, Debug)]
pub struct SignFlips {
    blocks: usize,
    mean: f64,
    rounding: f64,
    exact: bool,
    /// Sums and sizes of subsets of flipped blocks; the empty subset is one of them.
    subsets: Vec<Subset>,
    /// Means of the subsets that are not empty, ascending.
    means: Vec<f64>,
}

/// A subset of blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Subset {
    sum: f64,
    count: usize,
}

/// An interval on the contrast's scale (logarithms for ratios). An end is missing if the blocks
/// are too few for any: at level 1 - a, 2^(1-n) is then above a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl SignFlips {
    /// From the contrast's values, at least one and all finite (`None` otherwise), the largest
    /// number of resamples, and a seed with the effect's number.
    #[must_use]
    pub fn new(values: &[f64], resamples: usize, seed: u64, effect: u64) -> Option<Self> {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let exact = is_exact(values.len(), resamples);
        let subsets = if exact {
            all(values)
        } else {
            some(values, resamples, seed, effect)
        };
        let mut means: Vec<f64> = subsets
            .iter()
            .filter(|s| s.count > 0)
            .map(Subset::mean)
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let magnitude: f64 = values.iter().map(|value| value.abs()).sum();
        let whole = Subset {
            sum: values.iter().sum(),
            count: values.len(),
        };
        let rounding = ROUNDING * magnitude;
        Some(Self {
            blocks: values.len(),
            mean: whole.mean(),
            rounding,
            exact,
            subsets,
            means,
        })
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The mean of the values; for logarithms, the logarithm of the geometric mean of the ratios.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Whether every choice of signs was used.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The two-sided p, twice the smaller one-sided one, at most 1. Never below
    /// [`smallest_p`](super::smallest_p). Ties count against the effect.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        // Flipping a subset takes twice its sum from the total: at least as large if that is not above 0.
        let greater = self
            .subsets
            .iter()
            .filter(|subset| subset.sum <= self.rounding)
            .count();
        let less = self
            .subsets
            .iter()
            .filter(|subset| subset.sum >= -self.rounding)
            .count();
        (2.0 * number(greater.min(less)) / number(self.subsets.len())).min(1.0)
    }

    /// The interval of level `1 - alpha` (two-sided): all effects whose p is above `alpha`.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Interval {
        let tail = below(alpha / 2.0, self.subsets.len());
        let empty = self.subsets.len() - self.means.len();
        let place = tail
            .checked_sub(empty)
            .filter(|&place| place < self.means.len());
        let low = place.map(|place| self.means[place]);
        let high = place.map(|place| self.means[self.means.len() - 1 - place]);
        Interval { low, high }
    }
}

impl Subset {
    fn mean(&self) -> f64 {
        self.sum / number(self.count)
    }

    fn with(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }
}

/// Whether all choices of signs of this number of blocks are used.
pub(super) fn is_exact(blocks: usize, resamples: usize) -> bool {
    u32::try_from(blocks)
        .ok()
        .and_then(|n| 2_usize.checked_pow(n))
        .is_some_and(|all| all <= resamples.saturating_add(1))
}

/// How many of `total` make up a share of at most `share`, rounded up by a little, since 0.05 has
/// no exact binary form.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and total"
)]
fn below(share: f64, total: usize) -> usize {
    (share.clamp(0.0, 1.0) * number(total) + 1e-9).floor() as usize
}

/// Every subset of the values, the empty one first.
fn all(values: &[f64]) -> Vec<Subset> {
    let mut subsets = vec![Subset::default()];
    for &sum in values {
        let with: Vec<Subset> = subsets
            .iter()
            .map(|subset| subset.with(Subset { sum, count: 1 }))
            .collect();
        subsets.extend(with);
    }
    subsets
}

/// Random subsets, the observed (empty) one counted in.
fn some(values: &[f64], resamples: usize, seed: u64, effect: u64) -> Vec<Subset> {
    let tables: Vec<Vec<Subset>> = values.chunks(TABLE).map(all).collect();
    let mut chance = Chance::new(seed, RESAMPLES, effect);
    let drawn = (0..resamples).map(|_| draw(&tables, &mut chance));
    std::iter::once(Subset::default()).chain(drawn).collect()
}

/// Draws a random subset: one random byte selects from each table, whose length is a power of two.
fn draw(tables: &[Vec<Subset>], chance: &mut Chance) -> Subset {
    let mut drawn = Subset::default();
    for eight in tables.chunks(8) {
        for (table, byte) in eight.iter().zip(chance.any().to_le_bytes()) {
            drawn = drawn.with(table[usize::from(byte) % table.len()]);
        }
    }
    drawn
}
