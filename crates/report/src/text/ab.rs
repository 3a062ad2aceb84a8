//! An experiment, for people: verdict, findings, effects, combinations, runs, notes.

use std::io::{self, Write};

use coalescope_experiment::effects::Metric;
use coalescope_experiment::record::Record;
use coalescope_knowledge::{Settled, Standing};

use super::grid::Grid;
use super::page::{Page, Tone};
use super::{TextOptions, finish};
use crate::ab::AbReport;
use crate::words;
use crate::words::ab::{
    columns, dash, ending, label, next, others, reason, run_row, settled_title, shown,
};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &AbReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    let record = &report.record;
    page.paragraph("", "", &format!("{}.", record.verdict), Tone::Plain);
    if page.is_brief() {
        restored(&mut page, record);
        return finish(&page, out);
    }
    page.paragraph("", "", &ending(record), Tone::Plain);
    findings(&mut page, record, &report.findings);
    effects(&mut page, record);
    cells(&mut page, record);
    runs(&mut page, record);
    notes(&mut page, record);
    restored(&mut page, record);
    if let Some(next) = next(record, &report.findings) {
        page.paragraph("next: ", "      ", &next, Tone::Plain);
    }
    finish(&page, out)
}

fn findings(page: &mut Page, record: &Record, findings: &[Settled]) {
    if findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in findings {
        let text = settled_title(finding);
        let tone = match finding.now {
            Standing::Proven => Tone::Bad,
            Standing::Cleared => Tone::Good,
            Standing::Open => Tone::Plain,
        };
        page.paragraph("  ", "    ", &text, tone);
        if let Some(why) = reason(record, finding) {
            page.paragraph("    ", "    ", why, Tone::Plain);
        }
    }
}

/// Effects on figures besides the judged one.
fn effects(page: &mut Page, record: &Record) {
    let words = others(record);
    if words.is_empty() {
        return;
    }
    page.heading("What else changed (each figure judged by itself)");
    for words in words {
        page.paragraph("  - ", "    ", words, Tone::Plain);
    }
}

/// Medians of each combination of levels.
fn cells(page: &mut Page, record: &Record) {
    let Some(cells) = &record.cells else { return };
    page.heading("Combinations (medians)");
    fitting(page, record, |metrics| {
        let names = cells.factors.iter().map(String::as_str);
        let header = names
            .chain(["runs"])
            .chain(metrics.iter().map(|metric| label(metric)));
        let mut table = Grid::new(header);
        for cell in &cells.cells {
            let figures = metrics.iter().map(|metric| {
                let summary = cell.figures.get(&metric.name);
                summary.map_or_else(dash, |summary| shown(metric, summary.median))
            });
            let levels = cell.levels.iter().cloned();
            table.row(levels.chain([cell.runs.to_string()]).chain(figures));
        }
        table
    });
}

fn runs(page: &mut Page, record: &Record) {
    if record.runs.is_empty() {
        return;
    }
    page.heading("Runs");
    fitting(page, record, |metrics| {
        let names = record.factors.iter().map(|factor| factor.name.as_str());
        let header = ["run", "block"]
            .into_iter()
            .chain(names)
            .chain(metrics.iter().map(|metric| label(metric)))
            .chain([""]);
        let mut table = Grid::new(header);
        for (number, run) in record.runs.iter().enumerate() {
            table.row(run_row(number + 1, run, metrics));
        }
        table
    });
}

/// A table with as many figures as fit in the width, at least the first.
fn fitting(page: &mut Page, record: &Record, make: impl Fn(&[&Metric]) -> Grid) {
    let metrics = columns(record);
    let tables = (1..=metrics.len())
        .rev()
        .map(|count| make(&metrics[..count]));
    let room = page.width().saturating_sub(INDENT);
    let mut fitting = tables.filter(|table| table.fits(room));
    let table = fitting
        .next()
        .unwrap_or_else(|| make(&metrics[..metrics.len().min(1)]));
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn notes(page: &mut Page, record: &Record) {
    let all = words::ab::notes(record);
    if all.is_empty() {
        return;
    }
    page.heading("Notes");
    for note in all {
        page.paragraph("  ", "    ", &note, Tone::Plain);
    }
}

fn restored(page: &mut Page, record: &Record) {
    if record.restored && page.is_brief() {
        return;
    }
    page.gap();
    if record.restored {
        page.paragraph("", "", "All settings are as they were.", Tone::Good);
        return;
    }
    page.paragraph("", "", "NOT restored:", Tone::Bad);
    for left in &record.unrestored {
        page.paragraph("  ", "    ", left, Tone::Bad);
    }
}
