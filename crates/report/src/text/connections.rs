//! For each point, its connections.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::SocketAddr;

use coalescope_capture::facts::{Connection, Direction, Point, Vantage};
use coalescope_knowledge::Limit;
use comfy_table::CellAlignment;

use super::page::{self, Page, Tone};
use super::units::{UNKNOWN, byte_rate, bytes, count, counted, seconds, short_count, three_digits};
use crate::Report;

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
    "window,
segments",
    "\nlimit",
];

const LEGEND: &str = "resent: whole frames seen here before; late: more than a round trip behind, \
    most likely lost before this point; window: segments that a round trip delivers";

/// What limits the connections of a point, by id.
type Limits = HashMap<u64, Limit>;

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

fn title(point: &Point) -> String {
    let frames = counted(point.frames, "frame");
    let connections = counted(point.connections.len() as u64, "connection");
    let span = point
        .first_s
        .zip(point.last_s)
        .map(|(first, last)| last - first);
    let span = span.map_or(String::new(), |span| format!(" in {}", seconds(span)));
    format!(
        "{}: {frames}, {}{span}, {connections}",
        point.name,
        bytes(point.bytes)
    )
}

fn limits(report: &Report, point: &Point) -> Limits {
    let all = report.diagnosis.limits.iter();
    all.filter(|limit| limit.point == point.name)
        .map(|limit| (limit.connection, limit.limit))
        .collect()
}

fn list(page: &mut Page, point: &Point, limits: &Limits, most: usize) {
    if point.connections.is_empty() {
        return;
    }
    let limit_of = |connection: &Connection| limits.get(&connection.id).copied();
    let left_out = point.connections.len().saturating_sub(most);
    let sorted = first(&point.connections, most, |connection| {
        let bytes = busier(connection).0.unique_bytes;
        (rank(limit_of(connection)), Reverse(bytes), connection.id)
    });
    let mut table = page::table(HEADER);
    for connection in &sorted {
        table.add_row(row(connection, limit_of(connection)));
    }
    page::align(&mut table, HEADER.len() - 1, CellAlignment::Left);
    page.table_with_captions(&table, INDENT, |i| caption(sorted[i]));
    if left_out > 0 {
        let left_out = format!("{} more left out", count(left_out as u64));
        page.paragraph("  ", "  ", &left_out, Tone::Plain);
    }
}

/// The first so many connections in the order of their keys: of very many, few are shown, and to
/// put all of them in order would take longer than to read them.
fn first<K: Ord>(
    connections: &[Connection],
    most: usize,
    key: impl Fn(&Connection) -> K,
) -> Vec<&Connection> {
    let keyed = connections
        .iter()
        .map(|connection| (key(connection), connection));
    let mut keyed: Vec<_> = keyed.collect();
    if most < keyed.len() {
        keyed.select_nth_unstable_by(most, |a, b| a.0.cmp(&b.0));
        keyed.truncate(most);
    }
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    keyed
        .into_iter()
        .map(|(_, connection)| connection)
        .collect()
}

/// The direction in which most data went, and where to.
fn busier(connection: &Connection) -> (&Direction, &'static str) {
    if connection.to_server.unique_bytes > connection.to_client.unique_bytes {
        (&connection.to_server, "to the server")
    } else {
        (&connection.to_client, "to the client")
    }
}

/// Trouble first.
fn rank(limit: Option<Limit>) -> u8 {
    match limit {
        Some(Limit::MergedLoss) => 0,
        Some(Limit::Unclear) => 1,
        Some(Limit::Loss) => 2,
        Some(Limit::Reordering) => 3,
        _ => 4,
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
        known(data.throughput_bps, byte_rate),
        known(data.effective_window_segments, three_digits),
        limit.map_or(UNKNOWN, word).to_owned(),
    ]
}

fn merge_factor(data: &Direction) -> String {
    let mean = known(data.merge_factor_mean, three_digits);
    let max = known(data.merge_factor_max, |max| max.to_string());
    format!("{mean} / {max}")
}

fn out_of_order(data: &Direction) -> String {
    match (data.out_of_order_frames, data.late_frames) {
        (0, _) => "0".to_owned(),
        (all, late) => format!("{} / {}", short_count(all), short_count(late)),
    }
}

fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

fn word(limit: Limit) -> &'static str {
    match limit {
        Limit::MergedLoss => "merged loss",
        Limit::Loss => "loss",
        Limit::Unclear => "unclear",
        Limit::Reordering => "reordering",
        Limit::ReceiverWindow => "receiver window",
        Limit::SenderIdle => "sender idle",
        Limit::PathBandwidth => "path bandwidth",
        Limit::TooShort => "too short",
        Limit::None => "none",
    }
}

/// The line above a row: which connection it is, and how it was seen.
fn caption(connection: &Connection) -> String {
    let Connection {
        id, client, server, ..
    } = connection;
    let ends = [client, server].map(|end| SocketAddr::new(end.address, end.port));
    let (data, toward) = busier(connection);
    let mut text = format!("#{id} {} -> {}, data {toward}", ends[0], ends[1]);
    let vantage = match connection.vantage {
        Vantage::Client => ", seen at the client",
        Vantage::Server => ", seen at the server",
        Vantage::Between => ", seen in between",
        Vantage::Unknown => "",
    };
    text.push_str(vantage);
    if data.tso_frames > 0 {
        text.push_str(" before it was cut into segments (TSO)");
    }
    if let Some(tunnel) = &connection.tunnel {
        text.push_str(&format!(", in {tunnel}"));
    }
    for vlan in &connection.vlans {
        text.push_str(&format!(", VLAN {vlan}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_are_those_of_the_whole_order() {
        let connections: Vec<Connection> = (0..50)
            .map(|id| Connection {
                id,
                ..Connection::default()
            })
            .collect();
        let ids = |most| -> Vec<u64> {
            let few = first(&connections, most, |connection| connection.id * 7919 % 50);
            few.into_iter().map(|connection| connection.id).collect()
        };
        let all = ids(usize::MAX);
        assert_eq!(all.len(), 50);
        for most in 0..50 {
            assert_eq!(ids(most), all[..most]);
        }
    }
}
