//! Counters that moved during a record's runs, by combination of levels.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Record, Run};
use crate::counters::Moved;
use crate::statistics::Summary;

/// Figures of each combination, by counter.
type Figures = BTreeMap<String, BTreeMap<usize, Vec<f64>>>;

/// A counter that moved in some run.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its name, with its place: `TcpRetransSegs`, `cpu softirq_s`, `peer: interfaces eth0 rx_packets`.
    pub name: String,
    /// What it came to with each combination, in the order of the record's; none where that is not known.
    pub cells: Vec<Option<Summary>>,
}

impl Counter {
    /// Whether the smallest figure with one combination is larger than the largest with another.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        let known = || self.cells.iter().flatten();
        known().any(|one| known().any(|other| one.least > other.most))
    }
}

impl Record {
    /// All counters that moved: those that are apart first, then by name.
    #[must_use]
    pub fn counters(&self) -> Vec<Counter> {
        let cells = self.cells.as_ref().map_or(0, |cells| cells.cells.len());
        let counter = |(name, of): (String, BTreeMap<usize, Vec<f64>>)| Counter {
            cells: (0..cells)
                .map(|cell| Summary::of(of.get(&cell)?, 0))
                .collect(),
            name,
        };
        let mut counters: Vec<Counter> = figures(self).into_iter().map(counter).collect();
        counters.sort_by_key(|counter| !counter.is_apart());
        counters
    }
}

fn figures(record: &Record) -> Figures {
    let mut counters = Figures::new();
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

/// Counters whose difference is not known in some run.
fn left_out(record: &Record) -> Vec<&str> {
    let moved = record.runs.iter().flat_map(|run| {
        let places = [&run.moved, &run.interface_moved, &run.peer_moved];
        places.into_iter().flatten()
    });
    moved
        .flat_map(|moved| moved.left_out.iter().map(String::as_str))
        .collect()
}

/// Adds zeros: a counter that is missing in a run did not move, unless it was left out.
fn stood_still(counters: &mut Figures, runs: &BTreeMap<usize, usize>, left_out: &[&str]) {
    for (name, of_cell) in counters {
        if name.split(' ').any(|word| left_out.contains(&word)) {
            continue;
        }
        for (cell, runs) in runs {
            of_cell.entry(*cell).or_default().resize(*runs, 0.0);
        }
    }
}

/// All counters that moved during a run: at the workload, at the interface if that is elsewhere,
/// and at the other end.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(cells: &[&[f64]]) -> Counter {
        Counter {
            name: "TcpRetransSegs".to_owned(),
            cells: cells.iter().map(|cell| Summary::of(cell, 0)).collect(),
        }
    }

    #[test]
    fn combinations_are_apart_where_no_figure_of_one_is_among_the_others() {
        assert!(counter(&[&[1.0, 2.0], &[2.5, 9.0]]).is_apart());
        assert!(!counter(&[&[1.0, 3.0], &[2.0, 9.0]]).is_apart());
        assert!(!counter(&[&[1.0], &[1.0]]).is_apart(), "equal");
        assert!(
            !counter(&[&[1.0], &[]]).is_apart(),
            "nothing is known of one"
        );
    }

    #[test]
    fn what_a_run_does_not_have_did_not_move_unless_that_is_not_known() {
        let one = |name: &str| (name.to_owned(), BTreeMap::from([(0, vec![1.0])]));
        let mut figures = Figures::from([one("TcpRetransSegs"), one("interfaces eth0 rx_packets")]);
        stood_still(&mut figures, &BTreeMap::from([(0, 2), (1, 1)]), &["eth0"]);
        let of = |name: &str| &figures[name];
        assert_eq!(
            *of("TcpRetransSegs"),
            BTreeMap::from([(0, vec![1.0, 0.0]), (1, vec![0.0])])
        );
        assert_eq!(
            *of("interfaces eth0 rx_packets"),
            BTreeMap::from([(0, vec![1.0])])
        );
    }
}
