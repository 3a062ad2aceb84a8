//! Forms in which a tool wraps what hosts printed: results of a playbook of Ansible, one line a host (`ansible -o`), lines of
//! Fabric.

use std::borrow::Cow;

use serde_json::Value;

use super::Share;
use super::heading::is_host;
use crate::sources::split::begins_output;

/// The shares of a text whose hosts are wrapped so; `None` if no output is in there.
pub(super) fn wrapped(text: &str) -> Option<Vec<Share<'_>>> {
    let is_known = |shares: &Vec<Share<'_>>| {
        let mut shares = shares.iter();
        shares.any(|share| begins_output(&share.text))
    };
    let found = playbook(text);
    let found = Some(found).filter(is_known);
    found.or_else(|| one_line(text).filter(is_known))
}

fn share<'a>(host: &'a str, before: usize, text: String) -> Share<'a> {
    Share {
        host: Some(Cow::Borrowed(host)),
        file: None,
        before,
        text: Cow::Owned(text),
    }
}

/// `ok: [gw] => {`, an object of JSON, `}`.
fn playbook(text: &str) -> Vec<Share<'_>> {
    let mut shares = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        match result(line.trim_end()) {
            Some((host, "{")) => {
                let inside = lines.by_ref().map(|(line, _)| line.trim_end());
                let inside: Vec<&str> = inside.take_while(|line| *line != "}").collect();
                let object = format!("{{\n{}\n}}", inside.join("\n"));
                shares.extend(printed(&object).map(|text| share(host, number, text)));
            }
            Some((host, object)) => {
                let text = printed(object);
                shares.extend(text.map(|text| share(host, number, text)));
            }
            None => shares.extend(failed(line).map(|host| share(host, number, String::new()))),
        }
    }
    shares
}

/// The host and the begin of the object: `changed: [gw] => (item=eth0) => {`.
fn result(line: &str) -> Option<(&str, &str)> {
    let states = ["ok: [", "changed: ["];
    let rest = states.iter().find_map(|state| line.strip_prefix(state))?;
    let (host, rest) = rest.split_once(']')?;
    let (_, object) = rest.rsplit_once(" => ")?;
    (is_host(host) && object.starts_with('{')).then_some((host, object))
}

/// `fatal: [gw]: UNREACHABLE! => {"msg": ...}`: nothing is known of that host.
fn failed(line: &str) -> Option<&str> {
    let states = ["fatal: [", "failed: ["];
    let rest = states.iter().find_map(|state| line.strip_prefix(state))?;
    let (host, _) = rest.split_once(']')?;
    is_host(host).then_some(host)
}

/// What commands printed, by the names that Ansible's modules have for that; `None` if nothing is in there.
fn printed(object: &str) -> Option<String> {
    let mut text = String::new();
    gather(&serde_json::from_str(object).ok()?, &mut text);
    (!text.trim().is_empty()).then_some(text)
}

/// Fields with what a command printed, the same in several forms: the first one is taken.
const FIELDS: [&str; 3] = ["stdout_lines", "stdout", "msg"];

fn gather(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let has_name = |key: &str, name: &str| key.rsplit('.').next() == Some(name);
            let of_name = |name: &str| {
                let mut fields = fields.iter();
                let found = fields.find(|(key, _)| has_name(key, name));
                found.and_then(|(_, value)| lines(value))
            };
            match FIELDS.iter().find_map(|name| of_name(name)) {
                Some(found) => text.push_str(&found),
                None => fields.values().for_each(|value| gather(value, text)),
            }
        }
        Value::Array(all) => all.iter().for_each(|value| gather(value, text)),
        _ => {}
    }
}

/// A text, or its lines; `None` of anything else.
fn lines(value: &Value) -> Option<String> {
    let whole = |line: &str| format!("{}\n", line.trim_end_matches('\n'));
    match value {
        Value::String(text) => Some(whole(text)),
        Value::Array(all) => all.iter().map(|line| Some(whole(line.as_str()?))).collect(),
        _ => None,
    }
}

/// `gw | CHANGED | rc=0 | (stdout) 1: lo: <LOOPBACK,UP>\n2: eth0: ...`, a line for each host and nothing else.
fn one_line(text: &str) -> Option<Vec<Share<'_>>> {
    let lines = text.lines().zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim().is_empty());
    let shares = lines.map(|(line, number)| {
        let (host, rest) = line.split_once(" | ")?;
        let printed = rest.split_once(" | (stdout) ").map(|(_, printed)| printed);
        let is_silent = rest.starts_with("UNREACHABLE") || rest.starts_with("FAILED");
        let text = printed.map(unescaped).or(is_silent.then(String::new))?;
        is_host(host).then(|| share(host, number, text))
    });
    shares.collect()
}

/// With line feeds and tabs in place of `\n` and `\t`, and without what was printed to stderr.
fn unescaped(line: &str) -> String {
    let line = line.split(" (stderr) ").next().unwrap_or(line);
    let mut text = String::with_capacity(line.len() + 1);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') | None => {}
                Some(other) => text.push(other),
            },
            (c, _) => text.push(c),
        }
    }
    text.push('\n');
    text
}

/// `[gw] out: 1: lo: <LOOPBACK,UP>`, `[root@gw:22] run: ip link` of Fabric: the host, and what it printed.
pub(super) fn fabric(line: &str) -> Option<(&str, Option<&str>)> {
    let (host, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let host = host.rsplit('@').next()?;
    let host = host.split(':').next()?;
    let printed = rest.strip_prefix("out:");
    let is_said = ["run:", "sudo:", "err:", "Executing task"]
        .iter()
        .any(|said| rest.starts_with(said));
    let printed = printed.map(|text| text.strip_prefix(' ').unwrap_or(text));
    (is_host(host) && (printed.is_some() || is_said)).then_some((host, printed))
}
