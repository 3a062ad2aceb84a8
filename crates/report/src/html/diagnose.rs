//! The page of hosts and captures together.

use std::io::{self, Write};

use super::page::Page;
use super::verdict::{self, Tone};
use super::{check, notes, trace};
use crate::diagnose::DiagnoseReport;
use crate::words::check::all_findings;
use crate::words::diagnose::verdict as text;

/// Writes the page.
pub(crate) fn write(report: &DiagnoseReport, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope diagnose");
    let shown = report.trace.as_ref();
    let of_trace = shown.and_then(|trace| trace::sure(&trace.diagnosis));
    // A setting that captures confirm tells what to do; else they do.
    let sure = check::sure(&all_findings(&report.check));
    let sure = match (sure, of_trace) {
        (Some(setting), Some(seen)) if setting.proof < seen.proof => Some(seen),
        (setting, seen) => setting.or(seen),
    };
    verdict::section(&mut page, &text(report), tone(report), sure.as_ref());
    if let Some(shown) = shown {
        trace::show(&mut page, shown)?;
    }
    check::show(&mut page, &report.check)?;
    notes::section(&mut page, &report.warnings());
    page.write(out)
}

fn tone(report: &DiagnoseReport) -> Tone {
    let of_trace = report.trace.as_ref().map(trace::tone);
    match of_trace {
        Some(Tone::Bad) => Tone::Bad,
        _ if report.has_findings() => Tone::Warn,
        _ => Tone::Good,
    }
}
