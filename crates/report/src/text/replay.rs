//! A replay for people: what became of the frames, why, connections, notes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;

use coalescope_replay::facts::{Connection, Endpoint, Reasons, Replay};
use comfy_table::CellAlignment;

use super::TextOptions;
use super::page::{self, Page, Tone};
use crate::words::units::{UNKNOWN, bytes, count, counted, percent, short_count, three_digits};

const INDENT: usize = 2;
/// Reasons named for each connection.
const TOP_REASONS: usize = 3;

pub(crate) fn write(replay: &Replay, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
    let mut page = Page::new(options.colour);
    page.paragraph("", "", &verdict(replay), Tone::Plain);
    frames(&mut page, replay);
    reasons(&mut page, &replay.reasons, replay.frames_in);
    connections(
        &mut page,
        &replay.connections,
        options.connections.unwrap_or(usize::MAX),
    );
    notes(&mut page, &replay.warnings);
    out.write_all(page.text().as_bytes())?;
    out.flush()
}

fn verdict(replay: &Replay) -> String {
    let all = counted(replay.frames_in, "frame");
    let profile = &replay.profile;
    let Some(mean) = replay.merge_factor_mean else {
        return format!("Under {profile} nothing could be merged: no frame of {all} carries data.");
    };
    if replay.merged_frames == 0 {
        return format!("Under {profile} nothing would be merged of {all}.");
    }
    let out = counted(replay.frames_out, "frame");
    let merged = count(replay.merged_frames);
    let max = replay.merge_factor_max.unwrap_or(1);
    let mean = three_digits(mean);
    format!(
        "Under {profile} {all} would become {out}, {merged} of them merged: {mean} data frames in \
         for each one out, {max} in the largest. {}",
        reversible(replay)
    )
}

fn reversible(replay: &Replay) -> String {
    if replay.reversible {
        return "A forwarder could cut each of them again into what it was made of.".to_owned();
    }
    let lossy = count(replay.irreversible_frames);
    format!("{lossy} frames could not be cut again into exactly what they were made of.")
}

fn frames(page: &mut Page, replay: &Replay) {
    page.heading("Frames");
    let mut table = page::table(["", "in", "out"]);
    let mut row = |name: &str, before: String, after: String| {
        table.add_row([name.to_owned(), before, after]);
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
    page::align(&mut table, 0, CellAlignment::Left);
    page.table(&table, INDENT, |_| Tone::Plain);
    page.paragraph("  ", "  ", &clock(replay), Tone::Plain);
    if replay.absorbed_frames > 0 {
        let absorbed = counted(replay.absorbed_frames, "frame");
        let text = format!("{absorbed} without data came out as part of another");
        page.paragraph("  ", "  ", &text, Tone::Plain);
    }
}

fn clock(replay: &Replay) -> String {
    let polls = counted(replay.polls, "poll");
    match replay.interval_us {
        0 => format!("{polls}: each frame by itself"),
        interval => format!("{polls} of {} us at most", count(interval)),
    }
}

/// What each sort of reason says, and its counts.
fn sorts(reasons: &Reasons) -> [(&'static str, &BTreeMap<&'static str, u64>); 3] {
    [
        ("passed as it came", &reasons.passed),
        ("did not join, held anew", &reasons.refused),
        ("held went up", &reasons.flushed),
    ]
}

/// Why frames were not merged, and why held ones went up.
pub(super) fn reasons(page: &mut Page, reasons: &Reasons, frames_in: u64) {
    page.heading("Why");
    let mut table = page::table(["", "frames", "of all in", "reason"]);
    for (sort, counts) in sorts(reasons) {
        for (reason, n) in by_count(counts) {
            table.add_row([
                sort.to_owned(),
                count(n),
                percent(n, frames_in),
                reason.to_owned(),
            ]);
        }
    }
    for column in [0, 3] {
        page::align(&mut table, column, CellAlignment::Left);
    }
    page.table(&table, INDENT, |_| Tone::Plain);
}

/// The most frequent first.
fn by_count(counts: &BTreeMap<&'static str, u64>) -> Vec<(&'static str, u64)> {
    let mut sorted: Vec<_> = counts.iter().map(|(&reason, &n)| (reason, n)).collect();
    sorted.sort_by_key(|&(_, n)| Reverse(n));
    sorted
}

fn connections(page: &mut Page, all: &[Connection], most: usize) {
    page.heading("Connections, each direction, largest first");
    let mut sorted: Vec<&Connection> = all.iter().collect();
    sorted.sort_by_key(|connection| (Reverse(connection.bytes_in), connection.id));
    let left_out = sorted.len().saturating_sub(most);
    sorted.truncate(most);
    let header = [
        "bytes",
        "frames in",
        "out",
        "merged",
        "mean / max",
        "ACKs saved",
    ];
    let mut table = page::table(header);
    for connection in &sorted {
        table.add_row(row(connection));
    }
    page.table_with_captions(&table, INDENT, |i| caption(sorted[i]));
    if left_out > 0 {
        let left_out = format!("{} more left out", count(left_out as u64));
        page.paragraph("  ", "  ", &left_out, Tone::Plain);
    }
}

fn row(connection: &Connection) -> [String; 6] {
    let mean = connection.merge_factor_mean.map(three_digits);
    let max = connection.merge_factor_max.map(|max| max.to_string());
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    [
        bytes(connection.bytes_in),
        short_count(connection.frames_in),
        short_count(connection.frames_out),
        short_count(connection.merged_frames),
        format!("{} / {}", known(mean), known(max)),
        short_count(connection.acks_saved),
    ]
}

/// The line above a row: which connection it is, and its commonest reasons.
fn caption(connection: &Connection) -> String {
    let Connection {
        id,
        source,
        destination,
        protocol,
        ..
    } = connection;
    let [from, to] =
        [source, destination].map(|end: &Endpoint| SocketAddr::new(end.address, end.port));
    let mut text = format!("#{id} {protocol} {from} -> {to}");
    if let Some(tunnel) = &connection.tunnel {
        text.push_str(&format!(", in {tunnel}"));
    }
    let top = top_reasons(&connection.reasons);
    if !top.is_empty() {
        text.push_str(&format!(": {top}"));
    }
    text
}

fn top_reasons(reasons: &Reasons) -> String {
    let sorts = sorts(reasons)
        .into_iter()
        .zip(["passed", "held anew", "went up"]);
    let mut all: Vec<_> = sorts
        .flat_map(|((_, counts), word)| {
            by_count(counts).into_iter().map(move |entry| (word, entry))
        })
        .collect();
    all.sort_by_key(|&(_, (_, n))| Reverse(n));
    let top = all.iter().take(TOP_REASONS);
    let words = top.map(|(word, (reason, n))| format!("{} {word} ({reason})", count(*n)));
    words.collect::<Vec<_>>().join(", ")
}

pub(super) fn notes(page: &mut Page, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    page.heading("Notes");
    for warning in warnings {
        page.paragraph("  - ", "    ", warning, Tone::Plain);
    }
}
