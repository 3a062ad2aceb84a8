//! The page of a replay: what became of the frames, why, and of each connection.

use std::io::{self, Write};

use coalescope_replay::facts::{Connection, Replay};
use maud::html;

use super::bars::{self, Bar};
use super::page::Page;
use super::table::{Kind, MOST, Table};
use super::verdict::{self, Headline, Tone};
use super::{made, notes};
use crate::made::Made;
use crate::words::replay::{
    absorbed, by_count, clock, largest, name, row, sorts, top_reasons, verdict as text,
};
use crate::words::units::{bytes, count, percent, three_digits};

/// Writes the page.
pub(crate) fn write(replay: &Replay, made: &Made, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(format!("coalescope replay: {}", replay.profile));
    let said = Headline {
        impact: None,
        text: &text(replay),
        tone: Tone::Plain,
        sure: None,
        picture: None,
    };
    verdict::section(&mut page, &said);
    frames(&mut page, replay);
    reasons(&mut page, replay);
    connections(&mut page, &replay.connections)?;
    notes::section(&mut page, &replay.warnings);
    made::section(&mut page, made);
    page.write(out)
}

fn frames(page: &mut Page, replay: &Replay) {
    let after = replay.acks_before.saturating_sub(replay.acks_saved);
    let pairs = [
        ("all frames", replay.frames_in, replay.frames_out),
        (
            "frames with data",
            replay.data_frames_in,
            replay.data_frames_out,
        ),
        ("ACKs in answer, estimated", replay.acks_before, after),
    ];
    let bars: Vec<Bar> = pairs
        .into_iter()
        .flat_map(|(name, before, after)| [bar(name, true, before), bar(name, false, after)])
        .collect();
    let mean = replay.merge_factor_mean.map(three_digits);
    let body = html! {
        (bars::figure("frames", "Frames in and out", &bars))
        p { "Bytes: " (bytes(replay.bytes_in)) " in, " (bytes(replay.bytes_out)) " out." }
        @if let Some(mean) = mean {
            p {
                "Merge factor: " (mean) " data frames in for each one out; "
                (replay.merge_factor_max.unwrap_or(1)) " in the largest."
            }
        }
        p { (clock(replay)) }
        @if let Some(absorbed) = absorbed(replay) { p { (absorbed) } }
        p.note { "Rules: " (replay.profile_source) }
    };
    page.section("frames-drawn", "What became of the frames", body);
}

fn bar(name: &str, is_before: bool, frames: u64) -> Bar {
    Bar {
        name: format!("{name}, {}", if is_before { "before" } else { "after" }),
        value: frames as f64,
        text: count(frames),
        class: if is_before { "single" } else { "merged" },
    }
}

fn reasons(page: &mut Page, replay: &Replay) {
    let body = html! {
        @for (i, (sort, counts)) in sorts(&replay.reasons).into_iter().enumerate() {
            @if !counts.is_empty() {
                @let bars: Vec<Bar> = by_count(counts).into_iter().map(|(reason, frames)| Bar {
                    name: reason.to_owned(),
                    value: frames as f64,
                    text: format!("{} ({})", count(frames), percent(frames, replay.frames_in)),
                    class: "single",
                }).collect();
                h3 { "Frames: " (sort) }
                (bars::figure(&format!("reasons-{i}"), sort, &bars))
            }
        }
        p.note { "Shares are of all frames in. Each drawing has its own scale." }
    };
    page.section("reasons", "Why", body);
}

const COLUMNS: [(&str, Kind); 8] = [
    ("connection, one direction", Kind::Text),
    ("bytes", Kind::Number),
    ("frames in", Kind::Number),
    ("out", Kind::Number),
    ("merged", Kind::Number),
    ("frames in one, mean / max", Kind::Number),
    ("ACKs saved", Kind::Number),
    ("commonest reasons", Kind::Text),
];

fn connections(page: &mut Page, all: &[Connection]) -> io::Result<()> {
    let rows: Vec<Vec<String>> = largest(all, MOST)
        .into_iter()
        .map(|one| {
            let first = std::iter::once(name(one));
            first
                .chain(row(one))
                .chain([top_reasons(&one.reasons)])
                .collect()
        })
        .collect();
    let table = Table {
        id: "connections-table",
        caption: "Connections, each direction, largest first",
        columns: &COLUMNS,
        rows: &rows,
        of: all.len(),
    };
    page.section("connections", "Connections", table.markup()?);
    Ok(())
}
