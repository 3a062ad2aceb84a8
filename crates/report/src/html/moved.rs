//! Counters that moved during runs, by combination of levels.

use std::collections::BTreeMap;
use std::io;

use coalescope_experiment::counters::Moved;
use coalescope_experiment::record::{Record, Run};
use coalescope_experiment::statistics::Summary;
use maud::html;
use serde_json::Value;

use super::page::Page;
use super::table::{Kind, Table};
use crate::words::units::{UNKNOWN, figure};

/// Figures of each combination, by counter.
type Counters = BTreeMap<String, BTreeMap<usize, Vec<f64>>>;

/// Adds the section, if anything was counted.
///
/// # Errors
///
/// If it cannot be said in JSON.
pub(crate) fn section(page: &mut Page, record: &Record) -> io::Result<()> {
    let counters = counters(record);
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
    let rows = rows(&counters, cells.len());
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

fn counters(record: &Record) -> Counters {
    let mut counters = Counters::new();
    let mut runs: BTreeMap<usize, usize> = BTreeMap::new();
    let counted = |run: &&Run| run.block.is_some() && run.moved.is_some();
    for run in record.runs.iter().filter(counted) {
        *runs.entry(run.cell).or_default() += 1;
        for (name, value) in of_run(run) {
            let of_cell = counters.entry(name).or_default();
            of_cell.entry(run.cell).or_default().push(value);
        }
    }
    stood_still(&mut counters, &runs, &left_out(record));
    counters.retain(|_, cells| cells.values().flatten().any(|value| *value != 0.0));
    counters
}

/// Counters of which it is not known how far they moved in some run.
fn left_out(record: &Record) -> Vec<&str> {
    let moved = record.runs.iter().flat_map(|run| {
        let places = [&run.moved, &run.interface_moved, &run.peer_moved];
        places.into_iter().flatten()
    });
    moved
        .flat_map(|moved| moved.left_out.iter().map(String::as_str))
        .collect()
}

/// What a run does not have did not move, unless that is not known.
fn stood_still(counters: &mut Counters, runs: &BTreeMap<usize, usize>, left_out: &[&str]) {
    for (name, of_cell) in counters {
        if name.split(' ').any(|word| left_out.contains(&word)) {
            continue;
        }
        for (cell, runs) in runs {
            of_cell.entry(*cell).or_default().resize(*runs, 0.0);
        }
    }
}

/// All that moved during a run: here, at the interface if that is elsewhere, and at the other end.
fn of_run(run: &Run) -> Vec<(String, f64)> {
    let places = [
        ("", &run.moved),
        ("at the interface:", &run.interface_moved),
        ("peer:", &run.peer_moved),
    ];
    let known = places
        .into_iter()
        .filter_map(|(place, moved)| Some((place, moved.as_ref()?)));
    known
        .flat_map(|(place, moved)| flat(place, moved))
        .collect()
}

/// Each number with its name: `TcpRetransSegs`, `cpu softirq_s`, `interfaces eth0 rx_packets`.
fn flat(place: &str, moved: &Moved) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    if let Ok(Value::Object(fields)) = serde_json::to_value(moved) {
        for (name, value) in &fields {
            let name = if name == "protocols" { "" } else { name };
            numbers(format!("{place} {name}").trim(), value, &mut found);
        }
    }
    found
}

fn numbers(name: &str, value: &Value, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => {
            found.extend(number.as_f64().map(|number| (name.to_owned(), number)));
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                numbers(format!("{name} {field}").trim_start(), value, found);
            }
        }
        _ => {}
    }
}

/// What is apart first, then by name.
fn rows(counters: &Counters, cells: usize) -> Vec<Vec<String>> {
    let mut rows: Vec<(bool, &str, Vec<Option<Summary>>)> = counters
        .iter()
        .map(|(name, of)| {
            let summary = |cell| Summary::of(of.get(&cell)?, 0);
            let cells: Vec<_> = (0..cells).map(summary).collect();
            (!is_apart(&cells), name.as_str(), cells)
        })
        .collect();
    rows.sort_by_key(|(together, name, _)| (*together, *name));
    let row = |(together, name, cells): (bool, &str, Vec<Option<Summary>>)| {
        let apart = if together { "no" } else { "yes" };
        let medians = cells.iter().map(|cell| {
            let median = cell.as_ref().map(|summary| figure(summary.median, None));
            median.unwrap_or_else(|| UNKNOWN.to_owned())
        });
        let first = [name.to_owned(), apart.to_owned()].into_iter();
        first.chain(medians).collect()
    };
    rows.into_iter().map(row).collect()
}

/// Whether two combinations have nothing in common.
fn is_apart(cells: &[Option<Summary>]) -> bool {
    let known = || cells.iter().flatten();
    known().any(|one| known().any(|other| one.least > other.most))
}
