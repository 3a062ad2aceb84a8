//! What the managers of a host's network say of it: `networkctl` and `nmcli`. They know masters and
//! kinds even where nobody saved `ip -d link`.

use std::collections::BTreeMap;

use super::out::{Out, is_name};
use crate::model::{Driver, Interface, Setting, Snapshot};
use crate::names::network_of;
use crate::text::notes::{first_line, first_lines, mac};
use crate::text::{Reader, Text};

/// `networkctl status NAME` or `--all`.
pub(super) const NETWORKCTL_STATUS: Reader = Reader {
    name: "networkctl status",
    recognises: |text| {
        let head = first_lines(text).find_map(status_head).is_some();
        head && first_lines(text).any(|line| line.trim_start().starts_with("Link File:"))
    },
    read: networkctl_status,
};

/// `networkctl` and `networkctl list`.
pub(super) const NETWORKCTL: Reader = Reader {
    name: "networkctl",
    recognises: |text| first_line(text).split_whitespace().eq(TITLES),
    read: networkctl,
};

/// `nmcli -f all device show` and `nmcli device show`.
pub(super) const NMCLI_SHOW: Reader = Reader {
    name: "nmcli device show",
    recognises: |text| first_line(text).starts_with("GENERAL.DEVICE:"),
    read: nmcli_show,
};

/// `nmcli device`, with or without `-f all`.
pub(super) const NMCLI: Reader = Reader {
    name: "nmcli device",
    recognises: |text| {
        let titles: Vec<&str> = first_line(text).split_whitespace().collect();
        matches!(titles.as_slice(), ["DEVICE", "TYPE", ..])
    },
    read: nmcli,
};

const TITLES: [&str; 5] = ["IDX", "LINK", "TYPE", "OPERATIONAL", "SETUP"];

/// `● 2: eth0`; the mark depends on the state and the locale.
fn status_head(line: &str) -> Option<(u32, &str)> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let index = match first.strip_suffix(':') {
        Some(index) => index,
        None => words.next()?.strip_suffix(':')?,
    };
    let name = words.next()?;
    let rest = words.next().is_none() && is_name(name);
    rest.then_some(())?;
    Some((index.parse().ok()?, name))
}

fn networkctl_status(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NETWORKCTL_STATUS.name, snapshot);
    let mut open: Option<(&str, Interface)> = None;
    let mut last = "";
    for line in out.lines().filter(|line| !line.is_empty()) {
        if let Some((index, name)) = status_head(line) {
            put(&mut out, open.take());
            let block = Interface {
                index: Some(index),
                ..Interface::default()
            };
            open = Some((name, block));
            continue;
        }
        let Some((_, block)) = &mut open else {
            continue;
        };
        let (key, value) = field(line).unwrap_or((last, line.trim()));
        last = key;
        status_field(block, key, value);
    }
    put(&mut out, open);
    out.finish();
}

/// `     Driver: e1000e`; lines that go on have no key.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start().split_once(": ")?;
    let plain = key.starts_with(|letter: char| letter.is_ascii_uppercase())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" ()-/".contains(&byte));
    plain.then_some((key, value.trim()))
}

fn status_field(block: &mut Interface, key: &str, value: &str) {
    let word = value.split_whitespace().next().unwrap_or_default();
    match key {
        "Type" => block.kind = block.kind.take().or_else(|| kind_of(word)),
        // `Kind` is what the kernel calls it.
        "Kind" if !matches!(word, "n/a" | "") => block.kind = Some(word.to_owned()),
        "Driver" => {
            block.driver = Some(Driver {
                name: value.to_owned(),
                ..Driver::default()
            });
        }
        "Hardware Address" | "HW Address" => block.mac = mac(word),
        "MTU" => block.mtu_bytes = word.parse().ok(),
        "Master" | "Bridge" => block.master = Some(word.to_owned()),
        "Address" => block.addresses.extend(address(word)),
        "State" => {
            block.up = up(word);
            block.properties.extend(enslaved(word));
        }
        _ => {}
    }
}

/// Addresses stand without the length of their prefix: that of a host is what is certain.
fn address(word: &str) -> Option<String> {
    let bare = word.split('%').next()?;
    bare.parse().ok().map(network_of)
}

/// The operational state of networkctl.
fn up(state: &str) -> Option<bool> {
    match state {
        "off" => Some(false),
        "missing" | "n/a" => None,
        _ => Some(true),
    }
}

/// The state of a port, where its master is not named.
fn enslaved(state: &str) -> BTreeMap<String, Setting> {
    let port = (state == "enslaved").then(|| ("enslaved".to_owned(), Setting::Flag(true)));
    port.into_iter().collect()
}

/// Kinds as the model has them; `ether` is anything of Ethernet.
fn kind_of(word: &str) -> Option<String> {
    match word {
        "ether" | "ethernet" | "n/a" | "--" | "generic" | "none" | "" | "ip-tunnel"
        | "iptunnel" | "tunnel" => None,
        "ovs-interface" | "ovs-port" | "ovs-bridge" => Some("openvswitch".to_owned()),
        "wifi" | "wlan" | "infiniband" => Some("physical".to_owned()),
        other => Some(other.to_owned()),
    }
}

fn put(out: &mut Out<'_>, block: Option<(&str, Interface)>) {
    if let Some((name, block)) = block {
        out.interface(name, block);
    }
}

/// A port of a bond or bridge is `enslaved`; of which one is not told.
fn networkctl(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NETWORKCTL.name, snapshot);
    let lines = out.lines().filter(|line| !line.is_empty());
    for line in lines
        .skip_while(|line| !line.split_whitespace().eq(TITLES))
        .skip(1)
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [index, name, kind, state, _] if is_name(name) => {
                let Ok(index) = index.parse() else {
                    out.unknown(line);
                    continue;
                };
                let block = Interface {
                    index: Some(index),
                    kind: kind_of(kind),
                    up: up(state),
                    properties: enslaved(state),
                    ..Interface::default()
                };
                out.interface(name, block);
            }
            [_, "links", "listed."] => {}
            _ => out.unknown(line),
        }
    }
    out.finish();
}

/// `DEVICE  TYPE  STATE  CONNECTION`: no master, no index; the kinds of bridges and bonds.
fn nmcli(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NMCLI.name, snapshot);
    for line in out.lines().filter(|line| !line.is_empty()).skip(1) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(kind)) = (words.next(), words.next()) else {
            out.unknown(line);
            continue;
        };
        let block = Interface {
            kind: kind_of(kind),
            ..Interface::default()
        };
        out.interface(name, block);
    }
    out.finish();
}

fn nmcli_show(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NMCLI_SHOW.name, snapshot);
    let mut open: Option<(&str, Interface)> = None;
    for line in out.lines().filter(|line| !line.is_empty()) {
        let Some((key, value)) = line.split_once(':') else {
            out.unknown(line);
            continue;
        };
        let value = value.trim();
        if key == "GENERAL.DEVICE" {
            put(&mut out, open.replace((value, Interface::default())));
        } else if let Some((_, block)) = &mut open
            && !matches!(value, "" | "--")
        {
            shown(block, key, value);
        }
    }
    put(&mut out, open);
    out.finish();
}

fn shown(block: &mut Interface, key: &str, value: &str) {
    match key {
        "GENERAL.TYPE" => block.kind = kind_of(value),
        "GENERAL.DRIVER" if value != "unknown" => {
            block.driver = Some(Driver {
                name: value.to_owned(),
                ..Driver::default()
            });
        }
        "GENERAL.HWADDR" => block.mac = mac(value),
        "GENERAL.MTU" => block.mtu_bytes = value.parse().ok(),
        "BOND.SLAVES" | "TEAM.SLAVES" => {
            let members = value.split_whitespace().map(str::to_owned);
            block.bond.get_or_insert_default().members = members.collect();
        }
        "BRIDGE.SLAVES" => {
            let members = value.split_whitespace().map(str::to_owned);
            block.bridge.get_or_insert_default().members = members.collect();
        }
        "VLAN.PARENT" => block.parent = Some(value.to_owned()),
        "VLAN.ID" => block.vlan.get_or_insert_default().id = value.parse().ok(),
        _ if is_address(key) => block.addresses.push(value.to_owned()),
        _ => {}
    }
}

/// `IP4.ADDRESS[1]`
fn is_address(key: &str) -> bool {
    key.starts_with("IP4.ADDRESS[") || key.starts_with("IP6.ADDRESS[")
}
