//! Protocol counters by name: nstat, /proc/net/snmp, /proc/net/netstat and /proc/net/snmp6.

use serde_json::{Map, Value};

use super::files::{self, are_pair, listed_counter};
use super::json::is_object;
use super::out::{Out, command_words};
use crate::model::Snapshot;
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `nstat`.
pub(super) const NSTAT: Reader = Reader {
    name: "nstat",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines.next() == Some("#kernel")
            && lines.next().is_none_or(|line| nstat_line(line).is_some())
    },
    read: nstat,
};

/// `nstat -j`.
pub(super) const JSON: Reader = Reader {
    name: "nstat -j",
    recognises: |text| {
        let start = text.body.trim_start();
        is_object(text)
            && start
                .trim_start_matches(['{', ' ', '\n', '\t'])
                .starts_with("\"kernel\"")
    },
    read: nstat_json,
};

/// `/proc/net/snmp` and `/proc/net/netstat`.
pub(super) const SNMP: Reader = Reader {
    name: "/proc/net/snmp",
    recognises: |text| {
        let mut lines = first_lines(text).filter_map(|line| line.split_once(": "));
        let (names, values) = (lines.next(), lines.next());
        names
            .zip(values)
            .is_some_and(|(names, values)| are_pair(names, values))
    },
    read: snmp,
};

/// `/proc/net/snmp6`.
pub(super) const SNMP6: Reader = Reader {
    name: "/proc/net/snmp6",
    recognises: |text| {
        first_line(text).starts_with("Ip6InReceives") && listed_counter(first_line(text)).is_some()
    },
    read: snmp6,
};

fn nstat_line(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_whitespace();
    let (name, value, rate) = (words.next()?, words.next()?, words.next()?);
    let letters = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let whole = letters && rate.parse::<f64>().is_ok() && words.next().is_none();
    whole.then_some((name, value.parse().ok()?))
}

fn nstat(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NSTAT.name, snapshot);
    warn_relative(text, &mut out);
    for line in out
        .lines()
        .filter(|line| !line.is_empty() && *line != "#kernel")
    {
        match nstat_line(line) {
            Some((name, value)) => out.counter(name.to_owned(), value),
            None => out.unknown(line),
        }
    }
    out.finish();
}

/// Without `-a`, nstat prints what happened since it was last called.
fn warn_relative(text: &Text<'_>, out: &mut Out<'_>) {
    let absolute = |word: &str| {
        let short = word.starts_with('-') && !word.starts_with("--");
        short && word.contains('a') || word == "--ignore"
    };
    let mut words = command_words(text)
        .skip_while(|word| *word != "nstat")
        .peekable();
    if words.peek().is_some() && !words.any(absolute) {
        let why = "nstat without -a counts since its last call: these may not be totals";
        out.not_read("totals", why);
    }
}

fn nstat_json(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, JSON.name, snapshot);
    warn_relative(text, &mut out);
    match serde_json::from_str::<Map<String, Value>>(text.body) {
        Ok(all) => {
            let kernel = all.get("kernel").and_then(Value::as_object);
            json_counters(&mut out, kernel.unwrap_or(&Map::new()));
        }
        Err(_) => out.cut(),
    }
    out.finish();
}

fn json_counters(out: &mut Out<'_>, counters: &Map<String, Value>) {
    for (name, value) in counters {
        match value.as_u64() {
            Some(value) => out.counter(name.clone(), value),
            None => out.unknown(&format!("\"{name}\": {value}")),
        }
    }
}

fn snmp(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SNMP.name, snapshot);
    let counters = files::paired_counters(out.whole());
    out.each(counters, |out, (name, value)| out.counter(name, value));
    out.finish();
}

fn snmp6(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SNMP6.name, snapshot);
    let counters = files::listed_counters(out.whole());
    out.each(counters, |out, (name, value)| {
        out.counter(name.to_owned(), value);
    });
    out.finish();
}
