//! The page of a check.

use std::io::{self, Write};

use coalescope_host::drift::Drift;
use coalescope_host::model::Interface;
use coalescope_host::roles::Role;
use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, HostFinding, LeftAlone};
use coalescope_watch::facts::Watched;
use maud::{Markup, html};

use super::findings::{prove, remedies, sources, tags};
use super::page::Page;
use super::table::{Kind, Table};
use super::verdict::{self, Headline, Sure, Tone};
use super::{counted, drift, graph, made, notes};
use crate::check::CheckReport;
use crate::document::Document;
use crate::made::Made;
use crate::words::check::{about, all_findings, groups, heading, places, role_names, verdict_text};
use crate::words::findings::capitalised;
use crate::words::offloads::{Offload, offloads};

/// Writes the page.
pub(crate) fn write(report: &CheckReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new("coalescope check");
    let findings = all_findings(report);
    let text = verdict_text(report, &findings);
    let sure = sure(&findings);
    let said = Headline {
        impact: None,
        text: &text,
        tone: tone(&findings),
        sure: sure.as_ref(),
        picture: None,
    };
    verdict::section(&mut page, &said);
    show(&mut page, report)?;
    notes::section(&mut page, &report.warnings());
    made::section(&mut page, made);
    page.write(out)
}

/// All sections but the first and the last.
pub(super) fn show(page: &mut Page, report: &CheckReport) -> io::Result<()> {
    findings(page, &all_findings(report));
    watched(page, &report.watched)?;
    graph::section(page, report);
    drift_section(page, report, &report.drift);
    left_alone(page, report);
    interfaces(page, report)
}

pub(super) fn tone(findings: &[&HostFinding]) -> Tone {
    match findings.first() {
        None => Tone::Good,
        Some(first) if first.blame == Blame::Harms && first.proof > Proof::Suspected => Tone::Bad,
        Some(_) => Tone::Warn,
    }
}

/// The proof level of the gravest finding, with the experiment that would prove it.
pub(super) fn sure(findings: &[&HostFinding]) -> Option<Sure> {
    let first = findings.first()?;
    Some(Sure {
        proof: first.proof,
        next: first.experiment.as_ref().map(ToString::to_string),
        is_command: true,
    })
}

fn findings(page: &mut Page, findings: &[&HostFinding]) {
    let groups = groups(findings);
    if groups.is_empty() {
        return;
    }
    let body = html! { @for group in &groups { (article(group)) } };
    page.section("settings", "Findings in the settings", body);
}

/// Findings of the same rule on the same host.
pub(super) fn article(group: &[&HostFinding]) -> Markup {
    let Some(first) = group.first() else {
        return html! {};
    };
    let tone = tone(group);
    html! {
        article.finding.(tone.class()) {
            h3 { (capitalised(&first.title)) }
            (tags(&[&first.id, first.proof.name(), first.blame.name()]))
            p { (capitalised(&places(group))) }
            p { b { "Why: " } (first.mechanism) }
            ul { @for evidence in &first.evidence { li { (evidence.text) } } }
            @if let Some(experiment) = &first.experiment { (prove(experiment.line())) }
            (remedies(&first.remedies))
            @if let Some(cost) = &first.cost { p { b { "Cost: " } (cost) } }
            (sources(&first.sources))
        }
    }
}

/// Counts of each host.
fn watched(page: &mut Page, all: &[Watched]) -> io::Result<()> {
    let all = all.iter().enumerate();
    let tables = all.map(|(number, one)| counted::interfaces(number, one));
    let tables: Vec<Markup> = tables.collect::<io::Result<_>>()?;
    if !tables.is_empty() {
        let body = html! { @for table in &tables { (table) } };
        page.section("watched", "What was counted", body);
    }
    Ok(())
}

fn left_alone(page: &mut Page, report: &CheckReport) {
    let hosts = report.hosts.iter();
    let all: Vec<&LeftAlone> = hosts.flat_map(|(_, checked)| &checked.left_alone).collect();
    if all.is_empty() {
        return;
    }
    let body = html! {
        @for one in all {
            article.finding.good {
                h3 { (capitalised(&one.title)) }
                (tags(&[&one.id]))
                p { "Host " (one.host) @if let Some(interface) = &one.interface { ", " (interface) } }
                p { (one.why) }
            }
        }
    };
    page.section("left-alone", "Left alone on purpose", body);
}

fn drift_section(page: &mut Page, report: &CheckReport, rows: &[Drift]) {
    if !rows.is_empty() {
        page.section(
            "drift",
            "What differs between these hosts",
            drift::matrix(report, rows),
        );
    }
}

/// Columns about an interface; its offloads follow, then its roles.
const ABOUT: [(&str, Kind); 4] = [
    ("interface", Kind::Text),
    ("kind", Kind::Choice),
    ("driver", Kind::Choice),
    ("MTU", Kind::Number),
];
const ROLES: [(&str, Kind); 2] = [("roles", Kind::Text), ("because", Kind::Text)];

fn interfaces(page: &mut Page, report: &CheckReport) -> io::Result<()> {
    let hosts = report.hosts.iter().zip(report.roles()).enumerate();
    let mut tables = Vec::new();
    for (number, ((snapshot, _), roles)) in hosts {
        let caption = heading(snapshot);
        let states = offloads(snapshot.platform);
        let heads = states.iter().map(|one| (one.head, Kind::Choice));
        let columns: Vec<_> = ABOUT.into_iter().chain(heads).chain(ROLES).collect();
        let all = snapshot.interfaces.iter();
        let rows: Vec<Vec<String>> = all
            .map(|(key, interface)| {
                let roles = roles.get(key).map(Vec::as_slice).unwrap_or_default();
                row(key, interface, states, roles)
            })
            .collect();
        let table = Table {
            id: &format!("interfaces-{number}"),
            caption: &caption,
            columns: &columns,
            rows: &rows,
            of: rows.len(),
        };
        tables.push(table.markup()?);
    }
    let body = html! { @for table in tables { (table) } };
    page.section("interfaces", "All interfaces", body);
    Ok(())
}

fn row(key: &str, interface: &Interface, states: &[Offload], roles: &[Role]) -> Vec<String> {
    let because: Vec<&str> = roles.iter().map(|role| role.because.as_str()).collect();
    let mut row = about(key, interface).to_vec();
    row.extend(states.iter().map(|one| one.state(interface).to_owned()));
    row.extend([role_names(interface, roles), because.join("; ")]);
    row
}
