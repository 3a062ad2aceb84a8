//! An incident's table: throughput and costs of each combination of settings, beside published figures.

use anyhow::Context;
use coalescope_change::workload::Vantage;
use coalescope_experiment::counters::{self, Moved};
use coalescope_incident::{Build, Incident, LabRow, Row, Side};
use coalescope_lab::incident::Live;
use coalescope_report::figure;

use crate::speech;

/// Runs of each row: a single one may meet a busy machine.
const ROUNDS: usize = 3;
/// Measures all rows in rounds, each on a path of its own; returns the median run of each row.
pub(super) fn rows(incident: &Incident) -> anyhow::Result<Vec<LabRow>> {
    let round = || incident.table.iter().map(|row| measured(incident, row));
    let rounds = (0..ROUNDS).map(|_| round().collect());
    let rounds: Vec<Vec<LabRow>> = rounds.collect::<anyhow::Result<_>>()?;
    let runs = |row: usize| rounds.iter().filter_map(move |round| round.get(row));
    let rows = 0..incident.table.len();
    Ok(rows.filter_map(|row| LabRow::middle(runs(row))).collect())
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
    speech::tell(&format!(
        "{}: {}: {}",
        incident.name,
        done.label(),
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

/// ACKs per segment, and segments per received frame. Segments are counted at the sender: a
/// receiver does not count the segments of a merged frame from a TAP, since its kernel does not
/// trust their number (`SKB_GSO_DODGY`).
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
