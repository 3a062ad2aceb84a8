//! Incidents of the lab, for people: published beside measured, and what the chain made of each.

use std::io::{self, Write};

use coalescope_incident::Kind;
use comfy_table::CellAlignment;

use super::TextOptions;
use super::page::{self, Page, Tone};
use crate::LabReport;
use crate::lab::LabIncident;
use crate::words::units::{UNKNOWN, counted, figure, seconds, three_digits};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &LabReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    page.paragraph("", "", &verdict(report), tone(report.is_as_expected()));
    throughput(&mut page, report);
    chain(&mut page, report);
    for incident in &report.incidents {
        details(&mut page, incident);
    }
    for skipped in &report.skipped {
        let text = format!("skipped {}: {}", skipped.name, skipped.why);
        page.paragraph("", "  ", &text, Tone::Plain);
    }
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn verdict(report: &LabReport) -> String {
    let all = report.incidents.len();
    let problems = report.incidents.iter();
    let wrong = problems.filter(|one| !one.problems.is_empty()).count();
    let skipped = match report.skipped.len() {
        0 => String::new(),
        n => format!("; {n} skipped"),
    };
    let all = counted(all as u64, "incident");
    if wrong == 0 {
        format!("{all}: each as its file says it must be{skipped}.")
    } else {
        format!("{all}: {wrong} not as the file says{skipped}.")
    }
}

fn tone(is_good: bool) -> Tone {
    if is_good { Tone::Good } else { Tone::Bad }
}

fn throughput(page: &mut Page, report: &LabReport) {
    page.heading("Measured, and published (window: segments a round trip when slow)");
    let header = [
        "incident",
        "slow",
        "fast",
        "ratio",
        "window",
        "published slow",
        "fast",
        "ratio",
    ];
    let mut table = page::table(header);
    for one in &report.incidents {
        let bits = |bps: Option<f64>| bps.map_or_else(dash, |bps| figure(bps, Some("bit/s")));
        let number = |value: Option<f64>| value.map_or_else(dash, three_digits);
        table.add_row([
            one.name.clone(),
            bits(Some(one.slow_bps)),
            bits(Some(one.fast_bps)),
            three_digits(one.ratio),
            three_digits(one.effective_window_segments),
            bits(one.published.slow_bps),
            bits(one.published.fast_bps),
            number(one.published.ratio),
        ]);
    }
    page::align(&mut table, 0, CellAlignment::Left);
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn chain(page: &mut Page, report: &LabReport) {
    page.heading("What the commands made of it");
    let header = [
        "incident", "merging", "check", "trace", "ab", "fix", "undo", "took",
    ];
    let mut table = page::table(header);
    for one in &report.incidents {
        table.add_row(chain_row(one));
    }
    for column in 0..7 {
        page::align(&mut table, column, CellAlignment::Left);
    }
    page.table(&table, INDENT, |row| tone_of(&report.incidents[row]));
}

fn chain_row(one: &LabIncident) -> [String; 8] {
    let word = |is: bool, word: &str| if is { word } else { UNKNOWN }.to_owned();
    let kind = match one.kind {
        Kind::Harm => "harms",
        Kind::Cure => "helps",
        Kind::Innocent => "innocent",
    };
    [
        one.name.clone(),
        kind.to_owned(),
        word(one.suspected, "suspected"),
        word(one.observed, "observed"),
        word(one.proven, "proven"),
        word(one.fixed, "fixed"),
        word(one.undone, "undone"),
        seconds(one.took_s),
    ]
}

fn tone_of(one: &LabIncident) -> Tone {
    if one.problems.is_empty() {
        Tone::Plain
    } else {
        Tone::Bad
    }
}

fn details(page: &mut Page, one: &LabIncident) {
    let is_dull = one.controls.is_empty() && one.problems.is_empty() && one.captures.is_empty();
    if is_dull {
        return;
    }
    page.heading(&format!("{}: {}", one.name, one.title));
    for control in &one.controls {
        let text = format!(
            "{}: {} ({} segments a round trip): {}",
            control.name,
            figure(control.bps, Some("bit/s")),
            three_digits(control.effective_window_segments),
            control.title
        );
        page.paragraph("  - ", "    ", &text, Tone::Plain);
    }
    for problem in &one.problems {
        page.paragraph("  ! ", "    ", problem, Tone::Bad);
    }
    for capture in &one.captures {
        page.paragraph("  ", "    ", &capture.display().to_string(), Tone::Plain);
    }
}

fn dash() -> String {
    UNKNOWN.to_owned()
}
