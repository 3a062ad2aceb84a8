//! Hosts and captures together, for people.

use std::io::{self, Write};

use coalescope_knowledge::Merging;

use super::page::{Page, Tone};
use super::{TextOptions, check, finish, notes, warn};
use crate::diagnose::DiagnoseReport;
use crate::document::Document;
use crate::words::diagnose::verdict;

pub(crate) fn write(
    report: &DiagnoseReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    let warnings = report.warnings();
    warn(&mut page, &warnings);
    page.paragraph("", "", &verdict(report), tone(report));
    if page.is_brief() {
        return finish(&page, out);
    }
    check::show(&mut page, &report.check);
    if let Some(trace) = &report.trace {
        page.heading("What the captures show");
        page.gap();
        super::show_trace(&mut page, trace, options);
    }
    notes(&mut page, &warnings);
    finish(&page, out)
}

fn tone(report: &DiagnoseReport) -> Tone {
    let trace = report
        .trace
        .as_ref()
        .map(|trace| trace.diagnosis.verdict.merging);
    match trace {
        Some(Merging::Harms) => Tone::Bad,
        _ if report.has_findings() => Tone::Heading,
        _ => Tone::Good,
    }
}
