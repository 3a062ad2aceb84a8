//! What the guarded program and its guardian say to each other: a line of JSON each.

use crate::restore::Report;
use crate::settings::{Change, Error, Setting};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// From the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// The first one.
    Start {
        store: PathBuf,
        command: Vec<String>,
        parent: u32,
        deadline_s: Option<f64>,
    },
    /// Lock and read these, and write down what they are.
    Record(Vec<Setting>),
    /// Run this command when everything is restored.
    Remember(String),
    /// Change this.
    Change(Setting),
    /// Restore everything, and go on.
    Restore,
    /// Restore everything, and end.
    Finish,
    /// Leave everything as it is for a later `undo`, and end.
    Keep,
    /// Another deadline from now, or none.
    Deadline(Option<f64>),
}

/// From the guardian, one for each request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// It guards, under this name of a journal.
    Ready(String),
    /// It was done.
    Done,
    /// A change was made, or was not.
    Changed(Change),
    /// What restoring came to.
    Restored(Report),
    /// It was not done.
    Failed(Error),
}
