//! What was taken back.

use std::io::{self, Write};

use coalescope_experiment::journal::{Journal, State};
use coalescope_experiment::restore::{Fate, Undone};
use coalescope_experiment::settings::Error;
use serde::Serialize;

use crate::json;
use crate::text::{self, TextOptions};

/// What `coalescope undo` has to say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UndoReport {
    pub(crate) journals: Vec<Told>,
}

/// What became of one journal.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Told {
    /// It was undone, or not.
    Undone(Undone),
    /// It is there.
    Listed(Listed),
    /// It was removed.
    Forgotten { journal: String, fate: &'static str },
}

/// A journal that is there.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) journal: String,
    pub(crate) command: String,
    pub(crate) begun_unix_s: u64,
    pub(crate) state: Option<State>,
    pub(crate) changes: Vec<String>,
    pub(crate) problem: Option<String>,
}

impl UndoReport {
    /// Adds a journal that was undone, or not.
    pub fn add(&mut self, undone: Undone) {
        self.journals.push(Told::Undone(undone));
    }

    /// Adds a journal that is there.
    pub fn list(&mut self, id: &str, journal: Result<Journal, Error>) {
        let listed = match journal {
            Ok(journal) => Listed {
                journal: id.to_owned(),
                command: journal.command_line(),
                begun_unix_s: journal.begun_unix_s,
                state: Some(journal.state),
                changes: journal.changes(),
                problem: None,
            },
            Err(error) => Listed {
                journal: id.to_owned(),
                command: String::new(),
                begun_unix_s: 0,
                state: None,
                changes: Vec::new(),
                problem: Some(error.to_string()),
            },
        };
        self.journals.push(Told::Listed(listed));
    }

    /// Adds a journal that was removed.
    pub fn forgotten(&mut self, id: &str) {
        self.journals.push(Told::Forgotten {
            journal: id.to_owned(),
            fate: "forgotten",
        });
    }

    /// Whether something is left to be done by hand.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.journals
            .iter()
            .any(|told| matches!(told, Told::Undone(undone) if undone.fate.is_failure()))
    }

    /// Prints one JSON document, `coalescope/undo/1`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::document("coalescope/undo/1", self, out)
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_undo(self, out, options)
    }
}

/// What became of it, in words.
pub(crate) fn words(fate: &Fate) -> String {
    match fate {
        Fate::Restored { .. } => "restored: all is as it was".to_owned(),
        Fate::Reset => "nothing to do: the machine has started anew since".to_owned(),
        Fate::Running { holder } => {
            format!("still running ({holder}): it restores when it ends")
        }
        Fate::Failed { .. } => "NOT restored, the journal stays".to_owned(),
        Fate::Unusable { problem } => format!("NOT restored: {problem}"),
    }
}
