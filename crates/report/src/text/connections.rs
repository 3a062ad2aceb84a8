//! The connections of each point.

use coalescope_capture::facts::{Connection, Point, Vantage};
use coalescope_knowledge::Limit;

use super::grid::{Column, Grid};
use super::page::{Page, Tone};
use crate::Report;
use crate::words::connections::{
    LEGEND, around, busier, ends, known, limits, listed, merge_factor, out_of_order, title,
    vantage, word,
};
use crate::words::units::{UNKNOWN, bit_rate, bytes, count, seconds, short_count, three_digits};

const INDENT: usize = 2;
const HEADER: [&str; 9] = [
    "\nbytes",
    "segment\nsize",
    "merged
mean / max",
    "\nresent",
    "reordered
/ late",
    "RTT
min",
    "
rate",
    "window in
segments",
    "\nlimit",
];

pub(crate) fn show(page: &mut Page, report: &Report, most: Option<usize>) {
    page.heading("Connections at each point, worst and largest first");
    if report
        .trace
        .points
        .iter()
        .any(|point| !point.connections.is_empty())
    {
        page.paragraph("", "", LEGEND, Tone::Plain);
    }
    for point in &report.trace.points {
        page.gap();
        page.paragraph("", "  ", &title(point), Tone::Plain);
        list(
            page,
            point,
            &limits(report, point),
            most.unwrap_or(usize::MAX),
        );
    }
}

fn list(page: &mut Page, point: &Point, limits: &[Option<Limit>], most: usize) {
    if point.connections.is_empty() {
        return;
    }
    let left_out = point.connections.len().saturating_sub(most);
    let sorted = listed(point, limits, most);
    let mut table = Grid::new(HEADER).with([HEADER.len() - 1], Column::Name);
    for (connection, limit) in &sorted {
        table.row(row(connection, *limit));
    }
    page.table_with_captions(&table, INDENT, |i| caption(&sorted[i].0));
    if left_out > 0 {
        let left_out = format!("{} more left out", count(left_out as u64));
        page.paragraph("  ", "  ", &left_out, Tone::Plain);
    }
}

fn row(connection: &Connection, limit: Option<Limit>) -> [String; 9] {
    let (data, _) = busier(connection);
    [
        bytes(data.unique_bytes),
        known(data.segment_size_bytes, |size| format!("{size} B")),
        merge_factor(data),
        short_count(data.retransmitted_frames),
        out_of_order(data),
        known(data.rtt_min_s, seconds),
        known(data.throughput_bps, bit_rate),
        known(data.effective_window_segments, three_digits),
        limit.map_or(UNKNOWN, word).to_owned(),
    ]
}

/// The line above a row: the connection, and how it was seen.
fn caption(connection: &Connection) -> String {
    let (data, toward) = busier(connection);
    let mut text = format!("{}, data {toward}", ends(connection));
    if connection.vantage != Vantage::Unknown {
        text.push_str(&format!(", seen {}", vantage(connection)));
    }
    if data.tso_frames > 0 {
        text.push_str(" before it was cut into segments (TSO)");
    }
    for outer in around(connection) {
        text.push_str(&format!(", {outer}"));
    }
    text
}
