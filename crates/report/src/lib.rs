//! One report model, rendered for a terminal, as JSON, and as an HTML page.
//!
//! A [`Report`] has the facts and findings of a trace, a [`CheckReport`] those of hosts' settings,
//! a [`ReplayReport`] those of a replay. Each is a [`Document`]: JSON, text in the width of
//! [`TextOptions`], and mostly also rows and a self-contained page.

mod ab;
mod causes;
mod check;
mod diagnose;
pub mod document;
mod drawn;
mod exported;
#[cfg(target_os = "linux")]
mod fix;
mod fleet;
mod html;
mod json;
mod lab;
mod made;
mod metrics;
mod replay;
mod rows;
mod seen;
mod separated;
mod text;
#[cfg(target_os = "linux")]
mod undo;
mod watch;
mod wire;
mod words;

use std::io::{self, Write};

use coalescope_capture::facts::Trace;
use coalescope_capture::series::Series;
use coalescope_knowledge::{Comparison, Diagnosis};
use schemars::Schema;

pub use ab::AbReport;
pub use causes::with_causes;
pub use check::CheckReport;
pub use diagnose::DiagnoseReport;
pub use document::Document;
pub use drawn::{DRAWN_CONNECTIONS, drawn_frames};
pub use exported::{Exported, Form};
#[cfg(target_os = "linux")]
pub use fix::{FixReport, Fixed, Meanwhile, Shown, Verified};
pub use lab::{LabIncident, LabReport, Skipped};
pub use made::{Is, Made, Source};
pub use replay::ReplayReport;
pub use text::{TextOptions, WIDTH, glued, listing, unglued, wrapped};
#[cfg(target_os = "linux")]
pub use undo::UndoReport;
pub use watch::WatchReport;
pub use wire::{WireForward, WireReport, WireWay};
pub use words::units::figure;

/// The report of `coalescope trace`.
#[derive(Clone, Debug)]
pub struct Report {
    trace: Trace,
    diagnosis: Diagnosis,
    comparison: Option<Comparison>,
    /// Set if a page is wanted: the frames to draw, or why there are none.
    series: Option<Result<Vec<Series>, String>>,
}

impl Report {
    /// A report of the facts of a trace and their diagnosis.
    #[must_use]
    pub fn new(trace: Trace, diagnosis: Diagnosis) -> Self {
        Self {
            trace,
            diagnosis,
            comparison: None,
            series: None,
        }
    }

    /// Adds a comparison of two transfers.
    #[must_use]
    pub fn with_comparison(mut self, comparison: Comparison) -> Self {
        self.comparison = Some(comparison);
        self
    }

    /// Adds the frames of a few connections, which a page draws, or the reason why there are none,
    /// as part of a sentence.
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

    /// The diagnosis of the facts.
    #[must_use]
    pub fn diagnosis(&self) -> &Diagnosis {
        &self.diagnosis
    }

    fn series(&self) -> Option<Result<&[Series], &str>> {
        let series = self.series.as_ref()?;
        Some(series.as_deref().map_err(String::as_str))
    }

    /// Whether there is a fault of network or host: more than notes.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        let findings = &self.diagnosis.findings;
        findings.iter().any(|finding| !finding.note)
    }

    /// A summary of a simulated incident's captures in one line. `is_built`: the lab can build the incident live.
    #[must_use]
    pub fn story_of_demo(&self, name: &str, is_built: bool) -> String {
        words::demo::simulated(self, name, is_built)
    }
}

impl Document for Report {
    fn schema() -> Schema {
        document::schema::<json::Body<'static>>(json::SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        text::warnings(&self.trace)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    fn write_compact_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write_compact(self, out)
    }

    /// One row per connection at a point.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        rows::connections(self, out)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_trace(self, made, out)
    }
}
