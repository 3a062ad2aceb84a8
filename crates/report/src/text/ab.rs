//! An experiment, for people: verdict, findings, effects, combinations, runs, notes.

use std::io::{self, Write};

use coalescope_experiment::effects::{EffectKind, Metric};
use coalescope_experiment::record::{Ending, Record, Run};
use coalescope_knowledge::{Settled, Standing};
use comfy_table::Table;

use super::page::{self, Page, Tone};
use super::{TextOptions, WIDTH};
use crate::AbReport;
use crate::words::units::{UNKNOWN, counted, figure, three_digits};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &AbReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    let record = &report.record;
    page.paragraph("", "", &format!("{}.", record.verdict), Tone::Plain);
    ending(&mut page, record);
    findings(&mut page, &report.findings);
    effects(&mut page, record);
    cells(&mut page, record);
    runs(&mut page, record);
    notes(&mut page, record);
    restored(&mut page, record);
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn ending(page: &mut Page, record: &Record) {
    let error = record.error.as_deref().unwrap_or_default();
    let why = match record.ended {
        Ending::Clear => "the answer is clear".to_owned(),
        Ending::Spent => "all runs that were allowed are made".to_owned(),
        Ending::Interrupted => "interrupted; --resume goes on".to_owned(),
        Ending::Failed => format!("{error}; --resume goes on"),
        Ending::Running => "killed, or still running; --resume goes on".to_owned(),
    };
    let made = record.runs.iter().filter(|run| run.block.is_some()).count();
    page.paragraph(
        "",
        "",
        &format!(
            "{made} runs in {}: {why}.",
            counted(record.blocks as u64, "whole block")
        ),
        Tone::Plain,
    );
}

fn findings(page: &mut Page, findings: &[Settled]) {
    if findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in findings {
        let place = finding.place.as_deref().map(|place| format!(" at {place}"));
        let text = format!(
            "{} (was {}): {}{} [{}]",
            finding.now.name(),
            finding.was.name(),
            finding.title,
            place
                .filter(|place| !finding.title.contains(place.trim_start_matches(" at ")))
                .unwrap_or_default(),
            finding.id
        );
        let tone = match finding.now {
            Standing::Proven => Tone::Bad,
            Standing::Cleared => Tone::Good,
            Standing::Open => Tone::Plain,
        };
        page.paragraph("  ", "    ", &text, tone);
        page.paragraph("    ", "    ", &finding.why, Tone::Plain);
    }
}

/// Effects on other figures than the judged one, by more than does not matter.
fn effects(page: &mut Page, record: &Record) {
    let first = record.metrics.first().map(|metric| metric.name.as_str());
    let others = record.effects.iter().filter(|effect| {
        Some(effect.metric.as_str()) != first
            && effect.kind == EffectKind::Main
            && effect.matters(record.asked.rules.margin)
    });
    let words: Vec<&str> = others.map(|effect| effect.words.as_str()).collect();
    if words.is_empty() {
        return;
    }
    page.heading("What else changed (each figure judged by itself)");
    for words in words {
        page.paragraph("  - ", "    ", words, Tone::Plain);
    }
}

/// What each combination of levels gave: medians.
fn cells(page: &mut Page, record: &Record) {
    let Some(cells) = &record.cells else { return };
    page.heading("Combinations (medians)");
    fitting(page, record, |metrics| {
        let names = cells.factors.iter().map(String::as_str);
        let header = names
            .chain(["runs"])
            .chain(metrics.iter().map(|metric| label(metric)));
        let mut table = page::table(header);
        for cell in &cells.cells {
            let figures = metrics.iter().map(|metric| {
                let summary = cell.figures.get(&metric.name);
                summary.map_or_else(dash, |summary| shown(metric, summary.median))
            });
            let levels = cell.levels.iter().cloned();
            table.add_row(levels.chain([cell.runs.to_string()]).chain(figures));
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
        let mut table = page::table(header);
        for (number, run) in record.runs.iter().enumerate() {
            table.add_row(run_row(number + 1, run, metrics));
        }
        table
    });
}

/// A table with as many figures as the page is wide enough for, at least the first.
fn fitting(page: &mut Page, record: &Record, make: impl Fn(&[&Metric]) -> Table) {
    let metrics = columns(record);
    let tables = (1..=metrics.len())
        .rev()
        .map(|count| make(&metrics[..count]));
    let mut tables = tables.skip_while(|table| {
        let widest = table
            .lines()
            .map(|line| line.trim_end().chars().count())
            .max();
        widest.unwrap_or_default() + INDENT > WIDTH
    });
    let table = tables
        .next()
        .unwrap_or_else(|| make(&metrics[..metrics.len().min(1)]));
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn run_row(number: usize, run: &Run, metrics: &[&Metric]) -> Vec<String> {
    let block = run
        .block
        .map_or_else(|| "warm-up".to_owned(), |block| (block + 1).to_string());
    let figures = metrics.iter().map(|metric| {
        let figure = run.figures.get(&metric.name);
        figure.map_or_else(dash, |figure| shown(metric, *figure))
    });
    let problem = run.problem.as_ref().map(|_| "failed".to_owned());
    [number.to_string(), block]
        .into_iter()
        .chain(run.levels.iter().cloned())
        .chain(figures)
        .chain([problem.unwrap_or_default()])
        .collect()
}

/// What tells most of why, with a head that fits; the rest is in JSON and CSV.
const TELLING: [(&str, &str); 8] = [
    ("service_demand_us_per_kb", "us/KB"),
    ("peer_service_demand_us_per_kb", "peer us/KB"),
    ("merge_factor", "segs/frame"),
    ("peer_merge_factor", "peer segs/frame"),
    ("acks_per_data_segment", "ACKs/seg"),
    ("retransmitted_segments", "retrans"),
    ("peer_retransmitted_segments", "peer retrans"),
    ("wall_s", "wall"),
];
/// A head of a user's own metric: the beginning of it.
const HEAD: usize = 24;

/// The figure that is judged, then those.
fn columns(record: &Record) -> Vec<&Metric> {
    let telling = TELLING.iter().filter_map(|(name, _)| {
        let mut metrics = record.metrics.iter().skip(1);
        metrics.find(|metric| metric.name == *name)
    });
    record.metrics.first().into_iter().chain(telling).collect()
}

fn label(metric: &Metric) -> &str {
    let known = TELLING.iter().find(|(name, _)| *name == metric.name);
    let name = known.map_or(metric.name.as_str(), |(_, label)| label);
    let end = name
        .char_indices()
        .nth(HEAD)
        .map_or(name.len(), |(at, _)| at);
    &name[..end]
}

fn dash() -> String {
    UNKNOWN.to_owned()
}

fn shown(metric: &Metric, value: f64) -> String {
    figure(value, metric.unit.as_deref())
}

fn notes(page: &mut Page, record: &Record) {
    let all: Vec<String> = record
        .notes
        .iter()
        .cloned()
        .chain(failed(record))
        .chain(far(record))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Notes");
    for note in all {
        page.paragraph("  ", "    ", &note, Tone::Plain);
    }
}

fn failed(record: &Record) -> impl Iterator<Item = String> {
    let runs = record.runs.iter().enumerate();
    runs.filter_map(|(number, run)| {
        let problem = run.problem.as_ref()?;
        Some(format!("run {}: {problem}", number + 1))
    })
}

/// Runs whose judged figure is far from the others of their combination.
fn far(record: &Record) -> impl Iterator<Item = String> {
    let first = record.metrics.first().map(|metric| metric.name.as_str());
    let outliers = record.outliers.iter();
    let judged = outliers.filter(move |outlier| Some(outlier.metric.as_str()) == first);
    judged.map(|outlier| {
        format!(
            "run {} is far from the others of its combination: {} {} against {}",
            outlier.run + 1,
            outlier.metric,
            three_digits(outlier.figure),
            three_digits(outlier.median)
        )
    })
}

fn restored(page: &mut Page, record: &Record) {
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
