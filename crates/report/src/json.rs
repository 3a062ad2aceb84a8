//! The report of a trace as JSON: `coalescope/trace/1`.

use std::io::{self, Write};

use coalescope_capture::facts::{DatagramHop, Hop, Point};
use coalescope_knowledge::rules::{Meaning, meaning};
use coalescope_knowledge::{Comparison, ConnectionLimit, Finding, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Report, document};

/// What `coalescope trace` prints of captures.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Trace")]
pub(crate) struct Body<'a> {
    /// The whole in one sentence or a few.
    verdict: &'a Verdict,
    /// Points in path order.
    points: &'a [Point],
    /// Hops between neighbouring points, in the direction in which data went.
    hops: &'a [Hop],
    /// The same of UDP datagrams; left out where none was found at two points.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    datagram_hops: &'a [DatagramHop],
    /// Findings, the gravest first.
    findings: Vec<WithMeaning<'a>>,
    /// What limits each connection that tells, at the point that shows it best.
    limits: &'a [ConnectionLimit],
    /// Two transfers side by side (`--compare`).
    comparison: Option<&'a Comparison>,
}

/// A finding with what it means.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
struct WithMeaning<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    #[serde(flatten)]
    meaning: Option<&'static Meaning>,
}

impl<'a> WithMeaning<'a> {
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
            datagram_hops: &report.trace.datagram_hops,
            findings: report
                .diagnosis
                .findings
                .iter()
                .map(WithMeaning::of)
                .collect(),
            limits: &report.diagnosis.limits,
            comparison: report.comparison.as_ref(),
        }
    }
}

/// Name and version of the document.
pub(crate) const SCHEMA: &str = "coalescope/trace/1";

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    document::write(SCHEMA, &Body::of(report), out)
}

pub(crate) fn write_compact(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    document::write_compact(SCHEMA, &Body::of(report), out)
}
