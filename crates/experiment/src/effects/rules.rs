//! The rules of verdicts: error and margin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AnalysisError;

/// The error allowed and the difference that does not matter. To be chosen before the first run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    /// Probability of a wrong verdict among all effects of a metric, over all looks; above 0 and
    /// at most 0.5. Intervals have level `1 - alpha`.
    pub alpha: f64,
    /// A ratio between 1/(1 + margin) and 1 + margin does not matter: when the interval is within,
    /// the answer is "no difference larger than ..". A share (0.05 is 5%), above 0.
    pub margin: f64,
    /// Resamples where all choices of signs are more than that; 999 to 1,000,000. With 9,999 a p
    /// of 0.025 is known to within 0.003, and up to 13 blocks are exact.
    pub resamples: usize,
}

impl Default for Rules {
    /// 5%, 5% and 9,999.
    fn default() -> Self {
        Self {
            alpha: 0.05,
            margin: 0.05,
            resamples: 9_999,
        }
    }
}

impl Rules {
    pub(super) fn check(&self) -> Result<(), AnalysisError> {
        let alpha = self.alpha > 0.0 && self.alpha <= 0.5;
        let margin = self.margin > 0.0 && self.margin.is_finite();
        let resamples = (999..=1_000_000).contains(&self.resamples);
        if alpha && margin && resamples {
            Ok(())
        } else {
            Err(AnalysisError::Rules(*self))
        }
    }
}
