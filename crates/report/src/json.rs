//! The report as `coalescope/trace/1`.

use std::io::{self, BufWriter, Write};

use coalescope_capture::facts::{Hop, Point};
use coalescope_knowledge::rules::{Meaning, meaning};
use coalescope_knowledge::{Comparison, ConnectionLimit, Finding, Verdict};
use serde::Serialize;

use crate::Report;

/// The whole document; its fields are printed in this order.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    body: Body<'a>,
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
    let document = Document {
        schema: "coalescope/trace/1",
        body: Body::of(report),
    };
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}
