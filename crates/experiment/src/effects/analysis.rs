//! The analysis of all runs.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judge::Judge;
use super::measured::Blocks;
use super::{AnalysisError, CellTable, Effect, Measured, Metric, Rules};
use crate::design::Design;
use crate::statistics::outliers;

/// What an experiment has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// Whole blocks, which the effects are made from.
    pub blocks: usize,
    /// Runs made, failed ones among them; warm-ups are not.
    pub runs: usize,
    /// What was asked of verdicts.
    pub rules: Rules,
    /// Main effects, then interactions, for each metric.
    pub effects: Vec<Effect>,
    /// What each combination of levels gave.
    pub cells: CellTable,
    /// Runs far from the others of their cell. They are used like all others.
    pub outliers: Vec<Outlier>,
}

/// A run whose figure is far from its cell's median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// Its index in the list of runs.
    pub run: usize,
    /// The metric.
    pub metric: String,
    /// The figure.
    pub figure: f64,
    /// The median of its cell.
    pub median: f64,
}

pub(super) fn made(runs: &[Measured]) -> usize {
    runs.iter().filter(|run| run.block.is_some()).count()
}

pub(super) fn check(metrics: &[Metric], rules: &Rules) -> Result<(), AnalysisError> {
    let names: BTreeSet<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    if names.is_empty() || names.len() != metrics.len() {
        return Err(AnalysisError::Metrics);
    }
    rules.check()
}

pub(super) fn judged(
    design: &Design,
    rules: &Rules,
    blocks: &Blocks<'_>,
    metrics: &[Metric],
    runs: &[Measured],
) -> Vec<Effect> {
    let runs = made(runs);
    metrics
        .iter()
        .flat_map(|metric| {
            Judge {
                design,
                rules,
                blocks,
                metric,
                runs,
            }
            .effects()
        })
        .collect()
}

impl Analysis {
    /// Judges all runs made so far, in the order they were made. Deterministic: resamples are drawn
    /// from the plan's seed.
    ///
    /// # Errors
    ///
    /// If rules or metrics are out of range, or a run is not of the design or there twice.
    pub fn of(
        design: &Design,
        metrics: &[Metric],
        runs: &[Measured],
        rules: &Rules,
    ) -> Result<Self, AnalysisError> {
        check(metrics, rules)?;
        let blocks = Blocks::of(design, runs)?;
        Ok(Self {
            blocks: blocks.count(),
            runs: made(runs),
            rules: *rules,
            effects: judged(design, rules, &blocks, metrics, runs),
            outliers: metrics
                .iter()
                .flat_map(|metric| far(design, metric, runs))
                .collect(),
            cells: CellTable::of(design, metrics, runs),
        })
    }
}

/// The outliers of one metric, cell by cell.
fn far(design: &Design, metric: &Metric, runs: &[Measured]) -> Vec<Outlier> {
    let cells = (0..design.cells()).flat_map(|cell| far_in_cell(cell, metric, runs));
    let mut far: Vec<Outlier> = cells.collect();
    far.sort_by_key(|outlier| outlier.run);
    far
}

fn far_in_cell(cell: usize, metric: &Metric, runs: &[Measured]) -> Vec<Outlier> {
    let here = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.block.is_some() && run.cell == cell);
    let here: Vec<(usize, f64)> = here
        .filter_map(|(index, run)| Some((index, run.figure(&metric.name)?)))
        .collect();
    let figures: Vec<f64> = here.iter().map(|(_, figure)| *figure).collect();
    let Some(summary) = crate::statistics::Summary::of(&figures, 0) else {
        return Vec::new();
    };
    let outlier = |(run, figure)| Outlier {
        run,
        metric: metric.name.clone(),
        figure,
        median: summary.median,
    };
    outliers(&figures)
        .into_iter()
        .filter_map(|index| here.get(index).copied())
        .map(outlier)
        .collect()
}
