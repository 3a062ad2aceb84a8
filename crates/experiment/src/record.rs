//! The record of an experiment, `coalescope/ab/1`: the request, each run, and the effects.
//!
//! The record is written after each run, so that the experiment can be resumed. It has all
//! measurements: whoever doubts a verdict can analyse them again.

mod asked;
mod conclude;
mod counters;
#[cfg(target_os = "linux")]
mod ended;
mod run;

pub use asked::{Asked, NamedCommand, Vary};
pub use counters::Counter;
pub use run::{ChangeNote, Ending, OutcomeNote, Run};

use crate::design::{Design, DesignError, Factor, Plan, Planned};
use crate::effects::{CellTable, Effect, Metric, Outlier};
use coalescope_host::model::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the record.
pub const SCHEMA: &str = "coalescope/ab/1";

/// An experiment: what was asked, what was done, what it showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// What it showed, in words.
    pub verdict: String,
    /// All settings are as they were before; also when none was changed.
    pub restored: bool,
    /// What could not be restored, each with the command that would.
    pub unrestored: Vec<String>,
    /// Why it ended.
    pub ended: Ending,
    /// What ended it before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The host that it was run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When it was begun, in seconds since 1970.
    pub begun_unix_s: u64,
    /// What was asked for.
    pub asked: Asked,
    /// What is varied, with its levels; the first is the one that others are compared with.
    pub factors: Vec<Factor>,
    /// The figures that are judged, the first foremost.
    pub metrics: Vec<Metric>,
    /// Each run, in the order made.
    pub runs: Vec<Run>,
    /// Whole blocks: each has every combination of levels once.
    pub blocks: usize,
    /// Main effects, then interactions, for each metric.
    pub effects: Vec<Effect>,
    /// What each combination of levels gave.
    pub cells: Option<CellTable>,
    /// Runs far from the others of their combination.
    pub outliers: Vec<Outlier>,
    /// What was worth saying on the way: links that went down, levels that cascade.
    pub notes: Vec<String>,
    /// The host before the first change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Snapshot>,
    /// The host after everything was restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Snapshot>,
}

impl Record {
    /// A record before the first run.
    #[must_use]
    pub fn new(asked: Asked, begun_unix_s: u64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            verdict: "no run was made".to_owned(),
            restored: true,
            unrestored: Vec::new(),
            ended: Ending::Running,
            error: None,
            host: None,
            begun_unix_s,
            factors: asked.factors.iter().map(Vary::factor).collect(),
            asked,
            metrics: Vec::new(),
            runs: Vec::new(),
            blocks: 0,
            effects: Vec::new(),
            cells: None,
            outliers: Vec::new(),
            notes: Vec::new(),
            before: None,
            after: None,
        }
    }

    /// The plan of the request.
    ///
    /// # Errors
    ///
    /// If the plan is refused.
    pub fn design(&self) -> Result<Design, DesignError> {
        Design::new(Plan {
            factors: self.factors.clone(),
            max_runs: self.asked.max_runs,
            seed: self.asked.seed,
        })
    }

    /// The made runs, as entries of the schedule.
    #[must_use]
    pub fn planned(&self) -> Vec<Planned> {
        let planned = |run: &Run| Planned {
            block: run.block,
            cell: run.cell,
        };
        self.runs.iter().map(planned).collect()
    }

    /// Adds a note, unless the record has it already.
    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}
