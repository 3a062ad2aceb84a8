//! Counters that moved during runs, by combination of levels.

use std::io;

use coalescope_experiment::record::{Counter, Record};
use maud::html;

use super::page::Page;
use super::table::{Kind, Table};
use crate::words::units::{UNKNOWN, figure};

/// Adds the section, if any counters were read.
///
/// # Errors
///
/// If a row cannot be written as JSON.
pub(crate) fn section(page: &mut Page, record: &Record) -> io::Result<()> {
    let counters = record.counters();
    let cells = record.cells.as_ref().map(|cells| cells.cells.as_slice());
    let cells = cells.unwrap_or_default();
    if counters.is_empty() || cells.is_empty() {
        return Ok(());
    }
    let levels: Vec<String> = cells.iter().map(|cell| cell.levels.join(", ")).collect();
    let heads = levels.iter().map(|levels| (levels.as_str(), Kind::Number));
    let heads: Vec<_> = [("counter", Kind::Text), ("apart", Kind::Choice)]
        .into_iter()
        .chain(heads)
        .collect();
    let rows: Vec<_> = counters.iter().map(row).collect();
    let table = Table {
        id: "counters-table",
        caption: "Counters, medians of a run",
        columns: &heads,
        rows: &rows,
        of: rows.len(),
    };
    let body = html! {
        p.note {
            "Apart: the smallest figure with one combination is larger than the largest with another. Nothing "
            "is tested here: of hundreds of counters some are apart by chance, and longer runs count more."
        }
        (table.markup()?)
    };
    page.section("counters", "Counters that moved", body);
    Ok(())
}

fn row(counter: &Counter) -> Vec<String> {
    let apart = if counter.is_apart() { "yes" } else { "no" };
    let medians = counter.cells.iter().map(|cell| {
        let median = cell.as_ref().map(|summary| figure(summary.median, None));
        median.unwrap_or_else(|| UNKNOWN.to_owned())
    });
    let first = [counter.name.clone(), apart.to_owned()].into_iter();
    first.chain(medians).collect()
}
