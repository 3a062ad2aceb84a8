//! The report of a replay.

use std::io::{self, Write};

use coalescope_replay::facts::Replay;
use schemars::Schema;

use crate::document::{self, Document};
use crate::html;
use crate::made::Made;
use crate::separated;
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/replay/1";

/// Columns of the CSV, from a direction's JSON.
const COLUMNS: [&str; 20] = [
    "id",
    "interface",
    "network",
    "protocol",
    "tunnel",
    "source.address",
    "source.port",
    "destination.address",
    "destination.port",
    "frames_in",
    "frames_out",
    "merged_frames",
    "merge_factor_mean",
    "merge_factor_max",
    "data_frames_in",
    "data_frames_out",
    "bytes_in",
    "acks_before",
    "acks_saved",
    "already_merged_frames",
];

/// The report of `coalescope replay`.
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
}

impl Document for ReplayReport {
    fn schema() -> Schema {
        document::schema::<Replay>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        self.facts.warnings.clone()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        document::write(SCHEMA, &self.facts, out)
    }

    /// One row per direction of a connection.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        separated::write_fields(out, &COLUMNS, &self.facts.connections)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_replay(&self.facts, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_replay(&self.facts, made, out)
    }
}
