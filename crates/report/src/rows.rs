//! A trace as comma-separated values: one row per connection at each point.

use std::collections::HashMap;
use std::io::{self, Write};

use coalescope_capture::facts::{Connection, Direction};
use serde::Serialize;
use serde_json::Value;

use crate::Report;
use crate::separated::{self, Cell};

/// A column: the path of a field in the JSON, and its value.
type Column<T> = (&'static str, for<'a> fn(&'a T) -> Cell<'a>);

/// Name of the column with the point.
const POINT: &str = "point";
/// Columns of a connection, before its directions.
#[rustfmt::skip]
const OF_CONNECTION: [Column<Connection>; 19] = [
    ("id", |c| c.id.into()),
    ("network", |c| c.network.into()),
    ("tunnel", |c| c.tunnel.as_deref().into()),
    ("vlans", |c| listed(&c.vlans)),
    ("client.address", |c| c.client.address.to_string().into()),
    ("client.port", |c| c.client.port.into()),
    ("server.address", |c| c.server.address.to_string().into()),
    ("server.port", |c| c.server.port.into()),
    ("vantage", |c| name(c.vantage)),
    ("first_s", |c| c.first_s.into()),
    ("last_s", |c| c.last_s.into()),
    ("first_frame", |c| c.first_frame.into()),
    ("mss_client_bytes", |c| c.mss_client_bytes.into()),
    ("mss_server_bytes", |c| c.mss_server_bytes.into()),
    ("handshake_rtt_s", |c| c.handshake_rtt_s.into()),
    ("phases.connect_s", |c| c.phases.connect_s.into()),
    ("phases.tls_s", |c| c.phases.tls_s.into()),
    ("phases.first_byte_s", |c| c.phases.first_byte_s.into()),
    ("phases.transfer_s", |c| c.phases.transfer_s.into()),
];
/// Columns of each direction.
#[rustfmt::skip]
const OF_DIRECTION: [Column<Direction>; 25] = [
    ("frames", |d| d.frames.into()),
    ("data_frames", |d| d.data_frames.into()),
    ("payload_bytes", |d| d.payload_bytes.into()),
    ("unique_bytes", |d| d.unique_bytes.into()),
    ("segment_size_bytes", |d| d.segment_size_bytes.into()),
    ("merged_frames", |d| d.merged_frames.into()),
    ("tso_frames", |d| d.tso_frames.into()),
    ("merge_factor_mean", |d| d.merge_factor_mean.into()),
    ("merge_factor_max", |d| d.merge_factor_max.into()),
    ("retransmitted_frames", |d| d.retransmitted_frames.into()),
    ("retransmitted_bytes", |d| d.retransmitted_bytes.into()),
    ("out_of_order_frames", |d| d.out_of_order_frames.into()),
    ("late_frames", |d| d.late_frames.into()),
    ("missed_bytes", |d| d.missed_bytes.into()),
    ("duplicate_acks", |d| d.duplicate_acks.into()),
    ("zero_windows", |d| d.zero_windows.into()),
    ("acks", |d| d.acks.into()),
    ("segments_per_ack", |d| d.segments_per_ack.into()),
    ("throughput_bps", |d| d.throughput_bps.into()),
    ("duration_s", |d| d.duration_s.into()),
    ("rtt_min_s", |d| d.rtt_min_s.into()),
    ("rtt_median_s", |d| d.rtt_median_s.into()),
    ("effective_window_segments", |d| d.effective_window_segments.into()),
    ("repeats.merged_repeated", |d| d.repeats.merged_repeated.into()),
    ("repeats.single_repeated", |d| d.repeats.single_repeated.into()),
];
/// The limit of a connection: only at one of the points, the one that shows it best.
const OF_LIMIT: [&str; 2] = ["limit.direction", "limit.limit"];

pub(crate) fn connections(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let limits = report.diagnosis.limits.iter();
    let limits: HashMap<_, _> = limits
        .map(|limit| ((&*limit.point, limit.connection), limit))
        .collect();
    let points = report.trace.points.iter();
    let rows = points.flat_map(|point| {
        let name = point.name.as_str();
        point.connections.iter().map(move |one| (name, one))
    });
    separated::write_cells(out, &header(), rows, |(point, connection), put| {
        put((*point).into());
        OF_CONNECTION.iter().for_each(|(_, of)| put(of(connection)));
        for direction in [&connection.to_server, &connection.to_client] {
            OF_DIRECTION.iter().for_each(|(_, of)| put(of(direction)));
        }
        let limit = limits.get(&(*point, connection.id));
        put(limit.map(|limit| limit.direction).into());
        put(limit.map_or(Cell::Empty, |limit| name(limit.limit)));
    })
}

fn header() -> Vec<String> {
    let direction = |name| OF_DIRECTION.map(|(field, _)| format!("{name}_{field}"));
    let names = [POINT]
        .into_iter()
        .chain(OF_CONNECTION.map(|(name, _)| name));
    let names = names.map(ToOwned::to_owned);
    let directions = [direction("to_server"), direction("to_client")].concat();
    let last = OF_LIMIT.map(ToOwned::to_owned);
    let all = names.chain(directions).chain(last);
    all.map(|name| name.replace('.', "_")).collect()
}

/// The JSON name of an enum's value.
fn name<'a>(one: impl Serialize) -> Cell<'a> {
    match serde_json::to_value(one) {
        Ok(Value::String(name)) => name.into(),
        _ => Cell::Empty,
    }
}

fn listed<'a>(numbers: &[u16]) -> Cell<'a> {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    numbers.join("; ").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(thing: &Value, path: &str) -> bool {
        path.split('.')
            .try_fold(thing, |thing, name| thing.get(name))
            .is_some()
    }

    #[test]
    fn columns_are_called_as_in_json() {
        let connection = serde_json::to_value(Connection::default()).unwrap();
        for (name, _) in OF_CONNECTION {
            assert!(is_in(&connection, name), "{name}");
        }
        for (name, _) in OF_DIRECTION {
            assert!(is_in(&connection["to_server"], name), "{name}");
        }
    }

    #[test]
    fn cells_are_what_json_says() {
        let mut connection = Connection {
            vlans: vec![7, 8],
            first_s: 1_704_067_200.000_012,
            ..Connection::default()
        };
        connection.to_client.rtt_min_s = Some(1e-7);
        connection.to_client.duration_s = Some(2.0);
        let json = serde_json::to_value(&connection).unwrap();
        let text = |cell: Cell<'_>| match cell {
            Cell::Empty => String::new(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) => Value::from(number).to_string(),
            Cell::Text(text) => text.into_owned(),
        };
        for (name, of) in OF_CONNECTION {
            assert_eq!(
                text(of(&connection)),
                separated::cell(&json, name),
                "{name}"
            );
        }
        for (name, of) in OF_DIRECTION {
            let expected = separated::cell(&json["to_client"], name);
            assert_eq!(text(of(&connection.to_client)), expected, "{name}");
        }
    }
}
