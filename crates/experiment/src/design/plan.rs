//! The plan of an experiment, checked.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Chance, Factor};

/// More cells than this are refused: at one second a run a single block would take over four minutes.
pub(crate) const MOST_CELLS: usize = 256;

/// The use of the seed for the order of runs.
const ORDER: u64 = 1;

/// What was asked for. Kept with the results, it gives the same order again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The factors; the full factorial of their levels is run.
    pub factors: Vec<Factor>,
    /// At most this many runs, the warm-up not counted (as in hyperfine). Only whole blocks are
    /// run, so it can be fewer. To be chosen before the first run and not raised afterwards: the
    /// looks at the results share the error between them by it (`statistics::Looks`).
    pub max_runs: usize,
    /// Decides the order of runs, and the resamples of the permutation test.
    pub seed: u64,
}

/// Why a plan is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// Nothing is varied.
    #[error("no factor: there is nothing to compare")]
    NoFactor,
    /// A factor with fewer than two levels.
    #[error("factor {0} has fewer than two levels: there is nothing to compare")]
    OneLevel(String),
    /// Two factors of one name.
    #[error("factor {0} is named twice")]
    FactorTwice(String),
    /// A factor with the same level twice.
    #[error("factor {0} has level {1} twice")]
    LevelTwice(String, String),
    /// Too large a factorial.
    #[error("the factors make more than {MOST_CELLS} combinations of levels")]
    TooManyCells,
    /// Not even one block.
    #[error(
        "a block takes {cells} runs, one for each combination of levels, and --max-runs is {max_runs}"
    )]
    TooFewRuns {
        /// Combinations of levels.
        cells: usize,
        /// What was allowed.
        max_runs: usize,
    },
}

/// A checked plan and its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    plan: Plan,
    cells: usize,
}

impl Design {
    /// Checks a plan.
    ///
    /// # Errors
    ///
    /// Without factors, with names or levels twice, with fewer than two levels, with more than
    /// 256 cells, or when `max_runs` is not enough for one block.
    pub fn new(plan: Plan) -> Result<Self, DesignError> {
        check_names(&plan.factors)?;
        let cells = plan.factors.iter().try_fold(1_usize, |cells, factor| {
            cells
                .checked_mul(factor.levels.len())
                .filter(|&cells| cells <= MOST_CELLS)
        });
        let cells = cells.ok_or(DesignError::TooManyCells)?;
        if plan.max_runs < cells {
            return Err(DesignError::TooFewRuns {
                cells,
                max_runs: plan.max_runs,
            });
        }
        Ok(Self { plan, cells })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The factors.
    #[must_use]
    pub fn factors(&self) -> &[Factor] {
        &self.plan.factors
    }

    /// How many cells there are: combinations of levels, numbered from 0.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// How many whole blocks fit into `max_runs`, at least 1.
    #[must_use]
    pub fn max_blocks(&self) -> usize {
        self.plan.max_runs / self.cells
    }

    /// The level of each factor in a cell, as indices into its levels. Cell 0 has every reference
    /// level; the last factor's level changes fastest.
    #[must_use]
    pub(crate) fn levels_of(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut levels: Vec<usize> = self
            .factors()
            .iter()
            .rev()
            .map(|factor| {
                let level = rest % factor.levels.len();
                rest /= factor.levels.len();
                level
            })
            .collect();
        levels.reverse();
        levels
    }

    /// The names of a cell's levels.
    #[must_use]
    pub fn level_names(&self, cell: usize) -> Vec<&str> {
        let levels = self.levels_of(cell).into_iter();
        self.factors()
            .iter()
            .zip(levels)
            .map(|(factor, level)| factor.levels[level].as_str())
            .collect()
    }

    /// The order of the cells in block `block` (from 0).
    #[must_use]
    pub fn order(&self, block: usize) -> Vec<usize> {
        let mut cells: Vec<usize> = (0..self.cells).collect();
        let number = u64::try_from(block).unwrap_or(u64::MAX);
        Chance::new(self.plan.seed, ORDER, number).shuffle(&mut cells);
        cells
    }
}

fn check_names(factors: &[Factor]) -> Result<(), DesignError> {
    if factors.is_empty() {
        return Err(DesignError::NoFactor);
    }
    let mut names = BTreeSet::new();
    for factor in factors {
        if !names.insert(&factor.name) {
            return Err(DesignError::FactorTwice(factor.name.clone()));
        }
        check_levels(factor)?;
    }
    Ok(())
}

fn check_levels(factor: &Factor) -> Result<(), DesignError> {
    let mut levels = BTreeSet::new();
    if let Some(level) = factor.levels.iter().find(|level| !levels.insert(*level)) {
        return Err(DesignError::LevelTwice(factor.name.clone(), level.clone()));
    }
    if levels.len() < 2 {
        return Err(DesignError::OneLevel(factor.name.clone()));
    }
    Ok(())
}
