//! The connections of each point: the worst first, the rest to be sorted and filtered.

use std::io;

use coalescope_capture::facts::{Connection, Point};
use coalescope_knowledge::Limit;
use maud::{Markup, html};

use super::page::Page;
use super::table::{Kind, MOST, Table};
use crate::Report;
use crate::words::connections::{
    LEGEND, around, busier, ends, known, limits, listed, merge_factor, out_of_order, title,
    vantage, word,
};
use crate::words::units::{UNKNOWN, bit_rate, bytes, count, seconds, three_digits};

const COLUMNS: [(&str, Kind); 13] = [
    ("connection", Kind::Text),
    ("data", Kind::Choice),
    ("limit", Kind::Choice),
    ("bytes", Kind::Number),
    ("segment size", Kind::Number),
    ("segments in a frame, mean / max", Kind::Number),
    ("resent", Kind::Number),
    ("reordered / late", Kind::Number),
    ("RTT min", Kind::Number),
    ("rate", Kind::Number),
    ("window, segments", Kind::Number),
    ("seen", Kind::Choice),
    ("in", Kind::Text),
];

/// Adds the section.
///
/// # Errors
///
/// If a row cannot be written as JSON.
pub(crate) fn section(page: &mut Page, report: &Report) -> io::Result<()> {
    // The points share the number of rows that a page can hold.
    let most = MOST / report.trace.points.len().max(1);
    let points = report.trace.points.iter().enumerate();
    let tables = points.map(|(i, point)| listing(i, point, report, most));
    let tables: Vec<Markup> = tables.collect::<io::Result<_>>()?;
    let body = html! {
        p.note { (LEGEND) }
        @for table in tables { (table) }
    };
    page.section("connections", "Connections, worst and largest first", body);
    Ok(())
}

fn listing(number: usize, point: &Point, report: &Report, most: usize) -> io::Result<Markup> {
    let sorted = listed(point, &limits(report, point), most);
    let rows: Vec<Vec<String>> = sorted
        .iter()
        .map(|(connection, limit)| row(connection, *limit))
        .collect();
    let table = Table {
        id: &format!("connections-{number}"),
        caption: &format!("Connections at {}", point.name),
        columns: &COLUMNS,
        rows: &rows,
        of: point.connections.len(),
    };
    let table = table.markup()?;
    Ok(html! {
        h3 { (title(point)) }
        @if rows.is_empty() { p { "No TCP connection." } } @else { (table) }
    })
}

fn row(connection: &Connection, limit: Option<Limit>) -> Vec<String> {
    let (data, toward) = busier(connection);
    vec![
        ends(connection),
        toward.to_owned(),
        limit.map_or(UNKNOWN, word).to_owned(),
        bytes(data.unique_bytes),
        known(data.segment_size_bytes, |size| format!("{size} B")),
        merge_factor(data),
        count(data.retransmitted_frames),
        out_of_order(data),
        known(data.rtt_min_s, seconds),
        known(data.throughput_bps, bit_rate),
        known(data.effective_window_segments, three_digits),
        vantage(connection).to_owned(),
        around(connection).join(", "),
    ]
}
