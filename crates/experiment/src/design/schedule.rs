//! The runs one after the other, from the start or after those already made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Design;

/// One run to make, or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// The block, from 0; none for a warm-up, whose figures are not used.
    pub block: Option<usize>,
    /// The cell: the combination of levels to be set.
    pub cell: usize,
}

/// Why a list of runs is not the beginning of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Another design, another seed, or a list that was changed.
    #[error(
        "run {number} (counted from 0, without warm-ups) is not what this plan runs there: other factors, another seed, or runs missing"
    )]
    OtherRun {
        /// Its number.
        number: usize,
    },
    /// More runs than the plan allows.
    #[error("{made} runs were made, and --max-runs allows {allowed} in whole blocks")]
    TooMany {
        /// How many were made.
        made: usize,
        /// How many are allowed.
        allowed: usize,
    },
}

/// An iterator over runs: a warm-up, then block after block, never more than `max_runs`. To stop
/// early, at the end of a block ([`Schedule::between_blocks`]), is up to the caller.
///
/// The same plan gives the same order, also after [`Schedule::resume`]: each block's order is drawn
/// from the seed and the block's number alone.
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    design: &'a Design,
    made: usize,
    warm: bool,
    order: Vec<usize>,
}

impl<'a> Schedule<'a> {
    /// A schedule from its beginning.
    #[must_use]
    pub fn new(design: &'a Design) -> Self {
        Self {
            design,
            made: 0,
            warm: false,
            order: design.order(0),
        }
    }

    /// A schedule after the runs already made. A failed run counts as made and is not repeated:
    /// otherwise levels that fail would get more attempts than others. Warm-ups in the list are
    /// skipped, and a new warm-up comes first: caches may be cold again. A block that was begun is
    /// finished; its random order keeps it fair, though it may be noisier.
    ///
    /// # Errors
    ///
    /// If the list is not the beginning of this schedule.
    pub fn resume(design: &'a Design, runs: &[Planned]) -> Result<Self, ScheduleError> {
        let mut schedule = Self {
            warm: true,
            ..Self::new(design)
        };
        for run in runs.iter().filter(|run| run.block.is_some()) {
            schedule.expect(*run, runs)?;
        }
        schedule.warm = false;
        Ok(schedule)
    }

    fn expect(&mut self, run: Planned, runs: &[Planned]) -> Result<(), ScheduleError> {
        let number = self.made;
        match self.next() {
            Some(planned) if planned == run => Ok(()),
            Some(_) => Err(ScheduleError::OtherRun { number }),
            None => Err(ScheduleError::TooMany {
                made: runs.iter().filter(|run| run.block.is_some()).count(),
                allowed: number,
            }),
        }
    }

    /// Number of runs returned so far, without warm-ups.
    #[must_use]
    pub fn made(&self) -> usize {
        self.made
    }

    /// How many runs there can be at most: whole blocks within `max_runs`.
    #[must_use]
    pub fn allowed(&self) -> usize {
        self.design.max_blocks() * self.design.cells()
    }

    /// Whether no block is begun: only then results may be looked at.
    #[must_use]
    pub fn between_blocks(&self) -> bool {
        self.made.is_multiple_of(self.design.cells())
    }

    fn next_of_block(&mut self) -> Planned {
        let (block, place) = (
            self.made / self.design.cells(),
            self.made % self.design.cells(),
        );
        if place == 0 {
            self.order = self.design.order(block);
        }
        self.made += 1;
        Planned {
            block: Some(block),
            cell: self.order[place],
        }
    }
}

impl Iterator for Schedule<'_> {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        if self.made >= self.allowed() {
            return None;
        }
        if !self.warm {
            // The reference cell, whose levels are the present values, so that no setting is
            // changed for the warm-up.
            self.warm = true;
            return Some(Planned {
                block: None,
                cell: 0,
            });
        }
        Some(self.next_of_block())
    }
}
