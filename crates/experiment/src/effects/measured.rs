//! The input of the analysis: metrics and runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rules;
use crate::design::Design;

/// A figure that runs give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Its name, as in the runs' figures.
    pub name: String,
    /// Its unit, as printed after a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What more of it means.
    #[serde(default)]
    pub sense: Sense,
}

/// What more of a metric means; it decides the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// Nothing by itself: "higher" and "lower".
    #[default]
    Plain,
    /// A speed such as throughput: more is faster.
    Speed,
    /// A time: less is faster.
    Time,
}

/// One run that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Its block, from 0; none for a warm-up, which is passed over.
    pub block: Option<usize>,
    /// Its cell.
    pub cell: usize,
    /// The figures by metric. One that is absent or not finite is missing, never zero; a failed run
    /// has none.
    pub figures: BTreeMap<String, f64>,
}

/// Why runs cannot be judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// Rules out of range.
    #[error(
        "alpha must be above 0 and at most 0.5, the margin above 0, resamples from 999 to 1,000,000: {0:?}"
    )]
    Rules(Rules),
    /// No metric, or one twice.
    #[error("there must be a metric, and none twice")]
    Metrics,
    /// A run of no cell or block of the design.
    #[error("run {0} is of a block or combination of levels that the plan does not have")]
    Unplanned(usize),
    /// A cell twice in a block.
    #[error("run {0} repeats a combination of levels of its block")]
    Twice(usize),
}

/// The figures of the blocks that are whole: block, then cell.
pub(super) struct Blocks<'a>(Vec<Vec<&'a Measured>>);

impl<'a> Blocks<'a> {
    /// Sorts runs into blocks; incomplete blocks are left out.
    pub(super) fn of(design: &Design, runs: &'a [Measured]) -> Result<Self, AnalysisError> {
        let mut blocks: BTreeMap<usize, Vec<Option<&Measured>>> = BTreeMap::new();
        for (index, run) in runs.iter().enumerate() {
            let Some(block) = run.block else { continue };
            if block >= design.max_blocks() || run.cell >= design.cells() {
                return Err(AnalysisError::Unplanned(index));
            }
            let cells = blocks
                .entry(block)
                .or_insert_with(|| vec![None; design.cells()]);
            if cells[run.cell].replace(run).is_some() {
                return Err(AnalysisError::Twice(index));
            }
        }
        Ok(Self(
            blocks
                .into_values()
                .filter_map(|cells| cells.into_iter().collect())
                .collect(),
        ))
    }

    /// The number of complete blocks.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// A metric's figures: block, then cell.
    pub(super) fn figures(&self, metric: &str) -> Vec<Vec<Option<f64>>> {
        self.0
            .iter()
            .map(|runs| runs.iter().map(|run| run.figure(metric)).collect())
            .collect()
    }
}

impl Measured {
    /// A figure, if there is one.
    #[must_use]
    pub fn figure(&self, metric: &str) -> Option<f64> {
        self.figures
            .get(metric)
            .copied()
            .filter(|figure| figure.is_finite())
    }
}
