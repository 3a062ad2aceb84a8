//! Figures by combination of levels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Measured, Metric};
use crate::design::Design;
use crate::statistics::Summary;

/// A row for each cell, in the order of the factors' levels: story C's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellTable {
    /// The factors: the heads of the first columns.
    pub factors: Vec<String>,
    /// The metrics: the heads of the others.
    pub metrics: Vec<Metric>,
    /// The rows.
    pub cells: Vec<Cell>,
}

/// One combination of levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The level of each factor.
    pub levels: Vec<String>,
    /// Runs made, failed ones among them; warm-ups are not.
    pub runs: usize,
    /// Each metric's figures; absent for one without any.
    pub figures: BTreeMap<String, Summary>,
}

impl CellTable {
    /// From all runs but warm-ups, including those of an incomplete last block.
    pub(super) fn of(design: &Design, metrics: &[Metric], runs: &[Measured]) -> Self {
        Self {
            factors: design
                .factors()
                .iter()
                .map(|factor| factor.name.clone())
                .collect(),
            metrics: metrics.to_vec(),
            cells: (0..design.cells())
                .map(|cell| Cell::of(design, metrics, cell, runs))
                .collect(),
        }
    }
}

impl Cell {
    fn of(design: &Design, metrics: &[Metric], cell: usize, runs: &[Measured]) -> Self {
        let runs: Vec<&Measured> = runs
            .iter()
            .filter(|run| run.block.is_some() && run.cell == cell)
            .collect();
        let summaries = metrics.iter().filter_map(|metric| {
            let figures: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.figure(&metric.name))
                .collect();
            let summary = Summary::of(&figures, runs.len() - figures.len())?;
            Some((metric.name.clone(), summary))
        });
        Self {
            levels: design
                .level_names(cell)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            runs: runs.len(),
            figures: summaries.collect(),
        }
    }
}
