//! The report for people: verdict, findings, hops, connections, notes.

mod ab;
mod check;
mod comparison;
mod connections;
mod diagnose;
mod findings;
#[cfg(target_os = "linux")]
mod fix;
mod hops;
mod lab;
mod notes;
mod page;
mod replay;
mod strip;
#[cfg(target_os = "linux")]
mod undo;
mod wire;

use std::io::{self, Write};

use coalescope_knowledge::{Merging, Verdict};

use crate::Report;
pub(crate) use ab::write as write_ab;
pub(crate) use check::write as write_check;
pub(crate) use diagnose::write as write_diagnose;
#[cfg(target_os = "linux")]
pub(crate) use fix::write as write_fix;
pub(crate) use lab::write as write_lab;
pub(crate) use notes::warnings;
use page::{Page, Tone};
pub(crate) use replay::write as write_replay;
#[cfg(target_os = "linux")]
pub(crate) use undo::write as write_undo;
pub(crate) use wire::write as write_wire;

/// Columns that a report takes at most.
pub const WIDTH: usize = 100;

/// What a report for people looks like.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Connections to list for each point; all if `None`.
    pub connections: Option<usize>,
    /// Whether to use colour.
    pub colour: bool,
}

pub(crate) fn write(report: &Report, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    show_trace(&mut page, report, options);
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn show_trace(page: &mut Page, report: &Report, options: &TextOptions) {
    verdict(page, &report.diagnosis.verdict, report.has_findings());
    if let Some(comparison) = &report.comparison {
        comparison::show(page, comparison);
    }
    findings::show(page, &report.diagnosis.findings);
    hops::show(page, &report.trace.hops, &report.diagnosis.findings);
    connections::show(page, report, options.connections);
    notes::show(page, &report.trace.points);
}

fn verdict(page: &mut Page, verdict: &Verdict, has_findings: bool) {
    let tone = match verdict.merging {
        Merging::Harms => Tone::Bad,
        _ if has_findings => Tone::Plain,
        _ => Tone::Good,
    };
    page.paragraph("", "", &verdict.text, tone);
}
