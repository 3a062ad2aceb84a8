//! Files of /proc/net: softnet_stat, dev, vlan/config and packet.

use super::files::{self, Packet, softnet_line};
use super::out::{Out, is_name};
use crate::model::{Interface, PacketSocket, Snapshot, Vlan};
use crate::text::notes::{first_line, first_lines, is_cut};
use crate::text::{Reader, Text};
use std::collections::BTreeMap;

/// `/proc/net/softnet_stat`.
pub(super) const SOFTNET: Reader = Reader {
    name: "/proc/net/softnet_stat",
    recognises: |text| softnet_line(first_line(text)).is_some(),
    read: softnet,
};

/// `/proc/net/dev`.
pub(super) const DEV: Reader = Reader {
    name: "/proc/net/dev",
    recognises: |text| first_line(text).starts_with("Inter-|   Receive"),
    read: dev,
};

/// `/proc/net/vlan/config`.
pub(super) const VLAN: Reader = Reader {
    name: "/proc/net/vlan/config",
    recognises: |text| {
        first_line(text)
            .split_whitespace()
            .eq(["VLAN", "Dev", "name", "|", "VLAN", "ID"])
    },
    read: vlan,
};

/// `/proc/net/packet`.
pub(super) const PACKET: Reader = Reader {
    name: "/proc/net/packet",
    recognises: |text| {
        let mut names = first_line(text).split_whitespace();
        let known = [
            "sk", "RefCnt", "Type", "Proto", "Iface", "R", "Rmem", "User", "Inode",
        ];
        known.into_iter().eq(names.by_ref().take(known.len()))
            && names.next().is_none_or(|name| name == PROCESS)
    },
    read: packet,
};

fn softnet(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SOFTNET.name, snapshot);
    match files::softnet(out.whole()) {
        Ok(sums) if !is_cut(text) => out.snapshot.softnet = sums,
        // Some processors are missing.
        Ok(_) => {}
        Err(unknown) => unknown.into_iter().for_each(|line| out.unknown(line)),
    }
    out.finish();
}

/// Columns of /proc/net/dev. Three are sums of counters that the kernel keeps apart.
const DEV_COLUMNS: [&str; 16] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped+rx_missed_errors",
    "rx_fifo_errors",
    FRAME,
    "rx_compressed",
    "multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo_errors",
    "collisions",
    CARRIER,
    "tx_compressed",
];

/// `frame`, as /proc/net/dev and ifconfig print it.
pub(super) const FRAME: &str = "rx_length_errors+rx_over_errors+rx_crc_errors+rx_frame_errors";

/// `carrier`, as /proc/net/dev and ifconfig print it.
pub(super) const CARRIER: &str =
    "tx_carrier_errors+tx_aborted_errors+tx_window_errors+tx_heartbeat_errors";

fn dev(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, DEV.name, snapshot);
    let known = first_lines(text).nth(1).is_some_and(|line| {
        let ways = "|bytes packets errs drop fifo frame compressed multicast|bytes packets";
        line.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(ways)
    });
    for line in out.lines().skip(2).filter(|line| !line.is_empty()) {
        match dev_line(line).filter(|_| known) {
            Some((name, block)) => out.interface(name, block),
            None => out.unknown(line),
        }
    }
    out.finish();
}

fn dev_line(line: &str) -> Option<(&str, Interface)> {
    let (name, counters) = interface_line(line)?;
    let block = Interface {
        counters,
        ..Interface::default()
    };
    Some((name, block))
}

/// The lines of `/proc/net/dev` below its two lines of heads: an interface and its counters, named as
/// in `/sys/class/net/NAME/statistics`; three are sums (`rx_dropped+rx_missed_errors`). Lines that
/// are not understood are handed back.
pub fn interface_counters(
    table: &str,
) -> impl Iterator<Item = Result<(&str, BTreeMap<String, u64>), &str>> {
    let lines = table.lines().skip(2).filter(|line| !line.trim().is_empty());
    lines.map(|line| interface_line(line).ok_or(line))
}

fn interface_line(line: &str) -> Option<(&str, BTreeMap<String, u64>)> {
    let (name, numbers) = line.trim().rsplit_once(':')?;
    let numbers = numbers.split_whitespace().map(|word| word.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    if numbers.len() != DEV_COLUMNS.len() || !is_name(name) {
        return None;
    }
    let names = DEV_COLUMNS.iter().map(|name| (*name).to_owned());
    Some((name, names.zip(numbers).collect()))
}

fn vlan(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, VLAN.name, snapshot);
    for line in out.lines().skip(1).filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        match columns.as_slice() {
            [name, id, parent] if is_name(parent) => {
                out.interface(name, vlan_of(id.parse().ok(), parent));
            }
            _ if line.starts_with("Name-Type:") => {}
            _ => out.unknown(line),
        }
    }
    out.finish();
}

fn vlan_of(id: Option<u16>, parent: &str) -> Interface {
    Interface {
        kind: Some("vlan".to_owned()),
        parent: Some(parent.to_owned()),
        vlan: Some(Vlan { id, protocol: None }),
        ..Interface::default()
    }
}

/// The column that `collect.sh` adds: who holds the socket.
const PROCESS: &str = "Process";

fn packet(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, PACKET.name, snapshot);
    let mut sockets = Vec::new();
    let packets = files::packets(out.whole());
    out.each(packets, |_, packet| sockets.push(socket(packet)));
    out.snapshot.stack.packet_sockets = Some(sockets);
    out.finish();
}

/// The interface is told by its index only.
fn socket(packet: Packet) -> PacketSocket {
    PacketSocket {
        interface: packet.interface.map(files::unnamed),
        protocol: Some(packet.protocol),
        process: packet.process,
        ring: None,
    }
}
