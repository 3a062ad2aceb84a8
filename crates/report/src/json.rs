//! The report as `coalescope/trace/1`.

use std::io::{self, BufWriter, Write};

use coalescope_capture::facts::{Hop, Point};
use coalescope_knowledge::{Comparison, ConnectionLimit, Finding, Verdict};
use serde::Serialize;

use crate::Report;

/// The whole document; its fields are printed in this order.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    verdict: &'a Verdict,
    points: &'a [Point],
    hops: &'a [Hop],
    findings: &'a [Finding],
    limits: &'a [ConnectionLimit],
    comparison: Option<&'a Comparison>,
}

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Report {
        trace,
        diagnosis,
        comparison,
    } = report;
    let document = Document {
        schema: "coalescope/trace/1",
        verdict: &diagnosis.verdict,
        points: &trace.points,
        hops: &trace.hops,
        findings: &diagnosis.findings,
        limits: &diagnosis.limits,
        comparison: comparison.as_ref(),
    };
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}
