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
    /// A level that somebody else has changed: a run with it was of another level than it is said to be.
    #[error(
        "{setting} did not hold: {why}; something else sets it (whoever manages the interface, its driver, another \
         setting that is varied, or the command itself), so that runs would be compared that are alike"
    )]
    NotHeld {
        /// What was set.
        setting: String,
        /// As it is instead.
        why: String,
    },
    /// The deadline of the experiment.
    #[error(
        "the deadline ({seconds} s) is over: a run that was going on was ended, and does not count"
    )]
    Deadline {
        /// What was asked for.
        seconds: f64,
    },
    /// Two factors that change the same.
    #[error("{one} and {other} are one setting ({features}): vary it under one name")]
    OneSetting {
        /// One of them.
        one: String,
        /// The other one.
        other: String,
        /// What both change, by the kernel's names.
        features: String,
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
    /// Why nothing is claimed of the runs that were made: what has switched a setting back may have done so before.
    pub(super) fn doubt(&self) -> Option<String> {
        match self {
            Self::NotHeld { setting, .. } => Some(format!("{setting} did not hold")),
            _ => None,
        }
    }

    pub(super) fn keep(error: std::io::Error) -> Self {
        Self::Keep(error)
    }
}
