//! `/proc/net/bonding/bond0` and `brctl show`: who is a port of what.

use super::out::{Out, is_name};
use crate::model::{Bond, Bridge, Interface, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `/proc/net/bonding/bond0`.
pub(super) const BONDING: Reader = Reader {
    name: "/proc/net/bonding",
    recognises: |text| first_line(text).starts_with("Ethernet Channel Bonding Driver:"),
    read: bonding,
};

/// `brctl show`.
pub(super) const BRCTL: Reader = Reader {
    name: "brctl show",
    recognises: |text| {
        let names = first_line(text).split_whitespace();
        names.eq([
            "bridge",
            "name",
            "bridge",
            "id",
            "STP",
            "enabled",
            "interfaces",
        ])
    },
    read: brctl,
};

/// Modes in the words of the file, and as ip(8) names them.
const MODES: [(&str, &str); 7] = [
    ("load balancing (round-robin)", "balance-rr"),
    ("fault-tolerance (active-backup)", "active-backup"),
    ("load balancing (xor)", "balance-xor"),
    ("fault-tolerance (broadcast)", "broadcast"),
    ("IEEE 802.3ad Dynamic link aggregation", "802.3ad"),
    ("transmit load balancing", "balance-tlb"),
    ("adaptive load balancing", "balance-alb"),
];

fn bonding(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, BONDING.name, snapshot);
    let bond = out.interface_of_command();
    let mut port = None;
    for line in out.lines() {
        let (key, value) = line.trim().split_once(": ").unwrap_or_default();
        match (key, port) {
            ("Slave Interface", _) => {
                port = Some(value);
                is_port_of(&mut out, value, bond);
            }
            (_, Some(port)) => port_line(&mut out, port, key, value),
            (_, None) => bond_line(&mut out, bond, key, value),
        }
    }
    out.finish();
}

fn is_port_of(out: &mut Out<'_>, port: &str, bond: Option<&str>) {
    let block = Interface {
        master: bond.map(str::to_owned),
        master_kind: Some("bond".to_owned()),
        ..Interface::default()
    };
    out.interface(port, block);
}

fn bond_line(out: &mut Out<'_>, bond: Option<&str>, key: &str, value: &str) {
    let (Some(bond), "Bonding Mode") = (bond, key) else {
        return;
    };
    let known = MODES.iter().find(|(words, _)| value.starts_with(words));
    if known.is_none() {
        out.unknown(value);
    }
    let bonding = Bond {
        mode: known.map(|(_, mode)| (*mode).to_owned()),
        members: Vec::new(),
    };
    let block = Interface {
        kind: Some("bond".to_owned()),
        bond: Some(bonding),
        ..Interface::default()
    };
    out.interface(bond, block);
}

fn port_line(out: &mut Out<'_>, port: &str, key: &str, value: &str) {
    let mut block = Interface::default();
    match (key, value) {
        ("MII Status", "up") => block.carrier = Some(true),
        ("MII Status", "down") => block.carrier = Some(false),
        ("Speed", _) => {
            let speed = value
                .strip_suffix(" Mbps")
                .and_then(|mbps| mbps.parse().ok());
            block.speed_bps = speed.and_then(|mbps: u64| mbps.checked_mul(1_000_000));
        }
        _ => return,
    }
    out.interface(port, block);
}

fn brctl(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, BRCTL.name, snapshot);
    let mut current: Option<(&str, Bridge)> = None;
    let titles = first_lines(text).take(1).count();
    // Where a terminal or a mail took the tabs away, ports stand at the left.
    let blank = first_line(text).contains('\t') || first_line(text).contains("  ");
    for line in out.lines().filter(|line| !line.is_empty()).skip(titles) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let below = line.starts_with([' ', '\t']);
        match (words.as_slice(), below) {
            ([name, id, stp, ports @ ..], false) if is_id(id) && is_name(name) => {
                put_bridge(&mut out, current.take());
                current = bridge(name, stp);
                ports
                    .iter()
                    .for_each(|port| put_port(&mut out, &mut current, port));
            }
            ([port], below) if below || !blank => put_port(&mut out, &mut current, port),
            _ => out.unknown(line),
        }
    }
    put_bridge(&mut out, current);
    out.finish();
}

/// `8000.525400123456`
fn is_id(word: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.split_once('.').is_some_and(|(priority, mac)| {
        priority.len() == 4 && mac.len() == 12 && hex(priority) && hex(mac)
    })
}

fn bridge<'a>(name: &'a str, stp: &str) -> Option<(&'a str, Bridge)> {
    let stp = match stp {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let bridge = Bridge {
        stp,
        ..Bridge::default()
    };
    Some((name, bridge))
}

fn put_port(out: &mut Out<'_>, bridge: &mut Option<(&str, Bridge)>, port: &str) {
    let Some((name, bridge)) = bridge else {
        out.unknown(port);
        return;
    };
    bridge.members.push(port.to_owned());
    let block = Interface {
        master: Some((*name).to_owned()),
        ..Interface::default()
    };
    out.interface(port, block);
}

fn put_bridge(out: &mut Out<'_>, bridge: Option<(&str, Bridge)>) {
    if let Some((name, bridge)) = bridge {
        let block = Interface {
            kind: Some("bridge".to_owned()),
            bridge: Some(bridge),
            ..Interface::default()
        };
        out.interface(name, block);
    }
}
