//! The counts of a wire, for people: both directions, reasons, notes.

use std::io::{self, Write};

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::replay::reasons;
use super::{TextOptions, finish, notes, warn};
use crate::wire::{WireReport, WireWay};
use crate::words::units::{count, counted};

const INDENT: usize = 2;

pub(crate) fn write(
    report: &WireReport,
    out: &mut dyn Write,
    options: &TextOptions,
) -> io::Result<()> {
    let mut page = Page::new(options);
    warn(&mut page, &report.warnings);
    page.paragraph("", "", &verdict(report), Tone::Plain);
    if page.is_brief() {
        return finish(&page, out);
    }
    frames(&mut page, report);
    if report.forward.way.frames_in > 0 {
        reasons(
            &mut page,
            &report.forward.reasons,
            report.forward.way.frames_in,
        );
    }
    notes(&mut page, &report.warnings);
    finish(&page, out)
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
    let mut table = Grid::new(["", "in", "out", "lost"]).with([0], Column::Name);
    let mut row = |from: &str, to: &str, way: &WireWay| {
        let numbers = [way.frames_in, way.frames_out, way.refused_frames].map(count);
        let [before, after, lost] = numbers;
        table.row([format!("{from} to {to}"), before, after, lost]);
    };
    row(&report.input, &report.output, &report.forward.way);
    row(&report.output, &report.input, &report.back);
    page.table(&table, INDENT, |_| Tone::Plain);
}
