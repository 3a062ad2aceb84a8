//! The report of a host's settings and captures together.

use std::io::{self, Write};

use coalescope_capture::facts::Trace;
use coalescope_capture::series::Series;
use coalescope_knowledge::Diagnosis;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::check::{Body, CheckReport};
use crate::document::{self, Document};
use crate::html;
use crate::json;
use crate::made::Made;
use crate::text::{self, TextOptions};
use crate::{Report, words};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/diagnose/1";

/// The report of `coalescope diagnose`.
#[derive(Clone, Debug)]
pub struct DiagnoseReport {
    pub(crate) check: CheckReport,
    pub(crate) trace: Option<Report>,
}

/// What `coalescope diagnose` prints.
#[derive(Serialize, JsonSchema)]
struct Whole<'a> {
    /// What settings and captures say together.
    verdict: String,
    #[serde(flatten)]
    body: Body<'a>,
    /// What the captures show; null without captures.
    trace: Option<json::Body<'a>>,
}

impl DiagnoseReport {
    /// A report of hosts' findings, joined with those of captures, if there are any.
    #[must_use]
    pub fn new(check: CheckReport, trace: Option<(Trace, Diagnosis)>) -> Self {
        let trace = trace.map(|(trace, diagnosis)| Report::new(trace, diagnosis));
        Self { check, trace }
    }

    /// Adds the frames of a few connections, see [`Report::with_series`].
    #[must_use]
    pub fn with_series(mut self, series: Result<Vec<Series>, String>) -> Self {
        self.trace = self.trace.map(|trace| trace.with_series(series));
        self
    }

    /// The trace of the captures, if there are any.
    #[must_use]
    pub fn traced(&self) -> Option<&Report> {
        self.trace.as_ref()
    }

    /// The verdict of settings and captures together.
    #[must_use]
    pub fn verdict(&self) -> String {
        words::diagnose::verdict(self)
    }

    /// Whether there is a fault.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.check.has_findings() || self.trace.as_ref().is_some_and(Report::has_findings)
    }

    /// Whether enough was read of the hosts for the absence of findings to count.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.check.is_decided()
    }
}

impl Document for DiagnoseReport {
    fn schema() -> Schema {
        document::schema::<Whole<'static>>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        let of_trace = self.trace.iter().flat_map(Report::warnings);
        self.check.warnings().into_iter().chain(of_trace).collect()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let roles = self.check.roles();
        let whole = Whole {
            verdict: self.verdict(),
            body: self.check.body(&roles),
            trace: self.trace.as_ref().map(json::Body::of),
        };
        document::write(SCHEMA, &whole, out)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_diagnose(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_diagnose(self, made, out)
    }
}
