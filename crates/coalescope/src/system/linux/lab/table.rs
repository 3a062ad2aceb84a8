//! An incident's table: what each combination of settings gives and costs, beside what was published.

use anyhow::Context;
use coalescope_change::workload::Vantage;
use coalescope_experiment::counters::{self, Moved};
use coalescope_incident::{Build, Incident, Row, Side};
use coalescope_lab::incident::Live;
use coalescope_report::{LabAgreement, LabRow, figure};

use crate::speech;

/// Runs of each row: a single one may meet a busy machine.
const ROUNDS: usize = 3;
/// A ratio nearer to 1 is no difference: a run of a few seconds is not more exact.
const SAME: f64 = 0.1;

/// Measures all rows in rounds, each time on a path of its own; gives each row's run in the middle.
pub(super) fn rows(incident: &Incident) -> anyhow::Result<Vec<LabRow>> {
    let round = || incident.table.iter().map(|row| measured(incident, row));
    let rounds = (0..ROUNDS).map(|_| round().collect());
    let rounds: Vec<Vec<LabRow>> = rounds.collect::<anyhow::Result<_>>()?;
    let runs = |row: usize| rounds.iter().filter_map(move |round| round.get(row));
    let rows = 0..incident.table.len();
    Ok(rows.filter_map(|row| middle(runs(row))).collect())
}

/// The run of median throughput.
fn middle<'a>(runs: impl Iterator<Item = &'a LabRow>) -> Option<LabRow> {
    let mut runs: Vec<_> = runs.collect();
    runs.sort_by(|one, other| one.bps.total_cmp(&other.bps));
    runs.get(runs.len() / 2).map(|run| (*run).clone())
}

fn measured(incident: &Incident, row: &Row) -> anyhow::Result<LabRow> {
    let live = Live::start(incident, Build::Row(row))?;
    let ends = [live.client(), live.server()].map(|room| live.room_name(room));
    let [client, server] = ends.map(|name| name.map(|name| Vantage::Namespace(name.to_owned())));
    let places = [client?, server?];
    let before = both(&places)?;
    let measured = live.measure()?;
    let after = both(&places)?;
    live.stop()?;
    let moved = [0, 1].map(|end| after[end].since(&before[end]));
    let done = row_of(incident, row, measured.bps(), &moved);
    let words = words_of(row.levels.iter());
    speech::tell(&format!(
        "{}: {words}: {}",
        incident.name,
        figure(done.bps, Some("bit/s"))
    ));
    Ok(done)
}

fn both(places: &[Vantage; 2]) -> anyhow::Result<[counters::Counters; 2]> {
    let read = |place| counters::read(place).context("cannot read the counters of a room");
    Ok([read(&places[0])?, read(&places[1])?])
}

fn row_of(incident: &Incident, row: &Row, bps: f64, [client, server]: &[Moved; 2]) -> LabRow {
    let last = incident.rooms().count().saturating_sub(1);
    let client = (client, incident.interface(0, Side::Server));
    let server = (server, incident.interface(last, Side::Client));
    let (sender, receiver) = match incident.workload.upload {
        true => (client, server),
        false => (server, client),
    };
    let of = |(moved, interface): (&Moved, Option<&str>), name: &str| {
        let figures = moved.figures(interface);
        let found = figures.iter().find(|figure| figure.metric.name == name);
        found.map(|figure| figure.value)
    };
    let [acks_per_segment, merge_factor] = per_segment([sender.0, receiver.0]);
    LabRow {
        levels: row.levels.clone(),
        bps,
        sender_us_per_kb: of(sender, "service_demand_us_per_kb"),
        receiver_us_per_kb: of(receiver, "service_demand_us_per_kb"),
        acks_per_segment,
        merge_factor,
        retransmitted_segments: of(sender, "retransmitted_segments"),
        published: row.published,
    }
}

/// ACKs for each segment, and segments for each frame that arrived. Segments are the sender's: a receiver does
/// not count those of a merged frame that comes from a TAP, since its kernel does not trust their number.
fn per_segment([sender, receiver]: [&Moved; 2]) -> [Option<f64>; 2] {
    let first = sender.counter("TcpExtTCPOrigDataSent");
    let again = sender.counter("TcpRetransSegs");
    let sent = first.zip(again).map(|(first, again)| first + again);
    let per = |one: Option<u64>, other: Option<u64>| {
        let other = other.filter(|other| *other > 0)?;
        Some(one? as f64 / other as f64)
    };
    let acks = receiver.counter("TcpOutSegs");
    [per(acks, sent), per(sent, receiver.counter("IpInReceives"))]
}

/// What a change of one level does, of all pairs of rows with published figures.
pub(super) fn agreement(rows: &[LabRow]) -> Vec<LabAgreement> {
    let pairs = rows.iter().enumerate().flat_map(|(number, row)| {
        let later = rows.iter().skip(number + 1);
        later.map(move |other| [row, other])
    });
    pairs.flat_map(compared).collect()
}

/// Throughput and service demand of two rows, if they differ in one level and were published.
fn compared([row, other]: [&LabRow; 2]) -> Vec<LabAgreement> {
    let mut different = row
        .levels
        .keys()
        .filter(|name| row.levels[*name] != other.levels[*name]);
    let (Some(name), None) = (different.next(), different.next()) else {
        return Vec::new();
    };
    let Some((published, other_published)) = row.published.zip(other.published) else {
        return Vec::new();
    };
    let same = words_of(row.levels.iter().filter(|(level, _)| *level != name));
    let change = format!(
        "{name} {} to {} ({same})",
        row.levels[name], other.levels[name]
    );
    let throughput = agrees(
        "throughput",
        [Some(published.bps), Some(other_published.bps)],
        [Some(row.bps), Some(other.bps)],
    );
    let cost = agrees(
        "service demand",
        [published, other_published].map(|one| one.service_demand_us_per_kb),
        [row, other].map(|one| one.sender_us_per_kb),
    );
    let found = [throughput, cost].into_iter().flatten();
    found
        .map(|one| LabAgreement {
            change: change.clone(),
            ..one
        })
        .collect()
}

fn agrees(
    figure: &str,
    published: [Option<f64>; 2],
    measured: [Option<f64>; 2],
) -> Option<LabAgreement> {
    let ratio = |[from, to]: [Option<f64>; 2]| {
        let from = from.filter(|from| *from > 0.0);
        Some(to? / from?)
    };
    let (published_ratio, measured_ratio) = (ratio(published)?, ratio(measured)?);
    Some(LabAgreement {
        change: String::new(),
        figure: figure.to_owned(),
        published_ratio,
        measured_ratio,
        agrees: way(published_ratio) == way(measured_ratio),
    })
}

/// 1 if it grows, -1 if it shrinks, 0 if it stays.
fn way(ratio: f64) -> i8 {
    match ratio {
        ratio if ratio > 1.0 + SAME => 1,
        ratio if ratio < 1.0 - SAME => -1,
        _ => 0,
    }
}

fn words_of<'a>(levels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let words: Vec<_> = levels
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalescope_incident::PublishedRow;

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
        assert_eq!(middle(runs.iter()).map(|run| run.bps), Some(200.0));
        assert!(middle([].iter()).is_none());
    }

    #[test]
    fn segments_are_those_that_the_sender_sent() {
        let moved = |counters: &[(&str, u64)]| Moved {
            protocols: counters
                .iter()
                .map(|(name, moved)| ((*name).to_owned(), *moved))
                .collect(),
            ..Moved::default()
        };
        let sender = moved(&[("TcpExtTCPOrigDataSent", 90), ("TcpRetransSegs", 10)]);
        let receiver = moved(&[("TcpOutSegs", 20), ("IpInReceives", 25)]);
        assert_eq!(per_segment([&sender, &receiver]), [Some(0.2), Some(4.0)]);
        assert_eq!(per_segment([&receiver, &sender]), [None, None]);
    }

    #[test]
    fn changes_of_one_level_are_compared_where_they_were_published() {
        let rows = [
            row("off", "1500", 100.0, Some(1000.0)),
            row("on", "1500", 105.0, Some(1590.0)),
            row("on", "9000", 200.0, Some(3000.0)),
            row("off", "9000", 200.0, None),
        ];
        let found = agreement(&rows);
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
