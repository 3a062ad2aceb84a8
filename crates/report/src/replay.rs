//! What a replay has to say.

use std::io::{self, Write};

use coalescope_replay::facts::Replay;

use crate::html;
use crate::json;
use crate::text::{self, TextOptions};

/// What `coalescope replay` has to say.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    facts: Replay,
}

impl ReplayReport {
    /// Takes the facts of a replay.
    #[must_use]
    pub fn new(facts: Replay) -> Self {
        Self { facts }
    }

    /// What was left out or looked odd.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.facts.warnings
    }

    /// Prints one JSON document, `coalescope/replay/1`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::document("coalescope/replay/1", &self.facts, out)
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_replay(&self.facts, out, options)
    }

    /// Writes a page that stands by itself.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        html::write_replay(&self.facts, out)
    }
}
