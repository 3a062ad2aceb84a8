//! `bridge link`: ports of bridges.

use serde_json::{Map, Value};

use super::details::{self, common, of_port};
use super::facts::{self, Facts};
use super::link::Header;
use crate::model::{Interface, Snapshot};
use crate::text::linux::json::{for_each, has_keys, number_of, text_of};
use crate::text::linux::out::Out;
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `bridge link`.
pub(in crate::text::linux) const TEXT: Reader = Reader {
    name: "bridge link",
    recognises: |text| {
        let line = first_line(text);
        old(line).is_some() || Header::of(line).is_some_and(|header| header.is_port())
    },
    read: read_text,
};

/// `bridge -j link`.
pub(in crate::text::linux) const JSON: Reader = Reader {
    name: "bridge -j link",
    recognises: |text| {
        has_keys(text, &["ifindex", "ifname", "master", "state"]) && !has_keys(text, &["link_type"])
    },
    read: read_json,
};

/// The line before iproute2 4.20, `2: eth0 state UP : <UP> mtu 1500 ...`, as it is since.
fn old(line: &str) -> Option<String> {
    let (index, rest) = line.split_once(": ")?;
    let (name, rest) = rest.split_once(" state ")?;
    let (_, rest) = rest.split_once(" : <")?;
    let line = format!("{index}: {name}: <{rest}");
    Header::of(&line)
        .is_some_and(|header| header.is_port())
        .then_some(line)
}

fn read_text(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TEXT.name, snapshot);
    let mut last: Option<String> = None;
    for line in out.lines().filter(|line| !line.is_empty()) {
        let header = old(line).unwrap_or_else(|| line.to_owned());
        if let Some(header) = Header::of(&header) {
            last = Some(header.name.to_owned());
            port(&mut out, &header);
        } else if !more(&mut out, last.as_deref(), line) {
            out.unknown(line);
        }
    }
    out.finish();
}

fn port(out: &mut Out<'_>, header: &Header<'_>) {
    let mut facts = Facts::new();
    let mut block = header.block(&mut facts);
    common(&mut block, &facts);
    of_port(&mut block, "bridge", &facts);
    out.interface(header.name, block);
}

/// With `-d`, lines of flags follow.
fn more(out: &mut Out<'_>, name: Option<&str>, line: &str) -> bool {
    let Some(name) = name.filter(|_| line.starts_with([' ', '\t'])) else {
        return false;
    };
    let mut facts = Facts::new();
    facts::of_words(line.split_whitespace(), &mut facts);
    let known = out.snapshot.interfaces.get_mut(name);
    let port = known.and_then(|known| known.bridge_port.as_mut());
    if let (Some(port), Some(hairpin)) = (port, facts::flag(&facts, "hairpin")) {
        port.hairpin.get_or_insert(hairpin);
    }
    true
}

fn read_json(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, JSON.name, snapshot);
    for_each(text, &mut out, json_port);
    out.finish();
}

fn json_port(out: &mut Out<'_>, object: &Map<String, Value>) {
    let mut facts = Facts::new();
    facts::of_json(object, &mut facts);
    let mut block = Interface {
        index: number_of(object, "ifindex").and_then(|index| index.try_into().ok()),
        ..Interface::default()
    };
    if let Some(flags) = object.get("flags").and_then(Value::as_array) {
        details::flags(&mut block, flags.iter().filter_map(Value::as_str));
    }
    common(&mut block, &facts);
    of_port(&mut block, "bridge", &facts);
    out.interface(text_of(object, "ifname").unwrap_or_default(), block);
}
