//! The lines of one interface.

use super::address::{address, after};
use super::block::Block;
use super::{kind, options};
use crate::model::{
    Bond, Bridge, BridgePort, Driver, Interface, Owner, Platform, Snapshot, Tunnel, Vlan,
};
use crate::text::notes::{Notes, mac};

/// Lines that say nothing of interest, by how they begin: neighbour discovery, spanning tree, LACP,
/// what the optics say, choices of media, what macOS adds.
const KNOWN: &[&str] = &[
    "nd6 ",
    "nd4 ",
    "id ",
    "maxage ",
    "root id ",
    "role ",
    "ifmaxaddr ",
    "ipfilter ",
    "Configuration:",
    "hellotime ",
    "supported media:",
    "media ",
    "fib: ",
    "tunnelfib: ",
    "hwaddr ",
    "lagg options:",
    "lagg statistics:",
    "flags=",
    "flowid_shift: ",
    "active ports: ",
    "flapping: ",
    "lag id: ",
    "rr_limit: ",
    "plugged: ",
    "vendor: ",
    "module temperature: ",
    "RX: ",
    "TX: ",
    "lane ",
    "SFF8472 ",
    "eflags=",
    "xflags=",
    "type: ",
    "link quality: ",
    "state ",
    "scheduler: ",
    "uplink rate: ",
    "downlink rate: ",
    "link rate: ",
    "timestamp: ",
    "qosmarking ",
    "generation ",
    "low power ",
    "multi layer ",
    "routermode4: ",
    "routermode6: ",
    "syncpeer",
    "pfsync: ",
    "syncdev: ",
    "syncok: ",
    "priority ",
    "port ",
    "index ",
    "llprio ",
    "carp: ",
    "peer ",
    "vhid ",
    "nat64 ",
    "dhcp",
    "ssid ",
    "regdomain ",
    "country ",
    "authmode ",
    "wme ",
    "bssid ",
    "channel ",
    "txpower ",
    "hw_queues",
    "options ",
];

/// Reads one interface.
pub(super) fn read(block: &Block<'_>, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    let platform = snapshot.platform;
    let name = block.head.name;
    let mut to = snapshot.interfaces.remove(name).unwrap_or_default();
    name.clone_into(&mut to.name);
    to.mtu_bytes = Some(block.head.mtu);
    to.up = block.head.flag("UP");
    let mut groups = Vec::new();
    let mut speed = None;
    for line in &block.lines {
        line_of(line, block, &mut to, notes);
        if let Some(list) = line.strip_prefix("groups:") {
            groups.extend(list.split_whitespace());
        } else if let Some(media) = line.strip_prefix("media:") {
            speed = speed_bps(media);
        }
    }
    options::read(block, platform, &mut to, notes);
    kind::set(&block.head, &groups, platform, &mut to);
    // What is set without a carrier is a wish.
    let speed = speed.or(to.speed_bps);
    to.speed_bps = speed.filter(|_| to.carrier == Some(true));
    ports(block, snapshot, &mut to);
    snapshot.interfaces.insert(name.to_owned(), to);
}

fn line_of(line: &str, block: &Block<'_>, to: &mut Interface, notes: &mut Notes<'_>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    match first {
        "ether" | "lladdr" if mac(second).is_some() => to.mac = mac(second),
        // Some lines of `ifconfig -v` follow the address without a line end.
        "hwaddr" if words.len() > 2 => rest_of_hwaddr(line, block, to, notes),
        "inet" | "inet6" => match address(line) {
            Some(address) => to.addresses.push(address),
            None => notes.line(line),
        },
        "status:" => carrier(line, to, notes),
        "description:" => to.description = line.split_once(": ").map(|(_, text)| text.to_owned()),
        "drivername:" => to.driver = driver_name(second),
        "index" => to.index = second.parse().ok(),
        "vlan:" | "encap:" => vlan(&words, to, notes),
        "tunnel" | "tunnel:" | "vxlan" => tunnel(&words, to),
        "Opened" if words.starts_with(&["Opened", "by", "PID"]) => opened(&words, to),
        _ => other(line, first, block, to, notes),
    }
}

fn other(line: &str, first: &str, block: &Block<'_>, to: &mut Interface, notes: &mut Notes<'_>) {
    if let Some(list) = line.strip_prefix("hwfeatures=") {
        options::hardware(block, list, to, notes);
        return;
    }
    let elsewhere = [
        "groups:",
        "media:",
        "member:",
        "laggport:",
        "laggproto",
        "ether",
        "lladdr",
    ];
    let listed = line.starts_with("options=") || line.starts_with("capabilities=");
    let known = KNOWN.iter().any(|known| line.starts_with(known));
    if !(known || listed || elsewhere.contains(&first)) {
        notes.line(line);
    }
}

fn rest_of_hwaddr(line: &str, block: &Block<'_>, to: &mut Interface, notes: &mut Notes<'_>) {
    if let Some((_, rest)) = line.split_once(" media:") {
        to.speed_bps = speed_bps(rest);
    } else {
        other(line, "hwaddr", block, to, notes);
    }
}

fn carrier(line: &str, to: &mut Interface, notes: &mut Notes<'_>) {
    match line.strip_prefix("status: ").unwrap_or_default() {
        "active" | "associated" | "running" => to.carrier = Some(true),
        "no carrier" | "inactive" | "no network" => to.carrier = Some(false),
        _ => notes.line(line),
    }
}

/// `Ethernet autoselect (10Gbase-SR <full-duplex>)`: what is in use is in the parentheses; without
/// them it is what is set.
fn speed_bps(media: &str) -> Option<u64> {
    let active = match media.split_once('(') {
        Some((_, active)) => active,
        None => media.trim().strip_prefix("Ethernet ")?,
    };
    let word = active.split([' ', ')', '<']).next()?.to_ascii_lowercase();
    let (number, _) = word.split_once("base")?;
    let (digits, unit) = match number.strip_suffix('g') {
        Some(digits) => (digits, 1_000_000_000),
        None => (number, 1_000_000),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn driver_name(name: &str) -> Option<Driver> {
    let (base, _) = super::super::names::driver_unit(name)?;
    Some(Driver {
        name: base.to_owned(),
        ..Driver::default()
    })
}

/// `vlan: 10 vlanproto: 802.1q vlanpcp: 0 parent interface: ix0`; OpenBSD `encap: vnetid 10 parent em0`.
fn vlan(words: &[&str], to: &mut Interface, notes: &mut Notes<'_>) {
    let old = words.first() == Some(&"vlan:");
    if !old && !to.name.starts_with("vlan") && !to.name.starts_with("svlan") {
        return notes.line(&words.join(" "));
    }
    let id = after(words, if old { "vlan:" } else { "vnetid" });
    let protocol = after(words, "vlanproto:").and_then(|name| match name {
        "802.1q" | "802.1Q" => Some("802.1Q"),
        "802.1ad" => Some("802.1ad"),
        _ => None,
    });
    to.vlan = Some(Vlan {
        id: id.and_then(|id| id.parse().ok()),
        protocol: protocol.map(str::to_owned),
    });
    let parent = after(words, if old { "interface:" } else { "parent" });
    let none = ["<none>", "none"];
    to.parent = parent
        .filter(|name| !none.contains(name))
        .map(str::to_owned);
}

/// `tunnel inet A --> B`; `vxlan vni 42 local A:4789 remote B:4789`.
fn tunnel(words: &[&str], to: &mut Interface) {
    let tunnel: &mut Tunnel = to.tunnel.get_or_insert_default();
    if words.first() == Some(&"vxlan") {
        tunnel.id = after(words, "vni").and_then(|id| id.parse().ok());
        tunnel.local = after(words, "local").and_then(host);
        tunnel.remote = after(words, "remote").and_then(host);
        let port = after(words, "remote").or_else(|| after(words, "group"));
        let port = port.and_then(|end| end.rsplit_once(':'));
        tunnel.port = port.and_then(|(_, port)| port.parse().ok());
    } else if let Some(at) = words.iter().position(|word| *word == "-->") {
        let end = |at: usize| words.get(at).map(|word| (*word).to_owned());
        tunnel.local = at.checked_sub(1).and_then(end);
        tunnel.remote = end(at + 1);
    }
}

/// `192.0.2.1:4789` or `[2001:db8::1]:4789` without its port.
fn host(end: &str) -> Option<String> {
    let (host, _) = end.rsplit_once(':')?;
    Some(host.trim_matches(['[', ']']).to_owned())
}

fn opened(words: &[&str], to: &mut Interface) {
    let Some(pid) = words.get(3).and_then(|pid| pid.parse().ok()) else {
        return;
    };
    // ifconfig knows the process by its number only.
    let process = String::new();
    let owners = &mut to.tun.get_or_insert_default().owners;
    owners.get_or_insert_default().push(Owner { pid, process });
}

/// Ports of a bridge or lagg: listed at it, and told to the port.
fn ports(block: &Block<'_>, snapshot: &mut Snapshot, to: &mut Interface) {
    let mut port = None;
    for line in &block.lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["member:", name, ..] => {
                let bridge: &mut Bridge = to.bridge.get_or_insert_default();
                bridge.members.push(name.to_owned());
                enslave(snapshot, name, &to.name).bridge_port = Some(BridgePort::default());
                port = Some(name.to_owned());
            }
            ["laggproto", mode, ..] => bond(to).mode = Some(mode.to_owned()),
            ["laggport:", name, ..] => {
                bond(to).members.push(name.to_owned());
                enslave(snapshot, name, &to.name);
            }
            _ => state(&words, port.as_deref(), snapshot),
        }
    }
    if to.kind.as_deref() == Some("bridge") && snapshot.platform == Some(Platform::Freebsd) {
        to.bridge.get_or_insert_default();
    }
}

fn bond(to: &mut Interface) -> &mut Bond {
    to.bond.get_or_insert_default()
}

fn enslave<'s>(snapshot: &'s mut Snapshot, name: &str, master: &str) -> &'s mut Interface {
    let port = snapshot.interface_mut(name);
    port.master = Some(master.to_owned());
    port
}

/// `role designated state forwarding`, below a port of a bridge with spanning tree.
fn state(words: &[&str], port: Option<&str>, snapshot: &mut Snapshot) {
    let (Some(port), Some(state)) = (port, after(words, "state")) else {
        return;
    };
    let known = [
        "disabled",
        "listening",
        "learning",
        "forwarding",
        "blocking",
    ];
    let state = if state == "discarding" {
        "blocking"
    } else {
        state
    };
    if words.contains(&"role") && known.contains(&state) {
        let port = snapshot.interface_mut(port);
        port.bridge_port.get_or_insert_default().state = Some(state.to_owned());
    }
}
