//! What the incidents of the lab came to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use coalescope_incident::{Kind, Published, PublishedRow};
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

/// Another measurement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabControl {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Bits per second.
    pub bps: f64,
    /// Segments a round trip.
    pub effective_window_segments: f64,
    /// How long the workload took, in seconds; none if it was simulated.
    pub took_s: Option<f64>,
    /// Frames with data at the first point, as captured there; none where the file does not ask.
    pub data_frames: Option<u64>,
}

/// A row of an incident's table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabRow {
    /// What is different, by the names of the columns.
    pub levels: BTreeMap<String, String>,
    /// Bits per second.
    pub bps: f64,
    /// CPU time in microseconds for 1024 bytes that the sender's interface carried. Both ends are on one
    /// machine, whose time it is.
    pub sender_us_per_kb: Option<f64>,
    /// The same for the receiver's interface.
    pub receiver_us_per_kb: Option<f64>,
    /// Segments, nearly all of them ACKs, that the receiver sent for each segment of data that was sent.
    pub acks_per_segment: Option<f64>,
    /// Segments that the sender sent for each frame that arrived at the receiver's IP.
    pub merge_factor: Option<f64>,
    /// Segments that the sender sent again.
    pub retransmitted_segments: Option<f64>,
    /// What the operators measured.
    pub published: Option<PublishedRow>,
}

/// What a change of one level does to a figure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabAgreement {
    /// The change, and the levels that stay: `GRO off to on (MTU 1500)`.
    pub change: String,
    /// `throughput` or `service demand`.
    pub figure: String,
    /// How many times as much it is afterwards, as published.
    pub published_ratio: f64,
    /// The same here.
    pub measured_ratio: f64,
    /// Both grow, both shrink, or both stay within 10%.
    pub agrees: bool,
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
    /// What a live run comes to, in a line for people. `remedy`: what made the difference, such as
    /// `GRO off`.
    #[must_use]
    pub fn story(&self, remedy: &str) -> String {
        words::demo::live(self, remedy)
    }
}

impl LabReport {
    /// Whether everything that was run came out as its file says, and anything was run.
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

    /// A row is an incident.
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
