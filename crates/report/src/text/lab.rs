//! Incidents of the lab, for people: published beside measured, and what the chain made of each.

use std::io::{self, Write};

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::{TextOptions, finish};
use coalescope_incident::LabRow;

use crate::lab::{LabIncident, LabReport};
use crate::words::lab::{
    CHAIN, MEASURED, ROWS, agreement, chain_row, control, measured_row, row, row_heads, verdict,
};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &LabReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    page.paragraph("", "", &verdict(report), tone(report.is_as_expected()));
    if page.is_brief() {
        return finish(&page, out);
    }
    if !report.incidents.is_empty() {
        throughput(&mut page, report);
        chain(&mut page, report);
    }
    for incident in &report.incidents {
        details(&mut page, incident);
    }
    for skipped in &report.skipped {
        let text = format!("skipped {}: {}", skipped.name, skipped.why);
        page.paragraph("", "  ", &text, Tone::Plain);
    }
    for failed in &report.failed {
        let text = format!("{} broke off: {}", failed.name, failed.why);
        page.paragraph("", "  ", &text, Tone::Bad);
    }
    finish(&page, out)
}

fn tone(is_good: bool) -> Tone {
    if is_good { Tone::Good } else { Tone::Bad }
}

fn throughput(page: &mut Page, report: &LabReport) {
    page.heading("Measured, and published (window: segments a round trip when slow)");
    let mut table = Grid::new(MEASURED).with([0], Column::Name);
    for one in &report.incidents {
        table.row(measured_row(one));
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn chain(page: &mut Page, report: &LabReport) {
    page.heading("What the commands made of it");
    let mut table = Grid::new(CHAIN).with(0..CHAIN.len() - 1, Column::Name);
    for one in &report.incidents {
        table.row(chain_row(one));
    }
    page.table(&table, INDENT, |row| tone_of(&report.incidents[row]));
}

fn tone_of(one: &LabIncident) -> Tone {
    if one.problems.is_empty() {
        Tone::Plain
    } else {
        Tone::Bad
    }
}

fn details(page: &mut Page, one: &LabIncident) {
    let is_dull = one.controls.is_empty()
        && one.table.is_empty()
        && one.problems.is_empty()
        && one.captures.is_empty();
    if is_dull {
        return;
    }
    page.heading(&format!("{}: {}", one.name, one.title));
    for one in &one.controls {
        page.paragraph("  - ", "    ", &control(one), Tone::Plain);
    }
    rows(page, &one.table);
    for one in &one.agreement {
        page.paragraph("  - ", "    ", &agreement(one), Tone::Plain);
    }
    for problem in &one.problems {
        page.paragraph("  ! ", "    ", problem, Tone::Bad);
    }
    for capture in &one.captures {
        page.paragraph("  ", "    ", &capture.display().to_string(), Tone::Plain);
    }
}

/// The incident's table beside the published one.
fn rows(page: &mut Page, rows: &[LabRow]) {
    let Some(first) = rows.first() else {
        return;
    };
    page.paragraph("  ", "  ", ROWS, Tone::Plain);
    let mut table = Grid::new(row_heads(first));
    for one in rows {
        table.row(row(one));
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}
