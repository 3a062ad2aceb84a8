//! Connections at a point: their order, and words for their figures.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;

use coalescope_capture::facts::{Connection, Direction, Point, Vantage};
use coalescope_knowledge::Limit;

use super::units::{UNKNOWN, bytes, counted, duration, short_count, three_digits};
use crate::Report;

pub(crate) const LEGEND: &str = "resent: whole frames seen here before; late: more than a round trip behind, \
    most likely lost before this point; window: segments that a round trip delivers";

pub(crate) fn title(point: &Point) -> String {
    let frames = counted(point.frames, "frame");
    let connections = counted(point.connections.len() as u64, "connection");
    let span = point
        .first_s
        .zip(point.last_s)
        .map(|(first, last)| last - first);
    let span = span.map_or(String::new(), |span| format!(" in {}", duration(span)));
    format!(
        "{}: {frames}, {}{span}, {connections}",
        point.name,
        bytes(point.bytes)
    )
}

/// The limits of a point's connections, by index, as far as they are known.
pub(crate) fn limits(report: &Report, point: &Point) -> Vec<Option<Limit>> {
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

/// The connections to list, worst and largest first, with their limits.
pub(crate) fn listed(
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

/// The first `most` keys in order: sorting all keys of very many connections would take longer than reading them.
pub(crate) fn first<K: Ord>(keys: impl Iterator<Item = K>, most: usize) -> Vec<K> {
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

/// The direction with most data, and its end.
pub(crate) fn busier(connection: &Connection) -> (&Direction, &'static str) {
    if connection.to_server.unique_bytes > connection.to_client.unique_bytes {
        (&connection.to_server, "to the server")
    } else {
        (&connection.to_client, "to the client")
    }
}

/// The rank of a limit: trouble first.
pub(crate) fn rank(limit: Option<Limit>) -> u8 {
    match limit {
        Some(Limit::MergedLoss) => 0,
        Some(Limit::Unclear) => 1,
        Some(Limit::Loss) => 2,
        Some(Limit::Reordering) => 3,
        _ => 4,
    }
}

pub(crate) fn merge_factor(data: &Direction) -> String {
    let mean = known(data.merge_factor_mean, three_digits);
    let max = known(data.merge_factor_max, |max| max.to_string());
    format!("{mean} / {max}")
}

pub(crate) fn out_of_order(data: &Direction) -> String {
    match (data.out_of_order_frames, data.late_frames) {
        (0, _) => "0".to_owned(),
        (all, late) => format!("{} / {}", short_count(all), short_count(late)),
    }
}

pub(crate) fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

pub(crate) fn word(limit: Limit) -> &'static str {
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

/// `#3 192.0.2.1:40000 -> 198.51.100.1:80`
pub(crate) fn ends(connection: &Connection) -> String {
    let Connection {
        id, client, server, ..
    } = connection;
    let ends = [client, server].map(|end| SocketAddr::new(end.address, end.port));
    format!("#{id} {} -> {}", ends[0], ends[1])
}

/// The end at which the connection was captured.
pub(crate) fn vantage(connection: &Connection) -> &'static str {
    match connection.vantage {
        Vantage::Client => "at the client",
        Vantage::Server => "at the server",
        Vantage::Between => "in between",
        Vantage::Unknown => UNKNOWN,
    }
}

/// The encapsulation: tunnels and VLANs.
pub(crate) fn around(connection: &Connection) -> Vec<String> {
    let tunnel = connection
        .tunnel
        .iter()
        .map(|tunnel| format!("in {tunnel}"));
    let vlans = connection.vlans.iter().map(|vlan| format!("VLAN {vlan}"));
    tunnel.chain(vlans).collect()
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
