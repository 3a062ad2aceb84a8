//! Counters below a link: a line of names, a line of numbers.

use crate::model::Interface;

/// Names of columns, as they are in `struct rtnl_link_stats64`; `None` is of no interest.
const COLUMNS: [(&str, &str, Option<&str>); 28] = [
    ("RX:", "bytes", Some("rx_bytes")),
    ("RX:", "packets", Some("rx_packets")),
    ("RX:", "errors", Some("rx_errors")),
    ("RX:", "dropped", Some("rx_dropped")),
    ("RX:", "overrun", Some("rx_over_errors")),
    ("RX:", "missed", Some("rx_missed_errors")),
    ("RX:", "mcast", Some("multicast")),
    ("RX:", "compressed", Some("rx_compressed")),
    ("TX:", "bytes", Some("tx_bytes")),
    ("TX:", "packets", Some("tx_packets")),
    ("TX:", "errors", Some("tx_errors")),
    ("TX:", "dropped", Some("tx_dropped")),
    ("TX:", "carrier", Some("tx_carrier_errors")),
    ("TX:", "collsns", Some("collisions")),
    ("TX:", "compressed", Some("tx_compressed")),
    ("RX errors:", "length", Some("rx_length_errors")),
    ("RX errors:", "crc", Some("rx_crc_errors")),
    ("RX errors:", "frame", Some("rx_frame_errors")),
    ("RX errors:", "fifo", Some("rx_fifo_errors")),
    ("RX errors:", "missed", Some("rx_missed_errors")),
    ("RX errors:", "overrun", Some("rx_over_errors")),
    ("RX errors:", "nohandler", Some("rx_nohandler")),
    ("TX errors:", "aborted", Some("tx_aborted_errors")),
    ("TX errors:", "fifo", Some("tx_fifo_errors")),
    ("TX errors:", "window", Some("tx_window_errors")),
    ("TX errors:", "heartbeat", Some("tx_heartbeat_errors")),
    ("TX errors:", "heartbt", Some("tx_heartbeat_errors")),
    ("TX errors:", "transns", None),
];

/// Columns of a line of names; `None` if it is none, or has a name that is not known.
pub(super) fn columns(line: &str) -> Option<Vec<Option<&'static str>>> {
    let title = ["RX errors:", "TX errors:", "RX:", "TX:"]
        .into_iter()
        .find(|title| line.starts_with(title))?;
    let names = line.get(title.len()..)?.split_whitespace();
    names.map(|name| column(title, name)).collect()
}

fn column(title: &str, name: &str) -> Option<Option<&'static str>> {
    let known = |(of, column, _): &&(&str, &str, Option<&str>)| *of == title && *column == name;
    let found = COLUMNS.iter().find(known)?;
    Some(found.2)
}

/// Puts a line of numbers below their names.
pub(super) fn put(
    block: &mut Interface,
    columns: &[Option<&'static str>],
    line: &str,
) -> Option<()> {
    let numbers = line.split_whitespace().map(|word| word.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    if numbers.len() != columns.len() {
        return None;
    }
    for (name, value) in columns.iter().zip(numbers) {
        if let Some(name) = name {
            block.counters.insert((*name).to_owned(), value);
        }
    }
    Some(())
}
