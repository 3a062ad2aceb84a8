//! A replay for people: outcomes of the frames, reasons, connections, notes.

use std::io::{self, Write};

use coalescope_replay::facts::{Connection, Reasons, Replay};

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use super::{TextOptions, finish, notes, warn};
use crate::words::replay::{absorbed, by_count, caption, clock, largest, row, sorts, verdict};
use crate::words::units::{bytes, count, percent};

const INDENT: usize = 2;

pub(crate) fn write(replay: &Replay, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
    let mut page = Page::new(options);
    warn(&mut page, &replay.warnings);
    page.paragraph("", "", &verdict(replay), Tone::Plain);
    if page.is_brief() {
        return finish(&page, out);
    }
    frames(&mut page, replay);
    reasons(&mut page, &replay.reasons, replay.frames_in);
    connections(
        &mut page,
        &replay.connections,
        options.connections.unwrap_or(usize::MAX),
    );
    notes(&mut page, &replay.warnings);
    finish(&page, out)
}

fn frames(page: &mut Page, replay: &Replay) {
    page.heading("Frames");
    let mut table = Grid::new(["", "in", "out"]).with([0], Column::Name);
    let mut row = |name: &str, before: String, after: String| {
        table.row([name.to_owned(), before, after]);
    };
    row("frames", count(replay.frames_in), count(replay.frames_out));
    let data = [replay.data_frames_in, replay.data_frames_out].map(count);
    let [before, after] = data;
    row("with data", before, after);
    row("bytes", bytes(replay.bytes_in), bytes(replay.bytes_out));
    let after = replay.acks_before.saturating_sub(replay.acks_saved);
    row(
        "ACKs in answer, estimated",
        count(replay.acks_before),
        count(after),
    );
    page.table(&table, INDENT, |_| Tone::Plain);
    page.paragraph("  ", "  ", &clock(replay), Tone::Plain);
    if let Some(text) = absorbed(replay) {
        page.paragraph("  ", "  ", &text, Tone::Plain);
    }
}

/// Why frames were not merged, and why held frames were flushed.
pub(super) fn reasons(page: &mut Page, reasons: &Reasons, frames_in: u64) {
    page.heading("Why");
    let mut table = Grid::new(["", "frames", "of all in", "reason"])
        .with([0], Column::Words)
        .with([3], Column::Name);
    for (sort, counts) in sorts(reasons) {
        for (reason, n) in by_count(counts) {
            table.row([
                sort.to_owned(),
                count(n),
                percent(n, frames_in),
                reason.to_owned(),
            ]);
        }
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}

fn connections(page: &mut Page, all: &[Connection], most: usize) {
    page.heading("Connections, each direction, largest first");
    let sorted = largest(all, most);
    let left_out = all.len() - sorted.len();
    let header = [
        "bytes",
        "frames in",
        "out",
        "merged",
        "mean / max",
        "ACKs saved",
    ];
    let mut table = Grid::new(header);
    for connection in &sorted {
        table.row(row(connection));
    }
    page.table_with_captions(&table, INDENT, |i| caption(sorted[i]));
    if left_out > 0 {
        let left_out = format!("{} more left out", count(left_out as u64));
        page.paragraph("  ", "  ", &left_out, Tone::Plain);
    }
}
