//! `ip route`: which interfaces carry a default route.

use serde_json::{Map, Value};

use crate::model::{Interface, Snapshot};
use crate::text::linux::json::{for_each, has_keys, text_of};
use crate::text::linux::out::Out;
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `ip route`.
pub(in crate::text::linux) const TEXT: Reader = Reader {
    name: "ip route",
    recognises: |text| is_route(first_line(text)),
    read: read_text,
};

/// `ip -j route`.
pub(in crate::text::linux) const JSON: Reader = Reader {
    name: "ip -j route",
    recognises: |text| has_keys(text, &["dst", "flags"]) && !has_keys(text, &["ifindex"]),
    read: read_json,
};

/// Words before a destination that is not forwarded to an interface.
const TYPES: [&str; 9] = [
    "unicast",
    "local",
    "broadcast",
    "multicast",
    "throw",
    "unreachable",
    "prohibit",
    "blackhole",
    "anycast",
];

fn is_route(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| !TYPES.contains(word));
    let to = words.next().unwrap_or_default();
    let known = words
        .clone()
        .any(|word| matches!(word, "dev" | "proto" | "nhid"));
    (to == "default" || is_prefix(to)) && known
}

fn is_prefix(word: &str) -> bool {
    let (address, length) = word.split_once('/').unwrap_or((word, "0"));
    address.parse::<std::net::IpAddr>().is_ok() && length.parse::<u8>().is_ok()
}

fn read_text(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TEXT.name, snapshot);
    let mut of_default = false;
    for line in out.lines().filter(|line| !line.is_empty()) {
        let goes_on = line.starts_with([' ', '\t']);
        if !goes_on {
            of_default = is_default(line);
        }
        if !goes_on && !is_route(line) && !is_refusal(line) {
            out.unknown(line);
        } else if of_default && let Some(name) = after(line, "dev") {
            add(&mut out, name);
        }
    }
    out.finish();
}

/// `unreachable default metric 4278198272`
fn is_refusal(line: &str) -> bool {
    line.split(' ')
        .next()
        .is_some_and(|word| TYPES.contains(&word))
}

/// Of the main table: rules may send nothing to the others.
fn is_default(line: &str) -> bool {
    let main = after(line, "table").is_none_or(|table| matches!(table, "main" | "254"));
    main && line.split(' ').next() == Some("default")
}

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == key)?;
    words.next()
}

fn add(out: &mut Out<'_>, name: &str) {
    let block = Interface {
        default_route: Some(true),
        ..Interface::default()
    };
    out.interface(name, block);
}

fn read_json(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, JSON.name, snapshot);
    for_each(text, &mut out, |out, object| {
        let plain = text_of(object, "type").is_none_or(|kind| kind == "unicast");
        let main = text_of(object, "table").is_none_or(|table| table == "main");
        if plain && main && text_of(object, "dst") == Some("default") {
            json_default(out, object);
        }
    });
    out.finish();
}

fn json_default(out: &mut Out<'_>, object: &Map<String, Value>) {
    let hops = object.get("nexthops").and_then(Value::as_array);
    let hops = hops.into_iter().flatten().filter_map(Value::as_object);
    for name in hops.chain([object]).filter_map(|hop| text_of(hop, "dev")) {
        add(out, name);
    }
}
