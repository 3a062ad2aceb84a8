//! `netstat -i` and `netstat -rn` of the BSDs.

use std::collections::btree_map::Entry;

use super::super::Text;
use crate::model::{Interface, Route, Snapshot};
use crate::network::{network, without_zone};
use crate::text::notes::{Notes, first_line, first_lines, mac, whole_lines};

/// Columns of `netstat -i` behind the address, and the counter that each is.
const COUNTERS: &[(&str, &str)] = &[
    ("Ipkts", "rx_packets"),
    ("Ierrs", "rx_errors"),
    ("Idrop", "rx_dropped"),
    ("Ibytes", "rx_bytes"),
    ("Opkts", "tx_packets"),
    ("Oerrs", "tx_errors"),
    ("Obytes", "tx_bytes"),
    ("Coll", "collisions"),
    ("Drop", "tx_dropped"),
];

pub(super) fn recognises_interfaces(text: &Text<'_>) -> bool {
    columns(first_line(text)).is_some()
}

/// The counters of a header, in order.
fn columns(header: &str) -> Option<Vec<&'static str>> {
    let mut words = header.split_whitespace();
    let begin = ["Name", "Mtu", "Network", "Address"];
    if !begin.iter().all(|word| words.next() == Some(word)) {
        return None;
    }
    let counter = |word: &str| COUNTERS.iter().find(|(name, _)| *name == word);
    let names: Option<Vec<_>> = words.map(|word| counter(word).map(|(_, to)| *to)).collect();
    names.filter(|names| !names.is_empty())
}

pub(super) fn read_interfaces(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().unwrap_or_default();
    let columns = columns(header).unwrap_or_default();
    // Old releases cut names to five characters, in a column of five.
    let narrow = header.find("Mtu").is_some_and(|at| at < 9);
    for line in lines.filter(|line| line.contains("<Link#")) {
        if link(line, &columns, narrow, snapshot, &mut notes).is_none() {
            notes.line(line);
        }
    }
    notes.finish(snapshot);
}

/// A row of the link layer; those of the network layers count the same packets once more.
fn link(
    line: &str,
    columns: &[&str],
    narrow: bool,
    to: &mut Snapshot,
    notes: &mut Notes<'_>,
) -> Option<()> {
    let interface = interface(line, columns)?;
    let name = interface.name.clone();
    if narrow && name.len() >= 5 {
        let why = "the name may be cut: `netstat -W` prints it whole";
        notes.add("narrow", &format!("`{name}`"), why);
    } else if let Entry::Vacant(free) = to.interfaces.entry(name.clone()) {
        free.insert(Box::new(interface));
    } else {
        let why = "a second interface of this name: another host or time, left out";
        notes.add("again", &format!("`{name}`"), why);
    }
    Some(())
}

fn interface(line: &str, columns: &[&str]) -> Option<Interface> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, mtu, network, rest @ ..] = words.as_slice() else {
        return None;
    };
    // The address may be missing, and shows in the number of words.
    let (address, numbers) = rest.split_at(rest.len().checked_sub(columns.len())?);
    let values: Result<Vec<u64>, _> = numbers.iter().map(|word| word.parse()).collect();
    let values = values.ok().filter(|_| address.len() <= 1)?;
    let named = columns.iter().map(|name| (*name).to_owned());
    let index = network.strip_prefix("<Link#")?.strip_suffix('>')?;
    Some(Interface {
        name: name.trim_end_matches('*').to_owned(),
        index: Some(index.parse().ok()?),
        mtu_bytes: Some(mtu.parse().ok()?),
        up: name.ends_with('*').then_some(false),
        mac: address.first().and_then(|address| mac(address)),
        counters: named.zip(values).collect(),
        ..Interface::default()
    })
}

/// Linux prints `Kernel IP routing table`.
pub(super) fn recognises_routes(text: &Text<'_>) -> bool {
    let second = first_lines(text).nth(1).unwrap_or_default();
    let first = first_line(text).trim_end();
    let table = first == "Routing tables" || first.starts_with("Routing tables (fib: ");
    table && (second.starts_with("Internet") || second.starts_with("Destination"))
}

pub(super) fn read_routes(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let fib = first_line(text).strip_prefix("Routing tables (fib: ");
    if fib.is_some_and(|fib| !fib.starts_with("0)")) {
        let why = "a routing table other than the first";
        notes.add("fib", first_line(text).trim(), why);
        return notes.finish(snapshot);
    }
    let mut column = None;
    for line in body.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            Some(&"Destination") => column = netif(&words),
            Some(&"default" | &"0.0.0.0/0" | &"::/0") => {
                match column.and_then(|at| words.get(at)) {
                    Some(name) => snapshot.interface_mut(name).default_route = Some(true),
                    None => notes.line(line),
                }
            }
            Some(to) => {
                let route = column.and_then(|at| route(to, words.get(at)?));
                let routes = &mut snapshot.stack.routes;
                let has_room = routes.len() < ROUTES;
                routes.extend(route.filter(|_| has_room));
            }
            None => {}
        }
    }
    notes.finish(snapshot);
}

/// Routes that are kept of one text.
const ROUTES: usize = 20_000;

/// A route to a network, whose address may have a zone (`fe80::%lo0/64`).
fn route(to: &str, interface: &str) -> Option<Route> {
    let to = without_zone(to);
    network(&to)?;
    let interfaces = vec![interface.to_owned()];
    Some(Route {
        to,
        interfaces,
        ..Route::default()
    })
}

fn netif(header: &[&str]) -> Option<usize> {
    let name = |word: &&str| ["Netif", "Iface", "Interface"].contains(word);
    header.iter().position(name)
}
