//! What went through a wire, for people: both directions, why, notes.

use std::io::{self, Write};

use comfy_table::CellAlignment;

use super::TextOptions;
use super::page::{self, Page, Tone};
use super::replay::{notes, reasons};
use crate::words::units::{count, counted};
use crate::{WireReport, WireWay};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &WireReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    page.paragraph("", "", &verdict(report), Tone::Plain);
    frames(&mut page, report);
    if report.forward.way.frames_in > 0 {
        reasons(
            &mut page,
            &report.forward.reasons,
            report.forward.way.frames_in,
        );
    }
    notes(&mut page, &report.warnings);
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn verdict(report: &WireReport) -> String {
    let forward = &report.forward;
    format!(
        "Under {}, held for {} us at most, {} became {} on the way from {} to {}, {} of them \
         merged from {}.",
        report.profile,
        count(report.hold_us),
        counted(forward.way.frames_in, "frame"),
        count(forward.way.frames_out),
        report.input,
        report.output,
        count(forward.merged_frames),
        count(forward.segments),
    )
}

fn frames(page: &mut Page, report: &WireReport) {
    page.heading("Frames");
    let mut table = page::table(["", "in", "out", "lost"]);
    let mut row = |from: &str, to: &str, way: &WireWay| {
        let numbers = [way.frames_in, way.frames_out, way.refused_frames].map(count);
        let [before, after, lost] = numbers;
        table.add_row([format!("{from} to {to}"), before, after, lost]);
    };
    row(&report.input, &report.output, &report.forward.way);
    row(&report.output, &report.input, &report.back);
    page::align(&mut table, 0, CellAlignment::Left);
    page.table(&table, INDENT, |_| Tone::Plain);
}
