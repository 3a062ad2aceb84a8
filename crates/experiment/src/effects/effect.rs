//! Effects and their verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sense;
use crate::statistics::Scale;

/// One effect on one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The factor (`gro`), or two (`mtu x gro`) for an interaction.
    pub factor: String,
    /// Its level (`off`), or one of each (`9000 x off`).
    pub level: String,
    /// The level with which it is compared, or one of each.
    pub reference: String,
    /// What kind of effect it is.
    pub kind: EffectKind,
    /// The metric.
    pub metric: String,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether `low` and `high` are ratios or differences.
    pub scale: Scale,
    /// Geometric mean of the within-block ratios, level to reference. For an interaction the ratio of
    /// the first factor's ratios at the second one's levels. Absent on the scale of differences.
    /// Of an experiment that ended early it is on average a little too far from 1, as with every
    /// rule that stops at a clear answer; the interval allows for that.
    pub ratio: Option<f64>,
    /// Mean of the within-block differences, level less reference, in the metric's unit (for an
    /// interaction: of differences of differences). Absent on the scale of ratios.
    pub difference: Option<f64>,
    /// Lower end of the interval, for this effect by itself, whatever look ended the experiment.
    /// Absent if the blocks are too few for any.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Two-sided sign-flip permutation p, by itself.
    pub p_value: Option<f64>,
    /// The same with all effects of the metric (Holm) and all looks counted. The verdict rests on it.
    pub p_adjusted: Option<f64>,
    /// The smallest `p_value` that so many blocks could give.
    pub smallest_p: f64,
    /// Whether all permutations were looked at, not a sample.
    pub exact: bool,
    /// Blocks used.
    pub blocks: usize,
    /// Whole blocks left out because a figure is missing.
    pub missing_blocks: usize,
    /// What can be claimed.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
}

/// What kind of effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Of one factor, on average over the levels of all others. Where the factor takes part in an
    /// interaction, that average may hold at none of them: the cells tell.
    Main,
    /// How much one factor's effect depends on another's level.
    Interaction,
}

/// What can be claimed of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Verdict {
    /// There is a difference: `p_adjusted` is at most the error allowed.
    Different,
    /// There is none that matters.
    NoDifference {
        /// It is no larger than this: a share on the scale of ratios (0.03: between 1/1.03 and 1.03),
        /// zero on that of differences.
        larger_than: f64,
    },
    /// Neither can be claimed.
    NotClear,
    /// Fewer than two blocks have the figures.
    NotJudged,
}

impl Verdict {
    /// Whether the verdict answers the question.
    #[must_use]
    pub fn is_clear(self) -> bool {
        matches!(self, Self::Different | Self::NoDifference { .. })
    }
}

/// The direction of a level's effect, if it is larger than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Faster than the reference.
    Faster,
    /// Slower than the reference.
    Slower,
    /// No difference that matters.
    Alike,
    /// Nothing can be claimed, or the metric is neither a speed nor a time.
    Unclear,
}

impl Effect {
    /// The direction of the effect. The whole interval must be past the margin: a certain
    /// difference of 1% does not count.
    #[must_use]
    pub fn direction(&self, sense: Sense, margin: f64) -> Direction {
        let (Some(low), Some(high), Scale::Ratio) = (self.low, self.high, self.scale) else {
            return self.without_interval();
        };
        let (least, most) = match sense {
            Sense::Speed => (low, high),
            Sense::Time => (high.recip(), low.recip()),
            Sense::Plain => return self.without_interval(),
        };
        let matters = 1.0 + margin;
        match self.verdict {
            Verdict::Different if least > matters => Direction::Faster,
            Verdict::Different if most < matters.recip() => Direction::Slower,
            _ if least >= matters.recip() && most <= matters => Direction::Alike,
            _ => self.without_interval(),
        }
    }

    /// Whether the difference is larger than `margin`, at both ends of the interval. On the scale
    /// of differences, where figures may be zero, any difference counts.
    #[must_use]
    pub fn matters(&self, margin: f64) -> bool {
        let (Some(low), Some(high), Scale::Ratio) = (self.low, self.high, self.scale) else {
            return self.verdict == Verdict::Different;
        };
        let matters = 1.0 + margin;
        self.verdict == Verdict::Different && (low > matters || high < matters.recip())
    }

    fn without_interval(&self) -> Direction {
        match self.verdict {
            Verdict::NoDifference { .. } => Direction::Alike,
            _ => Direction::Unclear,
        }
    }
}
