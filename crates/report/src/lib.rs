//! One report model, rendered for a terminal, as JSON, and as an HTML page.
//!
//! A [`Report`] holds the facts of a trace and what they mean. [`Report::write_json`] prints it as
//! `coalescope/trace/1`, [`Report::write_text`] for people, as wide as [`TextOptions`] says. A
//! [`ReplayReport`] does the same for a replay, a [`CheckReport`] for hosts' settings. Most of them
//! can be written as a page that stands by itself as well (`write_html`).

mod ab;
mod check;
mod diagnose;
pub mod document;
#[cfg(target_os = "linux")]
mod fix;
mod fleet;
mod html;
mod json;
mod lab;
mod made;
mod replay;
mod rows;
mod seen;
mod separated;
mod text;
#[cfg(target_os = "linux")]
mod undo;
mod wire;
mod words;

use std::io::{self, Write};

use coalescope_capture::facts::Trace;
use coalescope_capture::series::Series;
use coalescope_knowledge::{Comparison, Diagnosis};
use schemars::Schema;

pub use ab::AbReport;
pub use check::CheckReport;
pub use diagnose::DiagnoseReport;
#[cfg(target_os = "linux")]
pub use fix::{FixReport, Fixed, Shown, Verified};
pub use lab::{LabAgreement, LabControl, LabIncident, LabReport, LabRow, Skipped};
pub use made::{Is, Made, Source};
pub use replay::ReplayReport;
pub use text::{TextOptions, WIDTH, glued, listing, unglued, wrapped};
#[cfg(target_os = "linux")]
pub use undo::UndoReport;
pub use wire::{WireForward, WireReport, WireWay};
pub use words::units::figure;

/// What `coalescope trace` has to say.
#[derive(Clone, Debug)]
pub struct Report {
    trace: Trace,
    diagnosis: Diagnosis,
    comparison: Option<Comparison>,
    /// Set if a page is wanted: pictures, or why there are none.
    series: Option<Result<Vec<Series>, String>>,
}

impl Report {
    /// Takes the facts of a trace and what was made of them.
    #[must_use]
    pub fn new(trace: Trace, diagnosis: Diagnosis) -> Self {
        Self {
            trace,
            diagnosis,
            comparison: None,
            series: None,
        }
    }

    /// Adds two transfers side by side.
    #[must_use]
    pub fn with_comparison(mut self, comparison: Comparison) -> Self {
        self.comparison = Some(comparison);
        self
    }

    /// Adds the frames of a few connections, which a page draws, or why there are none: a part of
    /// a sentence.
    #[must_use]
    pub fn with_series(mut self, series: Result<Vec<Series>, String>) -> Self {
        self.series = Some(series);
        self
    }

    /// The facts.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// What was made of them.
    #[must_use]
    pub fn diagnosis(&self) -> &Diagnosis {
        &self.diagnosis
    }

    fn series(&self) -> Option<Result<&[Series], &str>> {
        let series = self.series.as_ref()?;
        Some(series.as_deref().map_err(String::as_str))
    }

    /// Whether anything was found that network or host does wrong: more than notes.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let findings = &self.diagnosis.findings;
        findings.iter().any(|finding| !finding.note)
    }

    /// What the captures of a simulated incident come to, in a line for people. `is_built`: the lab
    /// can build the incident live.
    #[must_use]
    pub fn story_of_demo(&self, name: &str, is_built: bool) -> String {
        words::demo::simulated(self, name, is_built)
    }

    /// What was left out or looked odd while reading, each with its point.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        text::warnings(&self.trace)
    }

    /// Prints one JSON document, indented.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// The same document in one line.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_compact_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write_compact(self, out)
    }

    /// The JSON Schema of that document.
    #[must_use]
    pub fn schema() -> Schema {
        document::schema::<json::Body<'static>>(json::SCHEMA)
    }

    /// Prints each connection at each point as a line of comma-separated values (RFC 4180), with a
    /// header.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        rows::connections(self, out)
    }

    /// Prints for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write(self, out, options)
    }

    /// Writes a page that stands by itself: HTML with its styles, scripts and pictures.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_trace(self, made, out)
    }
}
