//! Whether a change of one setting has the same effect in the lab as published.

use crate::table::{LabRow, PublishedRow, words_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio nearer to 1 is no difference: a run of a few seconds is not more exact.
const SAME: f64 = 0.1;

/// What a change of one level does to a figure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabAgreement {
    /// The change, and the levels that stay: `GRO off to on (MTU 1500)`.
    pub change: String,
    /// `throughput` or `service demand`.
    pub figure: String,
    /// How many times as much it is afterwards, as published.
    pub published_ratio: f64,
    /// The same here.
    pub measured_ratio: f64,
    /// Both grow, both shrink, or both stay within 10%.
    pub agrees: bool,
}

impl LabAgreement {
    /// What a change of one level does, of all pairs of rows with published figures.
    #[must_use]
    pub fn of(rows: &[LabRow]) -> Vec<Self> {
        let pairs = rows.iter().enumerate().flat_map(|(number, row)| {
            let later = rows.iter().skip(number + 1);
            later.map(move |other| [row, other])
        });
        pairs.flat_map(compared).collect()
    }
}

/// Throughput and service demand of two rows, if they differ in one level and were published.
fn compared(rows: [&LabRow; 2]) -> Vec<LabAgreement> {
    let Some((change, published)) = changed(rows).zip(published(rows)) else {
        return Vec::new();
    };
    let throughput = agrees(
        (&change, "throughput"),
        published.map(|one| Some(one.bps)),
        rows.map(|one| Some(one.bps)),
    );
    let cost = agrees(
        (&change, "service demand"),
        published.map(|one| one.service_demand_us_per_kb),
        rows.map(|one| one.sender_us_per_kb),
    );
    throughput.into_iter().chain(cost).collect()
}

/// The one level in which two rows differ, from and to, and the levels that stay.
fn changed([row, other]: [&LabRow; 2]) -> Option<String> {
    let is_other = |name: &&String| row.levels[*name] != other.levels[*name];
    let mut different = row.levels.keys().filter(is_other);
    let (Some(name), None) = (different.next(), different.next()) else {
        return None;
    };
    let same = words_of(row.levels.iter().filter(|(level, _)| *level != name));
    let [from, to] = [row, other].map(|one| &one.levels[name]);
    Some(format!("{name} {from} to {to} ({same})"))
}

fn published([row, other]: [&LabRow; 2]) -> Option<[PublishedRow; 2]> {
    Some([row.published?, other.published?])
}

fn agrees(
    (change, figure): (&str, &str),
    published: [Option<f64>; 2],
    measured: [Option<f64>; 2],
) -> Option<LabAgreement> {
    let ratio = |[from, to]: [Option<f64>; 2]| {
        let from = from.filter(|from| *from > 0.0);
        Some(to? / from?)
    };
    let (published_ratio, measured_ratio) = (ratio(published)?, ratio(measured)?);
    Some(LabAgreement {
        change: change.to_owned(),
        figure: figure.to_owned(),
        published_ratio,
        measured_ratio,
        agrees: way(published_ratio) == way(measured_ratio),
    })
}

/// The direction of a ratio: 1 if it grows, -1 if it shrinks, 0 if it stays.
fn way(ratio: f64) -> i8 {
    match ratio {
        ratio if ratio > 1.0 + SAME => 1,
        ratio if ratio < 1.0 - SAME => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(gro: &str, mtu: &str, bps: f64, published: Option<f64>) -> LabRow {
        let level = |name: &str, level: &str| (name.to_owned(), level.to_owned());
        LabRow {
            levels: [level("GRO", gro), level("MTU", mtu)].into(),
            bps,
            sender_us_per_kb: None,
            receiver_us_per_kb: None,
            acks_per_segment: None,
            merge_factor: None,
            retransmitted_segments: None,
            published: published.map(|bps| PublishedRow {
                bps,
                service_demand_us_per_kb: Some(1.0),
            }),
        }
    }

    #[test]
    fn a_row_is_its_run_in_the_middle() {
        let runs = [300.0, 1.0, 200.0].map(|bps| row("on", "1500", bps, None));
        assert_eq!(LabRow::middle(runs.iter()).map(|run| run.bps), Some(200.0));
        assert!(LabRow::middle([].iter()).is_none());
    }

    #[test]
    fn changes_of_one_level_are_compared_where_they_were_published() {
        let rows = [
            row("off", "1500", 100.0, Some(1000.0)),
            row("on", "1500", 105.0, Some(1590.0)),
            row("on", "9000", 200.0, Some(3000.0)),
            row("off", "9000", 200.0, None),
        ];
        let found = LabAgreement::of(&rows);
        let words: Vec<_> = found
            .iter()
            .map(|one| (one.change.as_str(), one.agrees))
            .collect();
        assert_eq!(
            words,
            [
                ("GRO off to on (MTU 1500)", false),
                ("MTU 1500 to 9000 (GRO on)", true)
            ]
        );
        assert!((found[0].published_ratio - 1.59).abs() < 1e-9);
        assert!(
            found.iter().all(|one| one.figure == "throughput"),
            "no cost was measured"
        );
    }
}
