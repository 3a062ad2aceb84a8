//! `netstat -s`: counters in words.

use super::netstat_words::WORDS;
use super::out::Out;
use crate::model::Snapshot;
use crate::text::notes::first_lines;
use crate::text::{Reader, Text};

/// `netstat -s`.
pub(super) const NETSTAT: Reader = Reader {
    name: "netstat -s",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines.next().is_some_and(|line| section(line).is_some())
            && lines
                .take(10)
                .all(|line| section(line).is_some() || is_below(line))
    },
    read,
};

const SECTIONS: [&str; 15] = [
    "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt", "Sctp", "Ip6",
    "Icmp6", "Udp6", "UdpLite6", "IpReasm",
];

fn is_below(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

fn section(line: &str) -> Option<&str> {
    let name = line.strip_suffix(':')?;
    SECTIONS.contains(&name).then_some(name)
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NETSTAT.name, snapshot);
    let (mut part, mut way) = ("", "");
    for line in out.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = section(line) {
            (part, way) = (name, "");
        } else if !is_below(line) {
            // A section that is not known: what is below it must not count for another.
            part = "";
            out.unknown(line);
        } else if let Some(next) = histogram(line.trim()) {
            way = next;
        } else {
            counter(&mut out, part, way, line.trim());
        }
    }
    out.finish();
}

/// Below this, the same words mean what came in or what went out.
fn histogram(line: &str) -> Option<&'static str> {
    match line {
        "ICMP input histogram:" => Some(" In"),
        "ICMP output histogram:" => Some(" Out"),
        _ => None,
    }
}

fn counter(out: &mut Out<'_>, part: &str, way: &str, line: &str) {
    let Some((words, value)) = split(line) else {
        out.unknown(line);
        return;
    };
    match name(part, way, &words) {
        Some(name) => out.counter(name, value),
        None => out.unknown(line),
    }
}

/// The only number of a line, and the words around it: `#` stands for it within them.
fn split(line: &str) -> Option<(String, u64)> {
    if let Some((words, value)) = line.rsplit_once(": ") {
        return Some((words.to_owned(), value.parse().ok()?));
    }
    let line = line.trim_end_matches('.');
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    let value: u64 = numbers.next().filter(|_| numbers.next().is_none())?;
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = line
        .split(' ')
        .map(|word| if is_number(word) { "#" } else { word });
    let words: Vec<&str> = words.collect();
    let words = words.join(" ");
    Some((
        words
            .strip_prefix("# ")
            .map_or(words.clone(), str::to_owned),
        value,
    ))
}

/// The counter that words of a section stand for.
fn name(part: &str, way: &str, words: &str) -> Option<String> {
    let within = |section: &str| {
        let rest = section.strip_prefix(part);
        rest == Some("") || rest == Some(way)
    };
    let mut known = WORDS.iter().filter(|(section, ..)| within(section));
    if let Some((.., name)) = known.find(|(_, known, _)| *known == words) {
        return Some(format!("{part}{name}"));
    }
    plain(part, words)
}

/// A counter that netstat has no words for: the kernel's name, for IPv6 with the section before it.
fn plain(part: &str, words: &str) -> Option<String> {
    let letters = words.chars().all(|letter| letter.is_ascii_alphanumeric());
    let upper = words.starts_with(|first: char| first.is_ascii_uppercase());
    if part.is_empty() || !letters || !upper {
        return None;
    }
    let full = part.ends_with('6') && words.starts_with(part);
    Some(if full {
        words.to_owned()
    } else {
        format!("{part}{words}")
    })
}
