//! The page of a trace.

use std::io::{self, Write};

use coalescope_knowledge::{Comparison, Diagnosis, Id, Merging};
use maud::{Markup, html};

use super::page::Page;
use super::story::Shows;
use super::verdict::{Headline, Sure, Tone};
use super::{connections, findings, made, notes, path, plot, story, verdict};
use crate::Report;
use crate::document::Document;
use crate::made::Made;
use crate::words::comparison::ROWS;
use crate::words::units::UNKNOWN;

/// Writes the page.
pub(crate) fn write(report: &Report, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let names = report.trace.points.iter().map(|point| point.name.as_str());
    let names: Vec<&str> = names.collect();
    let mut page = Page::new(format!("coalescope trace: {}", names.join(", ")));
    let verdict = &report.diagnosis.verdict;
    let sure = sure(&report.diagnosis);
    let said = Headline {
        impact: verdict.impact.as_deref(),
        text: &verdict.text,
        tone: tone(report),
        sure: sure.as_ref(),
        picture: picture(&mut page, report),
    };
    verdict::section(&mut page, &said);
    show(&mut page, report)?;
    notes::section(&mut page, &report.warnings());
    made::section(&mut page, made);
    page.write(out)
}

/// A picture of one frame with the fault, if there is one.
pub(super) fn picture(page: &mut Page, report: &Report) -> Option<Markup> {
    let series = report.series()?.ok()?;
    let first = report.diagnosis.findings.first()?;
    let shows = match first.id {
        _ if !report.has_findings() => return None,
        Id::ReorderedBeforeMerge => Shows::Overtaking,
        Id::MergedFramesLost | Id::MergedFramesRejected => Shows::MergedVanishing,
        _ => Shows::Vanishing,
    };
    story::figure(page, series, shows)
}

/// All sections but the first and the last.
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

/// The verdict's colour.
pub(super) fn tone(report: &Report) -> Tone {
    match report.diagnosis.verdict.merging {
        Merging::Harms => Tone::Bad,
        _ if report.has_findings() => Tone::Warn,
        _ => Tone::Good,
    }
}

/// The proof level of the first finding; a verdict without a fault needs none.
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
        div.scroll tabindex="0" role="group" aria-label="Two transfers" {
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
