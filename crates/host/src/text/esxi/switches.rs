//! Standard and distributed switches, and VMkernel adapters.

use super::super::Text;
use super::blocks::{Block, blocks, field, setting};
use crate::model::{Platform, Snapshot, VirtualSwitch};
use crate::text::notes::{Notes, first_line, first_lines, mac, quoted, whole_lines};

/// A title, and below it an indented `Name:` with the same name, and one of the keys soon.
fn titled(text: &Text<'_>, keys: &[&str]) -> bool {
    let mut lines = first_lines(text).take(20);
    let title = lines.next().unwrap_or_default();
    let name = lines.next().and_then(field);
    let named = name.is_some_and(|(key, value)| key == "Name" && value == title.trim_end());
    named && lines.filter_map(field).any(|(key, _)| keys.contains(&key))
}

pub(super) fn recognises_list(text: &Text<'_>) -> bool {
    titled(text, &["Configured Ports", "Beacon Interval"])
}

pub(super) fn read_list(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    for block in blocks(body, &mut notes) {
        match block.get("Name") {
            Some(name) => put(name, switch(&block), snapshot, &mut notes),
            None => notes.line(block.title),
        }
    }
    notes.finish(snapshot);
}

fn put(name: &str, switch: VirtualSwitch, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    if snapshot.switches.contains_key(name) {
        let why = "a second switch of this name: another host or time, left out";
        notes.add(&format!("again {name}"), name, why);
    } else {
        snapshot.switches.insert(name.to_owned(), switch);
    }
}

fn switch(block: &Block<'_>) -> VirtualSwitch {
    let class = block
        .get("Class")
        .map(|class| ("Class".to_owned(), setting(class)));
    let groups = block.get("Portgroups");
    let groups = groups.map(|groups| ("Portgroups".to_owned(), setting(groups)));
    VirtualSwitch {
        product: Some("esxi".to_owned()),
        mtu_bytes: block.number("MTU"),
        uplinks: list(block.get("Uplinks").unwrap_or_default()),
        properties: class.into_iter().chain(groups).collect(),
        ..VirtualSwitch::default()
    }
}

/// Names between commas. Those of adapters have none within.
fn list(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a line heads switches or distributed switches.
fn heads_switches(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = ["Switch", "DVS"].contains(&words.next().unwrap_or_default());
    first && words.eq("Name Num Ports Used Ports Configured Ports MTU Uplinks".split(' '))
}

pub(super) fn recognises_esxcfg(text: &Text<'_>) -> bool {
    heads_switches(first_line(text))
}

pub(super) fn read_esxcfg(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    let mut below = false;
    for line in body.lines() {
        if heads_switches(line) {
            below = true;
        } else if line.trim().is_empty() || line.starts_with(' ') {
            // Port groups and ports, below a heading of their own.
            below = below && line.trim().is_empty();
        } else if let Some((name, switch)) = row(line).filter(|_| below) {
            put(name, switch, snapshot, &mut notes);
        } else {
            notes.line(line);
        }
    }
    notes.finish(snapshot);
}

/// A name, which may have spaces, four numbers and perhaps uplinks.
fn row(line: &str) -> Option<(&str, VirtualSwitch)> {
    let number = |word: &str| word.parse::<u64>().ok();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let uplinks = words
        .pop_if(|word| number(word).is_none())
        .unwrap_or_default();
    let at = words.len().checked_sub(4).filter(|at| *at > 0)?;
    let numbers: Option<Vec<u64>> = words.get(at..)?.iter().map(|word| number(word)).collect();
    let mtu = numbers?.last().copied();
    let named = words.get(..at)?;
    let end = named.iter().try_fold(0, |end, word| {
        Some(line.get(end..)?.find(word)? + end + word.len())
    });
    let switch = VirtualSwitch {
        product: Some("esxi".to_owned()),
        mtu_bytes: mtu,
        uplinks: list(uplinks),
        ..VirtualSwitch::default()
    };
    Some((line.get(..end?)?.trim(), switch))
}

pub(super) fn recognises_interfaces(text: &Text<'_>) -> bool {
    let vmk = first_line(text).strip_prefix("vmk");
    vmk.is_some() && titled(text, &["Netstack Instance", "Portset", "TSO MSS"])
}

pub(super) fn read_interfaces(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Esxi);
    let body = whole_lines(text, &mut notes);
    for block in blocks(body, &mut notes) {
        match block.get("Name") {
            Some(name) if !snapshot.interfaces.contains_key(name) => vmk(name, &block, snapshot),
            _ => {
                let why = "without a name, or a second of this name: left out";
                notes.add("vmk", &quoted(block.title), why);
            }
        }
    }
    notes.finish(snapshot);
}

fn vmk(name: &str, block: &Block<'_>, snapshot: &mut Snapshot) {
    let to = snapshot.interface_mut(name);
    to.kind = Some("vmkernel".to_owned());
    to.mac = block.get("MAC Address").and_then(mac);
    to.up = block.flag("Enabled");
    to.mtu_bytes = block.number("MTU");
    for key in [
        "Portset",
        "Portgroup",
        "Netstack Instance",
        "VDS Name",
        "TSO MSS",
    ] {
        let value = block.get(key).filter(|value| *value != "N/A");
        to.properties
            .extend(value.map(|value| (key.to_owned(), setting(value))));
    }
}
