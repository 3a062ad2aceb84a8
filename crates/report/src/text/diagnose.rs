//! Hosts and captures together, for people.

use std::io::{self, Write};

use coalescope_knowledge::rules::HostFinding;
use coalescope_knowledge::{Merging, Proof};

use super::page::{Page, Tone};
use super::{TextOptions, check};
use crate::DiagnoseReport;

pub(crate) fn write(
    report: &DiagnoseReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    page.paragraph("", "", &verdict(report), tone(report));
    check::show(&mut page, &report.check);
    if let Some(trace) = &report.trace {
        page.heading("What the captures show");
        page.gap();
        super::show_trace(&mut page, trace, options);
    }
    out.write_all(page.text().as_bytes())?;
    out.flush()
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

/// What the captures show, and which setting explains it.
pub(crate) fn verdict(report: &DiagnoseReport) -> String {
    let findings: Vec<&HostFinding> = report
        .check
        .hosts
        .iter()
        .flat_map(|(_, checked)| &checked.findings)
        .collect();
    let settings = check::verdict_text(&report.check, &findings);
    let Some(trace) = &report.trace else {
        return settings;
    };
    let shown = &trace.diagnosis.verdict;
    let explained = findings
        .iter()
        .find(|finding| finding.proof >= Proof::Observed);
    match (shown.merging, explained) {
        (Merging::Harms, Some(finding)) => {
            format!(
                "{} The reason, as far as settings tell: {}.",
                shown.text, finding.title
            )
        }
        (Merging::Harms, None) => {
            format!(
                "{} No setting that was read explains it. {settings}",
                shown.text
            )
        }
        _ => format!("{} {settings}", shown.text),
    }
}
