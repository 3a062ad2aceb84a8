//! Lines that name the host whose output stands below.

use crate::sources::command;
use crate::sources::split::{
    Line, Lines, Names, Typed, begins_output, is_begin, is_time, is_uname,
};

/// One or three lines, and where they are.
pub(super) struct Heading<'a> {
    pub(super) host: &'a str,
    /// In bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The lines of the text up to its end.
    pub(super) lines: usize,
}

/// Headings that only tools print.
pub(super) fn certain(text: &str) -> Vec<Heading<'_>> {
    let mut headings = ruled(text, is_rule_of_tools);
    let single = Lines::of(text).filter_map(|line| {
        let read = [ansible, pssh, named];
        let host = read.iter().find_map(|read| read(line.text.trim_end()))?;
        Some(at(&line, host))
    });
    headings.extend(single);
    headings.sort_by_key(|heading| heading.start);
    headings
}

/// Headings that a loop prints for each host (`echo "=== $host ==="`), with the begin of an output below.
pub(super) fn likely(text: &str) -> Vec<Heading<'_>> {
    let mut headings = ruled(text, is_rule);
    headings.extend(Lines::of(text).filter_map(|line| {
        // Below the name of an interface `ip -d link` of iproute2 before 3.18 has a kind alone on a line.
        let is_within = line.text.starts_with("    ") && !line.text.contains(['=', '#', '*', '-']);
        let word = word(line.text.trim()).filter(|_| !is_within)?;
        Some(at(&line, word))
    }));
    let names = Names::of(text);
    let typed = Typed::of(text);
    headings.retain(|heading| {
        !command::is_known(heading.host)
            && !command::is_way(heading.host)
            && !is_time(heading.host)
            && begins_output(&text[heading.end..])
            && !names.is_title(heading.host, &text[heading.end..])
            && !typed.is_comment(heading.start, text)
    });
    headings.extend(Lines::of(text).filter_map(|line| in_front(&line)));
    let unames: Vec<Heading<'_>> = Lines::of(text).filter_map(|line| of_uname(&line)).collect();
    // One host says its name once, or always the same.
    if unames.iter().any(|heading| heading.host != unames[0].host) {
        headings.sort_by_key(|heading| heading.start);
        let is_headed = |uname: &Heading<'_>| is_below(uname, &headings, text);
        let own: Vec<Heading<'_>> = unames.into_iter().filter(|one| !is_headed(one)).collect();
        headings.extend(own);
    }
    headings.sort_by_key(|heading| heading.start);
    headings
}

/// Whether nothing stands between the last of the headings above and a name that the host says itself.
fn is_below(uname: &Heading<'_>, headings: &[Heading<'_>], text: &str) -> bool {
    let above = headings.partition_point(|heading| heading.end <= uname.start);
    let last = headings[..above].last();
    last.is_some_and(|last| text[last.end..uname.start].trim().is_empty())
}

/// `Linux gw 6.1.0-28-amd64 #1 SMP ...` begins what its host printed, and belongs to that.
fn of_uname<'a>(line: &Line<'a>) -> Option<Heading<'a>> {
    if !is_uname(line.text) {
        return None;
    }
    let host = line.text.split_whitespace().nth(1)?;
    is_host(host).then(|| Heading {
        end: line.start,
        lines: line.number - 1,
        ..at(line, host)
    })
}

/// `gw: 1: lo: <LOOPBACK,UP> mtu 65536`, before the first line of what a host printed alone (`salt --out=txt`).
fn in_front<'a>(line: &Line<'a>) -> Option<Heading<'a>> {
    let (host, rest) = line.text.split_once(": ")?;
    (is_host(host) && !is_begin(line.text) && is_begin(rest)).then(|| Heading {
        end: line.start + line.text.len() - rest.len(),
        lines: line.number - 1,
        ..at(line, host)
    })
}

fn at<'a>(line: &Line<'a>, host: &'a str) -> Heading<'a> {
    Heading {
        host,
        start: line.start,
        end: line.end,
        lines: line.number,
    }
}

/// `gw | CHANGED | rc=0 >>`, of a module `gw | SUCCESS => {`.
fn ansible(line: &str) -> Option<&str> {
    let (host, rest) = line.split_once(" | ")?;
    let states = ["CHANGED", "SUCCESS", "FAILED", "UNREACHABLE"];
    let behind = states.iter().find_map(|state| rest.strip_prefix(state))?;
    let behind = behind.trim_start_matches('!');
    let fits = behind.starts_with(" | rc=") && behind.ends_with(" >>") || behind == " => {";
    (fits && is_host(host)).then_some(host)
}

/// `[1] 10:01:01 [SUCCESS] gw`, with the user and the port where they were given.
fn pssh(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (time, rest) = rest.split_once(" [")?;
    let (state, rest) = rest.split_once("] ")?;
    let host = rest.split(' ').next()?;
    let host = host.split_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_time = time.len() == 8 && time.matches(':').count() == 2;
    let is_number = number.parse::<u32>().is_ok();
    let fits = is_number && is_time && matches!(state, "SUCCESS" | "FAILURE");
    (fits && is_host(host)).then_some(host)
}

/// `=== host: gw ===`, `### Hostname gw`.
fn named(line: &str) -> Option<&str> {
    let text = between_marks(line).filter(|_| !line.starts_with(['>', '+']))?;
    let (title, host) = text.split_once([' ', ':'])?;
    let host = host.trim_start_matches(':').trim();
    (is_one_of(title, &TITLES) && is_host(host)).then_some(host)
}

/// `=== gw ===`, `*** gw ***`, `--- gw`, `# gw`, `[gw]`, `gw:`, `gw`, `gw =====`, `Host: gw`, `Server gw:`, `==> out/gw.txt <==`;
/// with a time or an address behind the name.
fn word(line: &str) -> Option<&str> {
    if let Some(file) = line.strip_prefix("==> ") {
        return of_file(file.strip_suffix(" <==")?);
    }
    // What a shell traces (`+ ssh gw`) is no title.
    if line.starts_with("+ ") && !line.ends_with('+') {
        return None;
    }
    let inner = between_marks(line)
        .or_else(|| line.strip_prefix('[')?.strip_suffix(']'))
        .unwrap_or(line);
    let inner = inner.trim_end_matches(|c: char| "#=*-<. ".contains(c));
    let (name, is_named) = match inner.split_once([' ', ':']) {
        Some((title, name)) if is_title(title) => (name.trim_start_matches([':', ' ']), true),
        _ => (inner, false),
    };
    // A time or an address may stand behind a name between marks, or behind a title.
    let is_marked = is_named || between_marks(line).is_some();
    let name = match name.split_once(' ') {
        Some((name, rest)) if is_marked && is_time_or_address(rest) => name,
        _ => name,
    };
    let name = name.strip_suffix(':').unwrap_or(name);
    let name = name.split_once('@').map_or(name, |(_, host)| host);
    is_host(name).then_some(name)
}

/// `(192.0.2.7)`, `2026-11-27 10:00 UTC`, `Fri Nov 27 10:00:00 CET 2026`; and no words, as in a comment.
fn is_time_or_address(text: &str) -> bool {
    let digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let short = |word: &str| word.len() <= 4 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let mut words = text.split_whitespace();
    let is_shaped = |word: &str| digit(word) && word.contains([':', '.', '-']);
    text.split_whitespace().any(is_shaped) && words.all(|word| digit(word) || short(word))
}

/// Titles that stand before the name of a host.
const TITLES: [&str; 4] = ["host", "hostname", "node", "server"];

fn is_title(word: &str) -> bool {
    is_one_of(word, &TITLES) || word.eq_ignore_ascii_case("router")
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A file that is named after a host: `gw.txt`, and not after a command or by its path on the host.
pub(super) fn of_file(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let stem = command::stem(name);
    // `ethtool_eth0` names no option, and no host either: those have no underscore as a rule, and `ip-192-0-2-7` is one.
    let is_begun = stem
        .split_once('_')
        .is_some_and(|(word, _)| command::is_known(word));
    let is_command = command::is_known(path) || command::of_name(name).is_some() || is_begun;
    (!is_command && is_host(stem)).then_some(stem)
}

/// The text between marks, of which there is one before it at least, and those behind it.
fn between_marks(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| "#=*->+".contains(*c))?;
    let behind = line.trim_start_matches(mark);
    let end = |c: char| c == mark || mark == '>' && c == '<';
    Some(behind.trim_end_matches(end).trim())
}

/// A name between two rules (ClusterShell's `clush -b`, `dshbak`).
fn ruled(text: &str, is_rule: fn(&str) -> bool) -> Vec<Heading<'_>> {
    let mut headings = Vec::new();
    let mut above: [Option<Line<'_>>; 2] = [None, None];
    for line in Lines::of(text) {
        let heading = match &above {
            [Some(first), Some(name)] if first.text == line.text && is_rule(line.text) => {
                is_hosts(name.text).then(|| Heading {
                    start: first.start,
                    ..at(&line, name.text)
                })
            }
            _ => None,
        };
        let is_over = heading.is_some();
        headings.extend(heading);
        let [_, last] = above;
        above = if is_over {
            [None, None]
        } else {
            [last, Some(line)]
        };
    }
    headings
}

/// ClusterShell prints 15 dashes, dshbak 16.
fn is_rule_of_tools(line: &str) -> bool {
    matches!(line.len(), 15 | 16) && line.bytes().all(|byte| byte == b'-')
}

fn is_rule(line: &str) -> bool {
    let mark = line.bytes().next().filter(|mark| b"-=*#".contains(mark));
    line.len() >= 3 && mark.is_some_and(|mark| line.bytes().all(|byte| byte == mark))
}

/// One host, or a set of hosts that printed the same: `gw[1-2],lb (3)`.
fn is_hosts(names: &str) -> bool {
    let names = names.split_once(" (").map_or(names, |(names, _)| names);
    let plain: String = names.chars().filter(|c| !"[],".contains(*c)).collect();
    is_host(&plain)
}

/// A name or an address of a host: RFC 1123 section 2.1, and the underscore that people use nevertheless.
pub(super) fn is_host(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_named = name.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_address = name.parse::<std::net::Ipv4Addr>().is_ok();
    (1..=253).contains(&name.len())
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name.bytes().all(fits)
        && (is_named || is_address)
}
