//! One run.

use crate::counters::Moved;
use crate::effects::Measured;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its block, from 0; none for a warm-up, whose figures are not used.
    pub block: Option<usize>,
    /// Its combination of levels, from 0.
    pub cell: usize,
    /// The level of each factor.
    pub levels: Vec<String>,
    /// When it began, in seconds after the experiment did.
    pub begun_s: f64,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// What went wrong with it; such a run has no figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its figures by metric.
    pub figures: BTreeMap<String, f64>,
    /// What came of the changes before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeNote>,
    /// What moved where the workload ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// What moved at the interface that is changed, if that is in another network namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface_moved: Option<Moved>,
    /// What moved at the other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_moved: Option<Moved>,
}

impl Run {
    /// The run as input of the analysis.
    #[must_use]
    pub fn measured(&self) -> Measured {
        Measured {
            block: self.block,
            cell: self.cell,
            figures: self.figures.clone(),
        }
    }
}

/// What came of one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeNote {
    /// What was asked for: `eth0:gro=off`.
    pub setting: String,
    /// What came of it, and what went with it.
    pub outcomes: Vec<OutcomeNote>,
}

/// One thing that came of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeNote {
    /// `changed`, `already`, `fixed`, `refused`, `ignored`, `cascaded` or `link_went_down`.
    pub outcome: String,
    /// In words.
    pub text: String,
}

/// Why an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It has not, or was killed.
    Running,
    /// The answer was clear.
    Clear,
    /// All runs that were allowed are made.
    Spent,
    /// It was told to end (Ctrl-C, SIGTERM).
    Interrupted,
    /// Something went wrong.
    Failed,
}
