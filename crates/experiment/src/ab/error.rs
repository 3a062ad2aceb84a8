//! Why an experiment cannot be begun, or ended before its time.

use crate::design::{DesignError, ScheduleError};
use crate::effects::AnalysisError;
use coalescope_change::settings;

/// Why an experiment cannot be begun, or ended before its time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The factors cannot be varied.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The runs are not of this experiment.
    #[error("this experiment cannot be gone on with: {0}")]
    Schedule(#[from] ScheduleError),
    /// The figures cannot be judged.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A setting failed.
    #[error(transparent)]
    Setting(#[from] settings::Error),
    /// The workload's vantage failed.
    #[error(transparent)]
    Workload(#[from] coalescope_change::workload::Error),
    /// The counters could not be read.
    #[error(transparent)]
    Counters(#[from] crate::counters::Error),
    /// The output of a run has no figure.
    #[error("{0}")]
    Figure(#[from] crate::figures::FigureError),
    /// There is nothing to compare.
    #[error(
        "{subject} is {value} already: there is nothing to compare; give both levels with --factor"
    )]
    NothingToCompare {
        /// The setting.
        subject: String,
        /// As it is.
        value: String,
    },
    /// A level that is not reached makes all runs worthless.
    #[error("{setting} did not take effect: {why}")]
    NoEffect {
        /// What was asked for.
        setting: String,
        /// What came of it.
        why: String,
    },
    /// A link stays down.
    #[error("{interface} has no carrier {seconds} s after {setting}")]
    LinkDown {
        /// The interface.
        interface: String,
        /// What was changed.
        setting: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A user's command for a level failed.
    #[error("`{command}`, which is to make level {level}, {why}")]
    Command {
        /// The level.
        level: String,
        /// The command.
        command: String,
        /// How it ended, with its last words.
        why: String,
    },
    /// A run failed.
    #[error("the command {why}; --ignore-failure goes on all the same")]
    Run {
        /// How it ended, with its last words.
        why: String,
    },
    /// The record cannot be written.
    #[error("the record cannot be kept: {0}")]
    Keep(std::io::Error),
}

impl Error {
    pub(super) fn keep(error: std::io::Error) -> Self {
        Self::Keep(error)
    }
}
