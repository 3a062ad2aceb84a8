//! For each point, its connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;

use coalescope_capture::facts::{Connection, Direction, Point, Vantage};
use coalescope_knowledge::Limit;
use comfy_table::CellAlignment;

use super::page::{self, Page, Tone};
use crate::Report;
use crate::words::units::{
    UNKNOWN, byte_rate, bytes, count, counted, seconds, short_count, three_digits,
};

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

/// Those of the connections of a point that are known, by place.
fn limits(report: &Report, point: &Point) -> Vec<Option<Limit>> {
    let mut limits = vec![None; point.connections.len()];
    let all = report.diagnosis.limits.iter();
    for limit in all.filter(|limit| *limit.point == *point.name) {
        let place = usize::try_from(limit.connection).ok();
        if let Some(place) = place.and_then(|place| limits.get_mut(place)) {
            *place = Some(limit.limit);
        }
    }
    limits
}

fn list(page: &mut Page, point: &Point, limits: &[Option<Limit>], most: usize) {
    if point.connections.is_empty() {
        return;
    }
    let left_out = point.connections.len().saturating_sub(most);
    let sorted = listed(point, limits, most);
    let mut table = page::table(HEADER);
    for (connection, limit) in &sorted {
        table.add_row(row(connection, *limit));
    }
    page::align(&mut table, HEADER.len() - 1, CellAlignment::Left);
    page.table_with_captions(&table, INDENT, |i| caption(&sorted[i].0));
    if left_out > 0 {
        let left_out = format!("{} more left out", count(left_out as u64));
        page.paragraph("  ", "  ", &left_out, Tone::Plain);
    }
}

/// The connections to list, worst and largest first, with their limits.
fn listed(
    point: &Point,
    limits: &[Option<Limit>],
    most: usize,
) -> Vec<(Connection, Option<Limit>)> {
    let bytes = point.connections.most_bytes();
    let keys = limits.iter().zip(bytes).enumerate();
    let keys = keys.map(|(place, (limit, bytes))| (rank(*limit), Reverse(bytes), place));
    let places = first(keys, most).into_iter().map(|key| key.2);
    places
        .filter_map(|place| Some((point.connections.get(place as u64)?, limits[place])))
        .collect()
}

/// The first so many keys in order: of very many connections few are shown, and to keep all of them
/// and put them in order would take longer than to read them.
fn first<K: Ord>(keys: impl Iterator<Item = K>, most: usize) -> Vec<K> {
    let mut least = BinaryHeap::new();
    for key in keys {
        if least.len() < most {
            least.push(key);
        } else if let Some(mut last) = least.peek_mut()
            && key < *last
        {
            *last = key;
        }
    }
    least.into_sorted_vec()
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
        let ids = |most| first((0..50).map(|id| (id * 7919 % 50, id)), most);
        let all = ids(usize::MAX);
        assert_eq!(all.len(), 50);
        for most in 0..50 {
            assert_eq!(ids(most), all[..most]);
        }
    }
}
