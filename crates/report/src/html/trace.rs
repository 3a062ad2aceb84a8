//! The page of a trace.

use std::io::{self, Write};

use coalescope_knowledge::{Comparison, Diagnosis, Merging};
use maud::html;

use super::page::Page;
use super::verdict::{Sure, Tone};
use super::{connections, findings, notes, path, plot, verdict};
use crate::Report;
use crate::words::comparison::ROWS;
use crate::words::units::UNKNOWN;

/// Writes the page.
pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let names = report.trace.points.iter().map(|point| point.name.as_str());
    let names: Vec<&str> = names.collect();
    let mut page = Page::new(format!("coalescope trace: {}", names.join(", ")));
    let sure = sure(&report.diagnosis);
    let text = &report.diagnosis.verdict.text;
    verdict::section(&mut page, text, tone(report), sure.as_ref());
    show(&mut page, report)?;
    notes::section(&mut page, &report.warnings());
    page.write(out)
}

/// All of its sections but the first and the last.
pub(super) fn show(page: &mut Page, report: &Report) -> io::Result<()> {
    if let Some(comparison) = &report.comparison {
        compared(page, comparison);
    }
    let findings = &report.diagnosis.findings;
    path::section(page, &report.trace, findings);
    findings::section(page, findings);
    plot::show(page, report)?;
    connections::section(page, report)
}

/// What the verdict's colour repeats.
pub(super) fn tone(report: &Report) -> Tone {
    match report.diagnosis.verdict.merging {
        Merging::Harms => Tone::Bad,
        _ if report.has_findings() => Tone::Warn,
        _ => Tone::Good,
    }
}

/// How sure the first finding is; that all is well needs no proof.
pub(super) fn sure(diagnosis: &Diagnosis) -> Option<Sure> {
    let first = diagnosis.findings.first();
    let first = first.filter(|finding| !finding.note)?;
    Some(Sure {
        proof: first.proof,
        next: Some(first.next.clone()),
        is_command: false,
    })
}

fn compared(page: &mut Page, comparison: &Comparison) {
    let Comparison { first, second, .. } = comparison;
    let shown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let body = html! {
        div.scroll tabindex="0" role="region" aria-label="Two transfers" {
            table {
                thead { tr {
                    td {}
                    th scope="col" { (first.point) }
                    th scope="col" { (second.point) }
                } }
                tbody {
                    @for (title, value) in ROWS {
                        tr {
                            th scope="row" { (title) }
                            td { (shown(value(first))) }
                            td { (shown(value(second))) }
                        }
                    }
                }
            }
        }
    };
    page.section("comparison", "Two transfers side by side", body);
}
