//! The report of the lab's incidents.

use std::io::{self, Write};
use std::path::PathBuf;

use coalescope_incident::{Kind, LabAgreement, LabControl, LabRow, Published};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::document::{self, Document};
use crate::html;
use crate::made::Made;
use crate::separated;
use crate::text::{self, TextOptions};
use crate::words;

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/lab/1";

/// What is printed of an incident as comma-separated values.
const COLUMNS: [&str; 23] = [
    "name",
    "title",
    "kind",
    "kernel",
    "published.slow_bps",
    "published.fast_bps",
    "published.ratio",
    "published.effective_window_segments",
    "slow_bps",
    "fast_bps",
    "ratio",
    "effective_window_segments",
    "undone_bps",
    "suspected",
    "observed",
    "proven",
    "fixed",
    "undone",
    "accused",
    "problems",
    "took_s",
    "why",
    "watched",
];

/// What `coalescope lab run` has to say.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LabReport {
    /// The incidents, in the order in which they were run.
    pub incidents: Vec<LabIncident>,
    /// Those that could not be run here, and why.
    pub skipped: Vec<Skipped>,
    /// Those whose run broke off, and why.
    #[serde(default)]
    pub failed: Vec<Skipped>,
}

/// An incident, from the first measurement to the last.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabIncident {
    /// Its name.
    pub name: String,
    /// In one line.
    pub title: String,
    /// Whether merging is to blame, helps, or is innocent.
    pub kind: Kind,
    /// The kernel that it was run on; `virtual clock` if simulated.
    pub kernel: String,
    /// What the operators measured.
    pub published: Published,
    /// Bits per second as it was.
    pub slow_bps: f64,
    /// Bits per second with the remedy.
    pub fast_bps: f64,
    /// How many times faster.
    pub ratio: f64,
    /// Segments a round trip, as it was.
    pub effective_window_segments: f64,
    /// Bits per second after the remedy was taken back; none if that was not tried.
    pub undone_bps: Option<f64>,
    /// `check` suspected merging, or what merges.
    pub suspected: bool,
    /// `watch` alone, without a capture, saw what the file says that it must see, or merging do harm where the file says
    /// nothing; none if the kernel did not count frames one by one.
    #[serde(default)]
    pub watched: Option<bool>,
    /// `trace` saw merged frames lost.
    pub observed: bool,
    /// `ab` proved it.
    pub proven: bool,
    /// `fix` made it fast.
    pub fixed: bool,
    /// `undo` made it as it was.
    pub undone: bool,
    /// Ids of findings that blame merging, by whichever command.
    pub accused: Vec<String>,
    /// Other measurements.
    pub controls: Vec<LabControl>,
    /// Measurements beside published ones; empty if the file has none, or it was simulated.
    pub table: Vec<LabRow>,
    /// What a change of one level does in the table, published and here.
    pub agreement: Vec<LabAgreement>,
    /// What is not as the file says it must be; empty if all is.
    pub problems: Vec<String>,
    /// Captures that were kept.
    pub captures: Vec<PathBuf>,
    /// How long all of it took, in seconds.
    pub took_s: f64,
}

/// A row of comma-separated values.
#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Run(&'a LabIncident),
    Skipped(&'a Skipped),
}

/// An incident that could not be run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

impl LabIncident {
    /// A summary of a live run in one line. `remedy` is the setting that made the difference, such as `GRO off`.
    #[must_use]
    pub fn story(&self, remedy: &str) -> String {
        words::demo::live(self, remedy)
    }
}

impl LabReport {
    /// Whether at least one incident was run, and all came out as their files expect.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let mut incidents = self.incidents.iter();
        let is_whole = !self.ran_nothing() && self.failed.is_empty();
        is_whole && incidents.all(|incident| incident.problems.is_empty())
    }

    /// Whether this machine could run none of the incidents.
    #[must_use]
    pub fn ran_nothing(&self) -> bool {
        self.incidents.is_empty() && self.failed.is_empty() && !self.skipped.is_empty()
    }

    /// Why incidents were skipped, each reason once.
    #[must_use]
    pub fn lacking(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for skipped in &self.skipped {
            if !reasons.contains(&skipped.why.as_str()) {
                reasons.push(&skipped.why);
            }
        }
        reasons
    }
}

impl Document for LabReport {
    fn schema() -> Schema {
        document::schema::<Self>(SCHEMA)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        document::write(SCHEMA, self, out)
    }

    /// One row per incident.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let run = self.incidents.iter().map(Row::Run);
        let others = self.skipped.iter().chain(&self.failed);
        let rows = run.chain(others.map(Row::Skipped));
        separated::write_fields(out, &COLUMNS, rows)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_lab(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_lab(self, made, out)
    }
}
