//! The report for people: verdict, findings, hops, connections, notes.

mod ab;
mod check;
mod comparison;
mod connections;
mod diagnose;
mod drift;
mod findings;
#[cfg(target_os = "linux")]
mod fix;
mod grid;
mod hops;
mod hosts;
mod lab;
mod listing;
mod notes;
pub(crate) mod options;
mod page;
mod replay;
mod strip;
#[cfg(target_os = "linux")]
mod undo;
mod watch;
mod wire;
mod wrap;

use std::io::{self, Write};

use coalescope_knowledge::{Merging, Verdict};

use crate::Report;
use crate::document::Document;
use crate::words::units::counted;
pub(crate) use ab::write as write_ab;
pub(crate) use check::write as write_check;
pub(crate) use diagnose::write as write_diagnose;
#[cfg(target_os = "linux")]
pub(crate) use fix::write as write_fix;
pub(crate) use lab::write as write_lab;
pub use listing::listing;
pub(crate) use notes::warnings;
pub use options::{TextOptions, WIDTH};
use page::{Page, Tone};
pub(crate) use replay::write as write_replay;
#[cfg(target_os = "linux")]
pub(crate) use undo::write as write_undo;
pub(crate) use watch::{not_seen, write as write_watch};
pub(crate) use wire::write as write_wire;
pub use wrap::{glued, unglued, wrapped};

/// Most warnings before the result: more would push it off the screen.
const WARNINGS: usize = 5;

pub(crate) fn write(report: &Report, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
    let mut page = Page::new(options);
    warn(&mut page, &report.warnings());
    show_trace(&mut page, report, options);
    notes(&mut page, &report.warnings());
    finish(&page, out)
}

/// Prints warnings before the result, which rests on the rest of the input.
fn warn(page: &mut Page, warnings: &[String]) {
    if page.is_brief() {
        return;
    }
    for warning in warnings.iter().take(WARNINGS) {
        page.paragraph("warning: ", "  ", warning, Tone::Warning);
    }
    if warnings.len() > WARNINGS {
        let more = counted((warnings.len() - WARNINGS) as u64, "more warning");
        page.paragraph(
            "",
            "  ",
            &format!("{more}: see Notes, at the end"),
            Tone::Warning,
        );
    }
    if !warnings.is_empty() {
        page.gap();
    }
}

/// Prints the warnings that did not fit before the result.
fn notes(page: &mut Page, warnings: &[String]) {
    let rest = warnings.get(WARNINGS..).unwrap_or_default();
    if rest.is_empty() || page.is_brief() {
        return;
    }
    page.heading("Notes");
    for warning in rest {
        page.paragraph("  - ", "    ", warning, Tone::Plain);
    }
}

fn finish(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn show_trace(page: &mut Page, report: &Report, options: &TextOptions) {
    verdict(page, &report.diagnosis.verdict, report.has_findings());
    if page.is_brief() {
        return;
    }
    if let Some(comparison) = &report.comparison {
        comparison::show(page, comparison);
    }
    findings::show(page, &report.diagnosis.findings);
    hops::show(page, &report.trace.hops, &report.diagnosis.findings);
    hops::show_datagrams(
        page,
        &report.trace.datagram_hops,
        &report.diagnosis.findings,
    );
    connections::show(page, report, options.connections);
}

fn verdict(page: &mut Page, verdict: &Verdict, has_findings: bool) {
    let tone = match verdict.merging {
        Merging::Harms => Tone::Bad,
        _ if has_findings => Tone::Plain,
        _ => Tone::Good,
    };
    page.paragraph("", "", &verdict.text, tone);
}
