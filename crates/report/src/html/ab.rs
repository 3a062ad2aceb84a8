//! The page of an experiment.

use std::io::{self, Write};

use coalescope_experiment::record::Record;
use coalescope_knowledge::{Proof, Settled, Standing};
use maud::{Markup, html};

use super::page::Page;
use super::table::{Kind, Table};
use super::verdict::{self, Tone};
use super::{before, dots, intervals, made, moved, notes};
use crate::ab::AbReport;
use crate::made::Made;
use crate::words;
use crate::words::ab::{columns, dash, ending, label, others, settled_title, shown};

/// Writes the page.
pub(crate) fn write(report: &AbReport, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let record = &report.record;
    let mut page = Page::new("coalescope ab");
    verdict(&mut page, report);
    page.section("runs-drawn", "Every run", dots::figures(record));
    page.section(
        "effects",
        "Effects, with their intervals",
        intervals::section(record),
    );
    changed(&mut page, record);
    moved::section(&mut page, record)?;
    combinations(&mut page, record)?;
    runs(&mut page, record)?;
    notes::section(&mut page, &words::ab::notes(record));
    made::section(&mut page, made);
    page.write(out)
}

fn verdict(page: &mut Page, report: &AbReport) {
    let record = &report.record;
    let body = html! {
        div.verdict.(tone(report).class()) {
            @if let Some(impact) = before::impact(record) { p.impact { (impact) } }
            p { (record.verdict) "." }
        }
        (before::figure(record))
        p { (ending(record)) }
        @if report.findings.is_empty() {
            p.note { "No finding was about what was varied, so none is proven or cleared." }
        }
        @for finding in &report.findings { (settled(finding)) }
        (restored(record))
    };
    page.section("verdict", "Verdict", body);
}

fn tone(report: &AbReport) -> Tone {
    let mut standings = report.findings.iter().map(|finding| finding.now);
    if !report.record.restored || standings.any(|now| now == Standing::Proven) {
        Tone::Bad
    } else {
        Tone::Plain
    }
}

fn settled(finding: &Settled) -> Markup {
    let (tone, proof) = match finding.now {
        Standing::Proven => (Tone::Bad, Proof::Proven),
        Standing::Cleared => (Tone::Good, finding.was),
        Standing::Open => (Tone::Warn, finding.was),
    };
    html! {
        article.finding.(tone.class()) {
            h3 { (settled_title(finding)) }
            @if finding.now == Standing::Cleared { p { "Proof level: none; it is cleared." } }
            @else { (verdict::scale(proof)) }
            p { (finding.why) }
            @if finding.now == Standing::Open {
                p { "What would raise it: more runs (" code { "--max-runs" } ", " code { "--resume" } ")." }
            }
        }
    }
}

fn restored(record: &Record) -> Markup {
    html! {
        @if record.restored { p { "All settings are as they were." } }
        @else {
            div.verdict.bad {
                b { "NOT restored:" }
                ul { @for left in &record.unrestored { li { code { (left) } } } }
            }
        }
    }
}

fn changed(page: &mut Page, record: &Record) {
    let words = others(record);
    if !words.is_empty() {
        let body = html! {
            p.note { "Each figure judged by itself." }
            ul { @for words in words { li { (words) } } }
        };
        page.section("changed", "What else changed", body);
    }
}

fn combinations(page: &mut Page, record: &Record) -> io::Result<()> {
    let Some(cells) = &record.cells else {
        return Ok(());
    };
    let metrics = columns(record);
    let names = cells.factors.iter().map(|name| (name.as_str(), Kind::Text));
    let labels = metrics.iter().map(|metric| (label(metric), Kind::Number));
    let heads: Vec<_> = names
        .chain([("runs", Kind::Number)])
        .chain(labels)
        .collect();
    let rows: Vec<Vec<String>> = cells
        .cells
        .iter()
        .map(|cell| {
            let figures = metrics.iter().map(|metric| {
                let summary = cell.figures.get(&metric.name);
                summary.map_or_else(dash, |summary| shown(metric, summary.median))
            });
            let levels = cell.levels.iter().cloned();
            levels
                .chain([cell.runs.to_string()])
                .chain(figures)
                .collect()
        })
        .collect();
    table(
        page,
        ("combinations", "Combinations: medians"),
        &heads,
        &rows,
    )
}

fn runs(page: &mut Page, record: &Record) -> io::Result<()> {
    let metrics = columns(record);
    let names = record
        .factors
        .iter()
        .map(|factor| (factor.name.as_str(), Kind::Choice));
    let labels = metrics.iter().map(|metric| (label(metric), Kind::Number));
    let first = [("run", Kind::Number), ("block", Kind::Number)];
    let last = ("problem", Kind::Text);
    let heads: Vec<_> = first
        .into_iter()
        .chain(names)
        .chain(labels)
        .chain([last])
        .collect();
    let rows: Vec<Vec<String>> = (1..)
        .zip(&record.runs)
        .map(|(number, run)| words::ab::run_row(number, run, &metrics))
        .collect();
    table(page, ("runs", "All runs, in the order made"), &heads, &rows)
}

fn table(
    page: &mut Page,
    (id, heading): (&str, &str),
    columns: &[(&str, Kind)],
    rows: &[Vec<String>],
) -> io::Result<()> {
    let table = Table {
        id: &format!("{id}-table"),
        caption: heading,
        columns,
        rows,
        of: rows.len(),
    };
    page.section(id, heading, table.markup()?);
    Ok(())
}
