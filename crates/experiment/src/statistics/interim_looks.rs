//! When results are looked at, and how the error is shared between the looks.

use super::smallest_p;

/// The smallest ratio of blocks from one look to the next: more looks cost error at each look and save few runs.
const GROWTH: f64 = 1.5;
/// The largest number of looks.
const MOST: usize = 8;
/// The last look's share of the error, if it is not the only one: most experiments that need all
/// their runs need them because the effect is small, and this costs them little.
const LAST: f64 = 0.5;

/// One look at the results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The number of complete blocks before the look.
    pub blocks: usize,
    /// Its share of the error; the shares of all looks add up to 1.
    pub share: f64,
}

/// The looks of an experiment, laid down before its first run.
///
/// Looking after every block and stopping at the first p below 5% is wrong in about a quarter of
/// all null experiments (Armitage, McPherson and Rowe, 1969). So it is a group-sequential design:
/// a few looks, each with a share of the error laid down beforehand (alpha spending: Lan and
/// `DeMets`, Biometrika 70, 1983). A look decides at its share times 5%, and its interval has level
/// 1 - share x 5% (repeated confidence intervals: Jennison and Turnbull, 1989), so that all
/// intervals together hold the truth in 95% of experiments, whatever made them stop; claims of "no
/// difference" rest on that too.
///
/// The shares simply add up (Bonferroni over the looks). The usual boundaries allow a little more
/// for the correlation between looks, but need normal sums; with 8 blocks, heavy tails and a
/// permutation test only the sum is certain. Anytime-valid tests (Howard and others, 2021) would
/// allow a look after every block, at the price of wider intervals at every number of blocks up to
/// the few dozen that are run here.
///
/// The rest of the 5%, measured over 10,000 null experiments of 40 runs: 3.3% (normal, skewed,
/// drifting noise) to 3.7% (heavy tails); 2.3% for any of the three effects of a 2 x 2 factorial.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks(Vec<Look>);

impl Looks {
    /// The looks for at most `max_blocks` blocks, `effects` effects that are judged together, and
    /// the error `alpha`. The first look comes when its share of the error allows a verdict at all
    /// ([`smallest_p`]); the last after `max_blocks`.
    #[must_use]
    pub fn new(max_blocks: usize, effects: usize, alpha: f64) -> Self {
        let several = (2..=MOST)
            .rev()
            .find_map(|looks| spread(looks, max_blocks, effects, alpha));
        Self(several.unwrap_or_else(|| {
            vec![Look {
                blocks: max_blocks,
                share: 1.0,
            }]
        }))
    }

    /// All looks, in order.
    #[must_use]
    pub fn all(&self) -> &[Look] {
        &self.0
    }

    /// Whether the results are looked at after `blocks` whole blocks.
    #[must_use]
    pub fn is_due(&self, blocks: usize) -> bool {
        self.0.iter().any(|look| look.blocks == blocks)
    }

    /// The share of the error for results after `blocks` blocks: that of this look, or of the next
    /// one if the experiment ended before it. (If the experiment is then resumed, the share of that
    /// look is used twice: the report of the resumed experiment replaces the earlier one.)
    #[must_use]
    pub fn share(&self, blocks: usize) -> f64 {
        let next = self.0.iter().find(|look| look.blocks >= blocks);
        next.or(self.0.last()).map_or(1.0, |look| look.share)
    }
}

/// A number of looks, if they fit.
fn spread(looks: usize, max_blocks: usize, effects: usize, alpha: f64) -> Option<Vec<Look>> {
    let early = (1.0 - LAST) / super::number(looks - 1);
    let first = (1..max_blocks)
        .find(|&n| smallest_p(n, usize::MAX) <= early * alpha / super::number(effects.max(1)))?;
    let steps = super::number(looks - 1);
    let growth = (super::number(max_blocks) / super::number(first)).powf(1.0 / steps);
    if growth < GROWTH {
        return None;
    }
    let at = |look| rounded(super::number(first) * growth.powf(super::number(look)));
    let earlier = (0..looks - 1).map(|look| Look {
        blocks: at(look),
        share: early,
    });
    Some(
        earlier
            .chain([Look {
                blocks: max_blocks,
                share: LAST,
            }])
            .collect(),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of blocks"
)]
fn rounded(blocks: f64) -> usize {
    blocks.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_looks_ascend_to_the_last_block() {
        for (max, effects) in (1..300).flat_map(|max| [1, 3, 6, 28].map(|effects| (max, effects))) {
            let looks = Looks::new(max, effects, 0.05);
            let sum: f64 = looks.all().iter().map(|look| look.share).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{max} {looks:?}");
            assert!(looks.all().is_sorted_by(|a, b| a.blocks < b.blocks));
            assert_eq!(looks.all().last().map(|look| look.blocks), Some(max));
        }
    }

    #[test]
    fn forty_runs_of_two_levels_are_looked_at_three_times() {
        let looks = Looks::new(20, 1, 0.05);
        let blocks: Vec<usize> = looks.all().iter().map(|look| look.blocks).collect();
        assert_eq!(blocks, [8, 13, 20]);
        assert!(looks.is_due(13) && !looks.is_due(14));
        assert!((looks.share(9) - 0.25).abs() < 1e-12 && (looks.share(20) - 0.5).abs() < 1e-12);
    }
}
