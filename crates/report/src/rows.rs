//! A trace as comma-separated values: a row for each connection at each point.

use std::collections::HashMap;
use std::io::{self, Write};

use coalescope_capture::facts::Connection;
use coalescope_knowledge::ConnectionLimit;
use serde::Serialize;

use crate::{Report, separated};

/// What is printed of a connection, before and after its directions.
const FIRST: [&str; 20] = [
    "point",
    "id",
    "network",
    "tunnel",
    "vlans",
    "client.address",
    "client.port",
    "server.address",
    "server.port",
    "vantage",
    "first_s",
    "last_s",
    "first_frame",
    "mss_client_bytes",
    "mss_server_bytes",
    "handshake_rtt_s",
    "phases.connect_s",
    "phases.tls_s",
    "phases.first_byte_s",
    "phases.transfer_s",
];
/// What is printed of each direction.
const OF_DIRECTION: [&str; 25] = [
    "frames",
    "data_frames",
    "payload_bytes",
    "unique_bytes",
    "segment_size_bytes",
    "merged_frames",
    "tso_frames",
    "merge_factor_mean",
    "merge_factor_max",
    "retransmitted_frames",
    "retransmitted_bytes",
    "out_of_order_frames",
    "late_frames",
    "missed_bytes",
    "duplicate_acks",
    "zero_windows",
    "acks",
    "segments_per_ack",
    "throughput_bps",
    "duration_s",
    "rtt_min_s",
    "rtt_median_s",
    "effective_window_segments",
    "repeats.merged_repeated",
    "repeats.single_repeated",
];
/// What limits it: only at one of the points, the one that shows it best.
const LAST: [&str; 2] = ["limit.direction", "limit.limit"];

#[derive(Serialize)]
struct Row<'a> {
    point: &'a str,
    #[serde(flatten)]
    connection: Connection,
    limit: Option<&'a ConnectionLimit>,
}

pub(crate) fn connections(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let limits = report.diagnosis.limits.iter();
    let limits: HashMap<_, _> = limits
        .map(|limit| ((&*limit.point, limit.connection), limit))
        .collect();
    let rows = report.trace.points.iter().flat_map(|point| {
        let limits = &limits;
        point.connections.iter().map(move |connection| Row {
            point: &point.name,
            limit: limits.get(&(point.name.as_str(), connection.id)).copied(),
            connection,
        })
    });
    let columns = columns();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    separated::write_fields(out, &columns, rows)
}

fn columns() -> Vec<String> {
    let direction = |name| OF_DIRECTION.map(|field| format!("{name}.{field}"));
    let directions = [direction("to_server"), direction("to_client")].concat();
    let ends = [&FIRST[..], &LAST].map(|names| names.iter().map(ToString::to_string));
    let [first, last] = ends;
    first.chain(directions).chain(last).collect()
}
