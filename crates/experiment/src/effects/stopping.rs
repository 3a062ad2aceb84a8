//! Whether an experiment has enough runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::analysis::{check, judged, made};
use super::measured::Blocks;
use super::{AnalysisError, Measured, Metric, Rules};
use crate::design::Design;
use crate::statistics::Looks;

/// Whether an experiment goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// There is more to run.
    GoOn,
    /// All effects on the first metric are clear.
    Clear,
    /// All runs that were allowed are made.
    Spent,
}

/// Decides whether to go on after these runs. Cheap between looks ([`Looks`]). At a look, the
/// answer is clear if each effect on the first metric is either different, or not different by more
/// than the margin.
///
/// # Errors
///
/// As [`Analysis::of`](super::Analysis::of).
pub fn decide(
    design: &Design,
    metrics: &[Metric],
    runs: &[Measured],
    rules: &Rules,
) -> Result<Decision, AnalysisError> {
    check(metrics, rules)?;
    let made = made(runs);
    if made / design.cells() >= design.max_blocks() {
        return Ok(Decision::Spent);
    }
    let looks = Looks::new(design.max_blocks(), design.contrasts().len(), rules.alpha);
    // Looks are only between blocks: once a block is begun, the one before it is no longer looked at.
    if !made.is_multiple_of(design.cells()) || !looks.is_due(made / design.cells()) {
        return Ok(Decision::GoOn);
    }
    let blocks = Blocks::of(design, runs)?;
    let effects = judged(design, rules, &blocks, &metrics[..1], runs);
    let clear = effects.iter().all(|effect| effect.verdict.is_clear());
    Ok(if clear {
        Decision::Clear
    } else {
        Decision::GoOn
    })
}
