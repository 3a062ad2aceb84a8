//! A check for people: verdict, findings, what is left alone, drift, hosts, notes.

use std::io::{self, Write};

use coalescope_host::drift::{Differs, Drift};
use coalescope_host::model::{Platform, Snapshot};
use coalescope_knowledge::Proof;
use coalescope_knowledge::rules::{Blame, HostFinding, LeftAlone, Remedy, RemedyKind};
use comfy_table::CellAlignment;

use super::TextOptions;
use super::findings::capitalised;
use super::page::{self, Page, Tone};
use crate::check::{CheckReport, name_of};
use crate::words::units::counted;

const INDENT: usize = 2;

pub(crate) fn write(
    report: &CheckReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    verdict(&mut page, report);
    show(&mut page, report);
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

/// All but the verdict.
pub(super) fn show(page: &mut Page, report: &CheckReport) {
    for group in groups(&all_findings(report)) {
        finding(page, &group);
    }
    left_alone(page, report);
    drift(page, &report.drift);
    hosts(page, report);
    notes(page, &report.warnings());
}

fn all_findings(report: &CheckReport) -> Vec<&HostFinding> {
    report
        .hosts
        .iter()
        .flat_map(|(_, checked)| &checked.findings)
        .collect()
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

pub(super) fn verdict_text(report: &CheckReport, findings: &[&HostFinding]) -> String {
    let unknown = report
        .hosts
        .iter()
        .filter(|(snapshot, _)| snapshot.platform.is_none());
    let unknown: Vec<&str> = unknown.map(|(snapshot, _)| name_of(snapshot)).collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        return format!(
            "What system {names} runs cannot be told from this, so no rule could be asked."
        );
    }
    let groups = groups(findings);
    let Some(first) = groups.first().and_then(|group| group.first()) else {
        return innocent(report);
    };
    let more = match groups.len() - 1 {
        0 => String::new(),
        more => format!(" And {}.", counted(more as u64, "more finding")),
    };
    let proof = capitalised(first.proof.name());
    let host = if report.hosts.len() > 1 {
        format!(" on {}", first.host)
    } else {
        String::new()
    };
    format!(
        "{proof}{host}: {}.{more}",
        first.title.trim_end_matches('.')
    )
}

fn innocent(report: &CheckReport) -> String {
    let left: usize = report
        .hosts
        .iter()
        .map(|(_, checked)| checked.left_alone.len())
        .sum();
    let where_ = match report.hosts.as_slice() {
        [(one, _)] => name_of(one).to_owned(),
        more => counted(more.len() as u64, "host"),
    };
    let innocent = match left {
        0 => String::new(),
        n => format!(
            " {} often blamed {} right here: see below.",
            counted(n as u64, "setting"),
            if n == 1 { "is" } else { "are" }
        ),
    };
    let gaps = gaps(report);
    if gaps.is_empty() {
        return format!(
            "Nothing wrong found on {where_}: no setting that is known to harm in its role.{innocent}"
        );
    }
    format!("Nothing wrong found on {where_} as far as it was read. {gaps}{innocent}")
}

/// What lacks for a judgement, with the hosts it lacks of.
fn gaps(report: &CheckReport) -> String {
    let with_gaps = report
        .hosts
        .iter()
        .filter(|(_, checked)| !checked.gaps.is_empty());
    let texts: Vec<String> = with_gaps
        .map(|(snapshot, checked)| {
            let of = if report.hosts.len() > 1 {
                format!(" of {}", name_of(snapshot))
            } else {
                String::new()
            };
            format!("Not read{of}: {}.", checked.gaps.join(", "))
        })
        .collect();
    texts.join(" ")
}

/// Findings of the same rule on the same host are told once.
fn groups<'a>(findings: &[&'a HostFinding]) -> Vec<Vec<&'a HostFinding>> {
    let mut groups: Vec<Vec<&HostFinding>> = Vec::new();
    for finding in findings {
        let same = groups.iter_mut().find(|group| {
            let of = group.first().map(|f| (&f.id, &f.host, f.proof));
            of == Some((&finding.id, &finding.host, finding.proof))
        });
        match same {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

fn finding(page: &mut Page, group: &[&HostFinding]) {
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
        labelled(page, "prove", experiment);
    }
    remedies(page, &first.remedies);
    if let Some(cost) = &first.cost {
        labelled(page, "cost", cost);
    }
    labelled(page, "source", &first.sources.join(" "));
}

/// The host, and all interfaces that show it.
fn places(group: &[&HostFinding]) -> String {
    let host = group
        .first()
        .map(|finding| finding.host.as_str())
        .unwrap_or_default();
    let named = group
        .iter()
        .filter_map(|f| f.interface.as_deref().or(f.switch.as_deref()));
    let names: Vec<&str> = named.collect();
    match names.as_slice() {
        [] => format!("host {host}"),
        [first] => format!("host {host}, {first}"),
        [first, rest @ ..] => format!("host {host}, {first}; the same at {}", rest.join(", ")),
    }
}

fn labelled(page: &mut Page, label: &str, text: &str) {
    page.paragraph("  ", "    ", &format!("{label}: {text}"), Tone::Plain);
}

/// Commands stand on lines of their own, so that they can be copied.
fn remedies(page: &mut Page, remedies: &[Remedy]) {
    for remedy in remedies {
        let label = match remedy.kind {
            RemedyKind::Runtime => "fix now",
            RemedyKind::Persistent => "fix for good",
            RemedyKind::Undo => "undo",
        };
        if remedy.command.lines().count() == 1 {
            let line = format!("  {label} ({}): {}", remedy.platform, remedy.command);
            page.line(&page::printable(&line), Tone::Plain);
            continue;
        }
        page.line(
            &page::printable(&format!("  {label} ({}):", remedy.platform)),
            Tone::Plain,
        );
        for line in remedy.command.lines() {
            page.line(&page::printable(&format!("      {line}")), Tone::Plain);
        }
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

fn drift(page: &mut Page, drift: &[Drift]) {
    if drift.is_empty() {
        return;
    }
    page.heading("Differs between these hosts");
    for row in drift {
        let most = row.majority.as_ref();
        let most = most.map_or("no majority".to_owned(), |value| format!("mostly {value}"));
        let others: Vec<String> = row.hosts.iter().map(differs).collect();
        let text = format!("{}: {most}, but {}", row.what, others.join(", "));
        page.paragraph("  - ", "    ", &text, Tone::Plain);
    }
}

fn differs(one: &Differs) -> String {
    match &one.interface {
        Some(interface) => format!("{} at {interface} of {}", one.value, one.host),
        None => format!("{} on {}", one.value, one.host),
    }
}

/// The interfaces of each host and what they do.
fn hosts(page: &mut Page, report: &CheckReport) {
    for ((snapshot, _), roles) in report.hosts.iter().zip(report.roles()) {
        page.heading(&heading(snapshot));
        let mut table = page::table(["interface", "kind", "driver", "MTU", "roles"]);
        for (key, interface) in &snapshot.interfaces {
            let roles = roles.get(key).map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = roles.iter().map(|role| role.role.name()).collect();
            let text = |value: Option<&str>| page::printable(value.unwrap_or("-"));
            table.add_row([
                page::printable(key),
                text(interface.kind.as_deref()),
                text(interface.driver.as_ref().map(|driver| driver.name.as_str())),
                interface
                    .mtu_bytes
                    .map_or("-".to_owned(), |mtu| mtu.to_string()),
                names.join(", "),
            ]);
        }
        for column in [0, 1, 2, 4] {
            page::align(&mut table, column, CellAlignment::Left);
        }
        page.table(&table, INDENT, |_| Tone::Plain);
    }
}

fn heading(snapshot: &Snapshot) -> String {
    let system = snapshot.distribution.as_ref().map(|distribution| {
        let full = distribution.name.clone();
        full.unwrap_or_else(|| distribution.id.clone())
    });
    let platform = snapshot.platform.map(Platform::name);
    let parts = [system, platform.map(str::to_owned), snapshot.kernel.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return name_of(snapshot).to_owned();
    }
    format!("{} ({})", name_of(snapshot), parts.join(", "))
}

fn notes(page: &mut Page, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    page.heading("Notes");
    for warning in warnings {
        page.paragraph("  - ", "    ", warning, Tone::Plain);
    }
}
