//! The page of hosts and captures together.

use std::io::{self, Write};

use super::page::Page;
use super::verdict::{self, Headline, Tone};
use super::{check, made, notes, trace};
use crate::diagnose::DiagnoseReport;
use crate::document::Document;
use crate::made::Made;
use crate::words::check::all_findings;
use crate::words::diagnose::verdict as text;

/// Writes the page.
pub(crate) fn write(report: &DiagnoseReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope diagnose");
    let shown = report.trace.as_ref();
    let of_trace = shown.and_then(|trace| trace::sure(&trace.diagnosis));
    // A setting that the captures confirm determines the next step; otherwise the captures do.
    let sure = check::sure(&all_findings(&report.check));
    let sure = match (sure, of_trace) {
        (Some(setting), Some(seen)) if setting.proof < seen.proof => Some(seen),
        (setting, seen) => setting.or(seen),
    };
    let said = Headline {
        impact: shown.and_then(|trace| trace.diagnosis.verdict.impact.as_deref()),
        text: &text(report),
        tone: tone(report),
        sure: sure.as_ref(),
        picture: shown.and_then(|shown| trace::picture(&mut page, shown)),
    };
    verdict::section(&mut page, &said);
    if let Some(shown) = shown {
        trace::show(&mut page, shown)?;
    }
    check::show(&mut page, &report.check)?;
    notes::section(&mut page, &report.warnings());
    made::section(&mut page, made);
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
