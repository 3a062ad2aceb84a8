//! Incidents of the lab, for people: published beside measured, and what the chain made of each.

use std::io::{self, Write};

use comfy_table::CellAlignment;

use super::TextOptions;
use super::page::{self, Page, Tone};
use crate::LabReport;
use crate::lab::{LabIncident, LabRow};
use crate::words::lab::{
    CHAIN, MEASURED, ROWS, agreement, chain_row, control, measured_row, row, row_heads, verdict,
};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &LabReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    page.paragraph("", "", &verdict(report), tone(report.is_as_expected()));
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
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn tone(is_good: bool) -> Tone {
    if is_good { Tone::Good } else { Tone::Bad }
}

fn throughput(page: &mut Page, report: &LabReport) {
    page.heading("Measured, and published (window: segments a round trip when slow)");
    let mut table = page::table(MEASURED);
    for one in &report.incidents {
        table.add_row(measured_row(one));
    }
    page::align(&mut table, 0, CellAlignment::Left);
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn chain(page: &mut Page, report: &LabReport) {
    page.heading("What the commands made of it");
    let mut table = page::table(CHAIN);
    for one in &report.incidents {
        table.add_row(chain_row(one));
    }
    for column in 0..7 {
        page::align(&mut table, column, CellAlignment::Left);
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
    let mut table = page::table(row_heads(first));
    for one in rows {
        table.add_row(row(one));
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}
