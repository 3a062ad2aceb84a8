//! A check for people: verdict, findings, what is left alone, drift, hosts, notes.

use std::io::{self, Write};

use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, HostFinding, LeftAlone, Remedy, RemedyKind};

use super::page::{Page, Tone};
use super::{TextOptions, drift, finish, hosts, notes, warn};
use crate::check::CheckReport;
use crate::document::Document;
use crate::words::check::{all_findings, groups, places, verdict_text};
use crate::words::findings::capitalised;

pub(crate) fn write(
    report: &CheckReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    warn(&mut page, &report.warnings());
    verdict(&mut page, report);
    show(&mut page, report);
    notes(&mut page, &report.warnings());
    finish(&page, out)
}

/// Everything but the verdict.
pub(super) fn show(page: &mut Page, report: &CheckReport) {
    if page.is_brief() {
        return;
    }
    for group in groups(&all_findings(report)) {
        finding(page, &group);
    }
    left_alone(page, report);
    drift::show(page, &report.drift);
    hosts::show(page, report);
}

fn verdict(page: &mut Page, report: &CheckReport) {
    let findings = all_findings(report);
    let tone = match findings.first() {
        None => Tone::Good,
        Some(first) if first.blame == Blame::Harms && first.proof > Proof::Suspected => Tone::Bad,
        Some(_) => Tone::Heading,
    };
    page.paragraph("", "", &verdict_text(report, &findings), tone);
}

pub(super) fn finding(page: &mut Page, group: &[&HostFinding]) {
    let Some(first) = group.first() else {
        return;
    };
    page.gap();
    let title = format!(
        "{} [{}, {}]",
        capitalised(&first.title),
        first.id,
        first.proof.name()
    );
    page.paragraph(
        "",
        "  ",
        &title,
        if first.blame == Blame::Harms {
            Tone::Bad
        } else {
            Tone::Heading
        },
    );
    page.paragraph("  ", "  ", &places(group), Tone::Plain);
    labelled(page, "why", &first.mechanism);
    for evidence in &first.evidence {
        page.paragraph("  - ", "    ", &evidence.text, Tone::Plain);
    }
    if let Some(experiment) = &first.experiment {
        page.command("  prove:", "      ", experiment.line());
    }
    remedies(page, &first.remedies);
    if let Some(cost) = &first.cost {
        labelled(page, "cost", cost);
    }
    labelled(page, "source", &first.sources.join(" "));
}

fn labelled(page: &mut Page, label: &str, text: &str) {
    page.paragraph("  ", "    ", &format!("{label}: {text}"), Tone::Plain);
}

/// Remedies. Commands are on lines of their own, so that they can be copied.
fn remedies(page: &mut Page, remedies: &[Remedy]) {
    for remedy in remedies {
        let label = match remedy.kind {
            RemedyKind::Runtime => "fix now",
            RemedyKind::Persistent => "fix for good",
            RemedyKind::Undo => "undo",
        };
        let label = format!("  {label} ({}):", remedy.platform);
        page.command(&label, "      ", &remedy.command);
    }
}

fn left_alone(page: &mut Page, report: &CheckReport) {
    let all: Vec<&LeftAlone> = report
        .hosts
        .iter()
        .flat_map(|(_, checked)| &checked.left_alone)
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Left alone on purpose");
    for one in all {
        let host = if report.hosts.len() > 1 {
            format!("{}: ", one.host)
        } else {
            String::new()
        };
        let title = one.title.trim_end_matches('.');
        let text = format!("{host}{title} [{}]. {}", one.id, one.why);
        page.paragraph("  - ", "    ", &text, Tone::Plain);
    }
}
