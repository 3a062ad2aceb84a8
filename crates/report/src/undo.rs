//! The report of `undo`.

use std::io::{self, Write};

use coalescope_change::journal::{Journal, State};
use coalescope_change::restore::Undone;
use coalescope_change::settings::Error;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document::{self, Document};
use crate::html;
use crate::made::Made;
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/undo/1";

/// What `coalescope undo` has to say.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UndoReport {
    /// Journals, and what became of each.
    pub(crate) journals: Vec<Entry>,
    /// Folders that may hold journals and could not be looked at, with why.
    pub(crate) unread: Vec<String>,
}

/// What became of one journal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ToldJournal")]
pub(crate) enum Entry {
    /// It was undone, or not.
    Undone(Undone),
    /// It is there.
    Listed(Listed),
    /// It was removed.
    Forgotten {
        /// Name of the journal.
        journal: String,
        /// `forgotten`.
        fate: &'static str,
    },
}

/// A journal that is there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// Name of the journal.
    pub(crate) journal: String,
    /// The command that it is of; empty if it cannot be read.
    pub(crate) command: String,
    /// When that began, in seconds since 1970; 0 if it cannot be read.
    pub(crate) begun_unix_s: u64,
    /// How far it got.
    pub(crate) state: Option<State>,
    /// What was asked for, and which files were written.
    pub(crate) changes: Vec<String>,
    /// Why it cannot be read.
    pub(crate) problem: Option<String>,
}

impl UndoReport {
    /// Adds a journal that was undone, or not.
    pub fn add(&mut self, undone: Undone) {
        self.journals.push(Entry::Undone(undone));
    }

    /// Adds a journal to the list.
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
        self.journals.push(Entry::Listed(listed));
    }

    /// Adds a journal that was removed.
    pub fn forgotten(&mut self, id: &str) {
        self.journals.push(Entry::Forgotten {
            journal: id.to_owned(),
            fate: "forgotten",
        });
    }

    /// Adds a folder that could not be read.
    pub fn unread(&mut self, error: &Error) {
        self.unread.push(error.to_string());
    }

    /// Whether no journal was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.journals.is_empty() && self.unread.is_empty()
    }

    /// Whether something is left to be done by hand.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let failed =
            |entry: &Entry| matches!(entry, Entry::Undone(undone) if undone.fate.is_failure());
        !self.unread.is_empty() || self.journals.iter().any(failed)
    }
}

impl Document for UndoReport {
    fn schema() -> Schema {
        document::schema::<Self>(SCHEMA)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        document::write(SCHEMA, self, out)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_undo(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_undo(self, made, out)
    }
}
