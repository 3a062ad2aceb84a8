//! `ip route` and `ip route get`: which interfaces carry a default route, and where others lead.

use std::net::Ipv4Addr;

use serde_json::{Map, Value};

use crate::model::{Interface, Route, Snapshot};
use crate::names::network_of;
use crate::text::linux::json::{for_each, has_keys, number_of, text_of};
use crate::text::linux::out::Out;
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `ip route`.
pub(in crate::text::linux) const TEXT: Reader = Reader {
    name: "ip route",
    recognises: |text| is_route(first_line(text)),
    read: read_text,
};

/// `route -n` and `netstat -rn` of net-tools.
pub(in crate::text::linux) const OLD: Reader = Reader {
    name: "route -n",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines.next() == Some("Kernel IP routing table")
            && lines
                .next()
                .is_some_and(|titles| titles.starts_with("Destination "))
    },
    read: |text, snapshot| {
        let mut out = Out::linux(text, OLD.name, snapshot);
        for line in out.lines().filter(|line| !line.is_empty()).skip(2) {
            match old(line) {
                Some(route) => put(&mut out, route),
                None => out.unknown(line),
            }
        }
        out.finish();
    },
};

/// `10.1.0.0        0.0.0.0         255.255.0.0     U     0      0        0 eth1`; of one that refuses (`!`) there is nothing to
/// keep.
fn old(line: &str) -> Option<Option<Route>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [to, _, mask, flags, .., interface] = words.as_slice() else {
        return None;
    };
    let mask: Ipv4Addr = mask.parse().ok()?;
    let length = mask.to_bits().leading_ones();
    let to = match (*to, length) {
        ("default" | "0.0.0.0", 0) => "default".to_owned(),
        (to, length) => format!("{}/{length}", to.parse::<Ipv4Addr>().ok()?),
    };
    let route = Route {
        to,
        interfaces: vec![(*interface).to_owned()],
        metric: None,
    };
    Some(Some(route).filter(|_| words.len() == 8 && !flags.contains('!')))
}

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

/// Routes that are kept of one text: a router of the Internet has a million.
const KEPT: usize = 2_000;

fn is_route(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| !TYPES.contains(word));
    let to = words.next().unwrap_or_default();
    let known = words
        .clone()
        .any(|word| matches!(word, "dev" | "proto" | "nhid"));
    (to == "default" || is_prefix(to)) && known && !is_neighbour(line)
}

/// States of neighbours, as `ip neigh` has them at the end of a line (ip/ipneigh.c).
const NEIGHBOURS: [&str; 8] = [
    "INCOMPLETE",
    "REACHABLE",
    "STALE",
    "DELAY",
    "PROBE",
    "FAILED",
    "NOARP",
    "PERMANENT",
];

/// `192.0.2.7 dev eth0 lladdr 02:00:00:00:00:07 STALE`, which begins like the route to a host.
fn is_neighbour(line: &str) -> bool {
    let last = line.split_whitespace().next_back();
    last.is_some_and(|word| NEIGHBOURS.contains(&word))
}

fn is_prefix(word: &str) -> bool {
    let (address, length) = word.split_once('/').unwrap_or((word, "0"));
    address.parse::<std::net::IpAddr>().is_ok() && length.parse::<u8>().is_ok()
}

fn read_text(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TEXT.name, snapshot);
    let mut open: Option<Route> = None;
    for line in out.lines().filter(|line| !line.is_empty()) {
        let goes_on = line.starts_with([' ', '\t']);
        if !goes_on {
            put(&mut out, open.take());
            open = route(line);
        }
        if !goes_on && !is_route(line) && !is_refusal(line) {
            out.unknown(line);
        } else if let (Some(route), Some(name)) = (&mut open, after(line, "dev")) {
            route.interfaces.push(name.to_owned());
        }
    }
    put(&mut out, open);
    out.finish();
}

/// `unreachable default metric 4278198272`
fn is_refusal(line: &str) -> bool {
    line.split(' ')
        .next()
        .is_some_and(|word| TYPES.contains(&word))
}

/// A route of the main table: rules may send nothing to the others. What was asked for by `ip route
/// get` is where packets go, whatever the table.
fn route(line: &str) -> Option<Route> {
    let main = after(line, "table").is_none_or(is_main);
    let mut words = line.split(' ').filter(|word| *word != "unicast");
    let to = words.next()?;
    let asked = !to.contains('/') && after(line, "uid").is_some();
    (main || asked).then_some(Route {
        to: network(to)?,
        interfaces: Vec::new(),
        metric: after(line, "metric").and_then(|metric| metric.parse().ok()),
    })
}

fn is_main(table: &str) -> bool {
    matches!(table, "main" | "254")
}

/// A single address has the longest prefix.
fn network(to: &str) -> Option<String> {
    match to.parse() {
        Ok(address) => Some(network_of(address)),
        Err(_) => (to == "default" || is_prefix(to)).then(|| to.to_owned()),
    }
}

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == key)?;
    words.next()
}

fn put(out: &mut Out<'_>, route: Option<Route>) {
    let Some(route) = route.filter(|route| !route.interfaces.is_empty()) else {
        return;
    };
    let is_default = route.to == "default";
    for name in route.interfaces.iter().filter(|_| is_default) {
        let block = Interface {
            default_route: Some(true),
            ..Interface::default()
        };
        out.interface(name, block);
    }
    let routes = &mut out.snapshot.stack.routes;
    if routes.len() < KEPT && !routes.contains(&route) {
        routes.push(route);
    }
}

fn read_json(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, JSON.name, snapshot);
    for_each(text, &mut out, |out, object| {
        let plain = text_of(object, "type").is_none_or(|kind| kind == "unicast");
        let main = text_of(object, "table").is_none_or(is_main) || object.contains_key("uid");
        if plain && main {
            put(out, json_route(object));
        }
    });
    out.finish();
}

fn json_route(object: &Map<String, Value>) -> Option<Route> {
    let hops = object.get("nexthops").and_then(Value::as_array);
    let hops = hops.into_iter().flatten().filter_map(Value::as_object);
    let names = hops.chain([object]).filter_map(|hop| text_of(hop, "dev"));
    Some(Route {
        to: network(text_of(object, "dst")?)?,
        interfaces: names.map(str::to_owned).collect(),
        metric: number_of(object, "metric").and_then(|metric| metric.try_into().ok()),
    })
}
