//! Reports as JSON documents, and that of a trace: `coalescope/trace/1`.

use std::io::{self, BufWriter, Write};

use coalescope_capture::facts::{Hop, Point};
use coalescope_knowledge::rules::{Meaning, meaning};
use coalescope_knowledge::{Comparison, ConnectionLimit, Finding, Verdict};
use serde::Serialize;

use crate::Report;

/// A whole document; its fields are printed in this order.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Prints one document of a schema.
pub(crate) fn document<T: Serialize>(
    schema: &'static str,
    body: &T,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &Document { schema, body })?;
    out.write_all(b"\n")?;
    out.flush()
}

/// What `trace` and `diagnose` both print.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    verdict: &'a Verdict,
    points: &'a [Point],
    hops: &'a [Hop],
    findings: Vec<Told<'a>>,
    limits: &'a [ConnectionLimit],
    comparison: Option<&'a Comparison>,
}

/// A finding with what it means.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    #[serde(flatten)]
    meaning: Option<&'static Meaning>,
}

impl<'a> Told<'a> {
    fn of(finding: &'a Finding) -> Self {
        let meaning = meaning(finding.id);
        Self { finding, meaning }
    }
}

impl<'a> Body<'a> {
    pub(crate) fn of(report: &'a Report) -> Self {
        Self {
            verdict: &report.diagnosis.verdict,
            points: &report.trace.points,
            hops: &report.trace.hops,
            findings: report.diagnosis.findings.iter().map(Told::of).collect(),
            limits: &report.diagnosis.limits,
            comparison: report.comparison.as_ref(),
        }
    }
}

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    document("coalescope/trace/1", &Body::of(report), out)
}
