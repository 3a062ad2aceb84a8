//! Requests of the guarded program and replies of its guardian: one line of JSON each.

use crate::restore::Report;
use crate::settings::{Change, Difference, Error, Setting};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A request of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// The first request.
    Start {
        store: PathBuf,
        command: Vec<String>,
        parent: u32,
        deadline_s: Option<f64>,
    },
    /// Lock and read these settings, and write their values to the journal.
    Record(Vec<Setting>),
    /// Run this command when everything else is restored.
    Remember(String),
    /// Make this change.
    Change(Setting),
    /// Look whether this change is still in force.
    Holds(Change),
    /// Restore everything; further requests follow.
    Restore,
    /// Restore everything, and end.
    Finish,
    /// Leave everything as it is for a later `undo`, and end.
    Keep,
    /// Set another deadline from now, or none.
    Deadline(Option<f64>),
}

/// A reply of the guardian, one for each request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The guardian is ready, with a journal of this name.
    Ready(String),
    /// The request was carried out.
    Done,
    /// The outcome of a change.
    Changed(Change),
    /// What of a change is not in force any more.
    Lost(Vec<Difference>),
    /// The result of restoring.
    Restored(Report),
    /// The request failed.
    Failed(Error),
}
