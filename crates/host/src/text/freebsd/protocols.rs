//! `netstat -s` of FreeBSD and macOS, whose protocols begin with a small letter.
//!
//! A counter's name is its protocol and its words, in the plural: `ip: datagrams that can't be
//! fragmented`. Bytes in parentheses are a counter of their own: `tcp: data packets (bytes)`.

use super::super::Text;
use crate::model::Snapshot;
use crate::text::notes::{Notes, first_line, first_lines, whole_lines};

/// Protocols, as they head their section.
const PROTOCOLS: &[&str] = &[
    "tcp", "udp", "ip", "icmp", "igmp", "ip6", "icmp6", "rip6", "arp", "ipsec", "ipsec6", "ah",
    "esp", "ipcomp", "sctp", "carp", "pfsync", "divert", "pim", "mptcp", "ipsec4", "netlink",
];

/// What is counted: of a single one FreeBSD prints the singular.
const NOUNS: &[&str] = &[
    "accept",
    "ack",
    "attempt",
    "byte",
    "call",
    "connection",
    "datagram",
    "drop",
    "entry",
    "episode",
    "error",
    "failure",
    "fragment",
    "message",
    "packet",
    "probe",
    "query",
    "reply",
    "request",
    "retransmission",
    "retransmit",
    "rexmit",
    "segment",
    "send",
    "timeout",
    "time",
];

pub(super) fn recognises(text: &Text<'_>) -> bool {
    let second = first_lines(text).nth(1).unwrap_or_default();
    protocol(first_line(text)).is_some() && second.starts_with([' ', '\t'])
}

fn protocol(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_suffix(':')?;
    PROTOCOLS.contains(&name).then_some(name)
}

/// Where in the text a line is.
struct Place<'a> {
    protocol: &'a str,
    /// A heading within the protocol, such as `Output histogram`, and how far it is indented.
    group: Option<(&'a str, usize)>,
}

pub(super) fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let mut place = None;
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(protocol) = protocol(line) {
            let group = None;
            place = Some(Place { protocol, group });
        } else if !line.starts_with([' ', '\t']) {
            // A protocol that is not known here: its counters must not go to the one before.
            place = None;
            notes.line(line);
        } else if let Some(place) = &mut place {
            counted(line, place, snapshot, &mut notes);
        }
    }
    notes.finish(snapshot);
}

fn counted<'a>(line: &'a str, place: &mut Place<'a>, to: &mut Snapshot, notes: &mut Notes<'_>) {
    let depth = line.len() - line.trim_start().len();
    let words = line.trim();
    if place.group.is_some_and(|(_, group)| depth <= group) {
        place.group = None;
    }
    if let Some(group) = words.strip_suffix(':') {
        place.group = Some((group, depth));
    } else if !(plain(words, place, to) || listed(words, place, to)) {
        notes.line(line);
    }
}

/// `12 data packets (345 bytes)`.
fn plain(words: &str, place: &Place<'_>, to: &mut Snapshot) -> bool {
    let Some((number, rest)) = words.split_once(' ') else {
        return false;
    };
    let Ok(count) = number.parse::<u64>() else {
        return false;
    };
    let (name, bytes) = bytes(rest);
    let name = plural(&without_parentheses(&name), count);
    let name = full_name(place, &name);
    if let Some(bytes) = bytes {
        add(format!("{name} (bytes)"), bytes, to);
    }
    add(name, count, to);
    true
}

/// `echo reply: 12`, in a histogram.
fn listed(words: &str, place: &Place<'_>, to: &mut Snapshot) -> bool {
    let Some((name, count)) = words.rsplit_once(": ") else {
        return false;
    };
    let Ok(count) = count.trim().parse() else {
        return false;
    };
    let group = place.group.is_some();
    if group {
        add(full_name(place, name), count, to);
    }
    group
}

fn full_name(place: &Place<'_>, name: &str) -> String {
    match place.group {
        Some((group, _)) => format!("{}: {group}: {name}", place.protocol),
        None => format!("{}: {name}", place.protocol),
    }
}

/// The first of two with one name stays; a later one may be of another host.
fn add(name: String, count: u64, to: &mut Snapshot) {
    to.stack.counters.entry(name).or_insert(count);
}

/// Takes `(345 bytes)` out.
fn bytes(words: &str) -> (String, Option<u64>) {
    let whole = (words.to_owned(), None);
    let Some((before, rest)) = words.split_once('(') else {
        return whole;
    };
    let Some((inside, after)) = rest.split_once(')') else {
        return whole;
    };
    let count = inside
        .strip_suffix(" bytes")
        .or(inside.strip_suffix(" byte"));
    match count.and_then(|count| count.parse().ok()) {
        Some(count) => (format!("{}{after}", before.trim_end()), Some(count)),
        None => whole,
    }
}

/// `(of 12 attempts)` is a number of its own, and no part of the name.
fn without_parentheses(words: &str) -> String {
    let cut = words.split_once(" (").filter(|(_, inside)| {
        let digit = |b: u8| b.is_ascii_digit();
        inside.bytes().any(digit)
    });
    let (before, inside) = cut.unwrap_or((words, ""));
    let after = inside.split_once(')').map_or("", |(_, after)| after);
    format!("{before}{after}").trim().to_owned()
}

/// One `packet sent` counts what several `packets sent` do.
fn plural(words: &str, count: u64) -> String {
    let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let noun = |word: Option<&String>| word.is_some_and(|word| NOUNS.contains(&word.as_str()));
    let all = 0..words.len();
    let head = all
        .into_iter()
        .find(|at| noun(words.get(*at)) && !noun(words.get(at + 1)));
    if let (1, Some(word)) = (count, head.and_then(|at| words.get_mut(at))) {
        match word.strip_suffix('y') {
            Some(stem) => *word = format!("{stem}ies"),
            None => word.push('s'),
        }
    }
    words.join(" ")
}
