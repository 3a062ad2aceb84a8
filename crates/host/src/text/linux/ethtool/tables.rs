//! `ethtool -c`, `-g` and `-l`: coalescing, rings and channels.

use crate::model::{Interface, Setting, Snapshot};
use crate::text::linux::out::{Out, is_name, on_off, setting};
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `ethtool -c`.
pub(in crate::text::linux) const COALESCING: Reader = Reader {
    name: "ethtool -c",
    recognises: |text| header(first_line(text), "Coalesce").is_some(),
    read: |text, snapshot| read(text, snapshot, &COALESCE_TABLE),
};

/// `ethtool -g`.
pub(in crate::text::linux) const RINGS: Reader = Reader {
    name: "ethtool -g",
    recognises: |text| header(first_line(text), "Ring").is_some(),
    read: |text, snapshot| read(text, snapshot, &RING_TABLE),
};

/// `ethtool -l`.
pub(in crate::text::linux) const CHANNELS: Reader = Reader {
    name: "ethtool -l",
    recognises: |text| header(first_line(text), "Channel").is_some(),
    read: |text, snapshot| read(text, snapshot, &CHANNEL_TABLE),
};

struct Table {
    name: &'static str,
    title: &'static str,
    row: fn(&mut Interface, Part, &str) -> Option<()>,
}

const COALESCE_TABLE: Table = Table {
    name: COALESCING.name,
    title: "Coalesce",
    row: |block, _, line| coalescing(block, line),
};

const RING_TABLE: Table = Table {
    name: RINGS.name,
    title: "Ring",
    row: ring,
};

const CHANNEL_TABLE: Table = Table {
    name: CHANNELS.name,
    title: "Channel",
    row: channel,
};

/// Where in a table of rings or channels a line is.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Before,
    Most,
    Now,
}

/// The interface of `Ring parameters for eth0:`.
fn header<'a>(line: &'a str, title: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(title)?.strip_prefix(" parameters for ")?;
    rest.strip_suffix(':').filter(|name| is_name(name))
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot, table: &Table) {
    let mut out = Out::linux(text, table.name, snapshot);
    let mut name = "";
    let mut part = Part::Before;
    for line in out.lines().filter(|line| !line.is_empty()) {
        if let Some(next) = header(line, table.title) {
            (name, part) = (next, Part::Before);
        } else if let Some(next) = part_of(line) {
            part = next;
        } else {
            row(&mut out, table, (name, part), line);
        }
    }
    out.finish();
}

fn row(out: &mut Out<'_>, table: &Table, (name, part): (&str, Part), line: &str) {
    let mut block = Interface::default();
    match (table.row)(&mut block, part, line.trim()) {
        Some(()) => out.interface(name, block),
        None => out.unknown(line),
    }
}

fn part_of(line: &str) -> Option<Part> {
    match line {
        "Pre-set maximums:" => Some(Part::Most),
        "Current hardware settings:" => Some(Part::Now),
        _ => None,
    }
}

fn coalescing(block: &mut Interface, line: &str) -> Option<()> {
    let (name, value) = line.split_once(':')?;
    if let Some(name) = name.strip_suffix(" RX") {
        return both_ways(block, name, value);
    }
    let letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let value = value.trim();
    if name.is_empty() || !name.chars().all(letter) {
        return None;
    }
    if value != "n/a" {
        let value = Some(setting(value)).filter(|value| !matches!(value, Setting::Text(_)))?;
        block.coalescing.insert(name.to_owned(), value);
    }
    Some(())
}

/// `Adaptive RX: off  TX: on`, `CQE mode RX: n/a  TX: n/a`.
fn both_ways(block: &mut Interface, name: &str, values: &str) -> Option<()> {
    let name = match name {
        "Adaptive" => "adaptive",
        "CQE mode" => "cqe-mode",
        _ => return None,
    };
    let (receive, send) = values.split_once("TX:")?;
    for (way, value) in [("rx", receive.trim()), ("tx", send.trim())] {
        if value != "n/a" {
            let value = Setting::Flag(on_off(value)?);
            block.coalescing.insert(format!("{name}-{way}"), value);
        }
    }
    Some(())
}

fn ring(block: &mut Interface, part: Part, line: &str) -> Option<()> {
    let (name, value) = line.split_once(':')?;
    let (key, value) = (key(name, part)?, value.trim());
    match (name, value) {
        (_, "n/a") => {}
        ("TX Push" | "RX Push" | "TCP data split", _) => {
            let value = Setting::Flag(on_off(value)?);
            block.properties.insert(key, value);
        }
        (
            "RX" | "RX Mini" | "RX Jumbo" | "TX" | "RX Buf Len" | "CQE Size" | "TX push buff len"
            | "HDS thresh",
            _,
        ) => {
            block.rings.insert(key, value.parse().ok()?);
        }
        _ => return None,
    }
    Some(())
}

fn channel(block: &mut Interface, part: Part, line: &str) -> Option<()> {
    let (name, value) = line.split_once(':')?;
    let value = value.trim();
    if !matches!(name, "RX" | "TX" | "Other" | "Combined") {
        return None;
    }
    let key = key(name, part)?;
    if value != "n/a" {
        block.channels.insert(key, value.parse().ok()?);
    }
    Some(())
}

/// `RX Mini` is `rx-mini`, or `rx-mini-max` of what could be.
fn key(name: &str, part: Part) -> Option<String> {
    let name = name.to_ascii_lowercase().replace(' ', "-");
    match part {
        Part::Before => None,
        Part::Most => Some(name + "-max"),
        Part::Now => Some(name),
    }
}
