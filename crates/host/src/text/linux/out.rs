//! What readers of Linux output share: whole lines, notes on what was not understood, and
//! interfaces that are described more than once.

use std::collections::BTreeMap;

use super::merge::merge;
use crate::model::{Interface, Platform, Setting, Snapshot};
use crate::text::Text;

/// Entries that one text may add to what was not read.
const NOTES: usize = 20;

/// Characters of a line that are quoted.
const QUOTED: usize = 100;

/// Bytes that are looked at to recognise a text.
const HEAD: usize = 16 * 1024;

/// A snapshot while one text is read into it.
pub(super) struct Out<'a> {
    text: &'a Text<'a>,
    kind: &'static str,
    pub(super) snapshot: &'a mut Snapshot,
    notes: BTreeMap<String, (String, String, u64)>,
    /// Notes beyond the limit.
    beyond: u64,
}

impl<'a> Out<'a> {
    /// Reads a text of Linux; `kind` is its reader's name.
    pub(super) fn linux(
        text: &'a Text<'a>,
        kind: &'static str,
        snapshot: &'a mut Snapshot,
    ) -> Self {
        snapshot.platform = Some(Platform::Linux);
        Self::any(text, kind, snapshot)
    }

    /// Reads a text that other platforms have, too.
    pub(super) fn any(text: &'a Text<'a>, kind: &'static str, snapshot: &'a mut Snapshot) -> Self {
        Self {
            text,
            kind,
            snapshot,
            notes: BTreeMap::new(),
            beyond: 0,
        }
    }

    /// Its lines, without spaces at their ends. The last one is left out and noted if it does not
    /// end: what it says may be half a number.
    pub(super) fn lines(&mut self) -> impl Iterator<Item = &'a str> + use<'a> {
        if is_cut(self.text.body) {
            self.cut();
        }
        lines(self.text)
    }

    /// Notes that the text is not whole.
    pub(super) fn cut(&mut self) {
        let why = "ends in the middle: what follows is missing, what is not finished is left out";
        self.note(self.text.origin, why);
    }

    /// Notes a line that is not understood.
    pub(super) fn unknown(&mut self, line: &str) {
        let why = format!("not understood as output of {}", self.kind);
        self.note(&format!("{}: {}", self.text.origin, quoted(line)), &why);
    }

    /// Notes something else that was not read, and why.
    pub(super) fn not_read(&mut self, what: &str, why: &str) {
        self.note(&format!("{}: {what}", self.text.origin), why);
    }

    /// What differs only in its digits is one entry with a count.
    fn note(&mut self, what: &str, why: &str) {
        let key = without_digits(what) + "\n" + why;
        if let Some((_, _, count)) = self.notes.get_mut(&key) {
            *count += 1;
        } else if self.notes.len() < NOTES - 1 {
            self.notes.insert(key, (what.to_owned(), why.to_owned(), 1));
        } else {
            self.beyond += 1;
        }
    }

    /// Adds an interface, or what this part of the text says of one that is known.
    pub(super) fn interface(&mut self, name: &str, new: Interface) {
        if !is_name(name) {
            self.unknown(name);
            return;
        }
        let known = self.snapshot.interface_mut(name);
        let new = Interface {
            name: known.name.clone(),
            ..new
        };
        for field in merge(known, new) {
            self.twice(&format!("{name}: {field}"));
        }
    }

    /// Notes that something has two values.
    pub(super) fn twice(&mut self, what: &str) {
        let why =
            "described twice with different values (two hosts in one text?); the first is kept";
        self.not_read(what, why);
    }

    /// Adds a protocol counter by its name in nstat.
    pub(super) fn counter(&mut self, name: String, value: u64) {
        let counters = &mut self.snapshot.stack.counters;
        let known = counters.get(&name).copied();
        if known.is_some_and(|known| known != value) {
            self.twice(&name);
        } else {
            counters.insert(name, value);
        }
    }

    /// The interface that the command names; noted if it does not.
    pub(super) fn interface_of_command(&mut self) -> Option<&'a str> {
        let found = interface_of_command(self.text);
        if found.is_none() {
            let why = "does not say which interface it is about, nor does what names it";
            let what = format!("{} ({})", self.text.origin, self.kind);
            self.note(&what, why);
        }
        found
    }

    /// Hands the notes over.
    pub(super) fn finish(self) {
        for (what, why, count) in self.notes.into_values() {
            let times = format!("{why} ({count} times)");
            let why = if count == 1 { why } else { times };
            self.snapshot.not_read(what, why);
        }
        if self.beyond > 0 {
            let why = format!("{} more notes of this text are left out", self.beyond);
            self.snapshot.not_read(self.text.origin, why);
        }
    }
}

/// Lines that end, without spaces at their ends.
pub(super) fn lines<'a>(text: &Text<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let end = text.body.rfind('\n').unwrap_or(0);
    let whole = text.body.get(..end).unwrap_or_default();
    whole.split('\n').map(str::trim_end)
}

/// The first lines that are not empty, for recognition.
pub(super) fn head<'a>(text: &Text<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let mut end = text.body.len().min(HEAD);
    while !text.body.is_char_boundary(end) {
        end -= 1;
    }
    let start = text.body.get(..end).unwrap_or_default();
    let lines = start.split('\n').map(str::trim_end);
    lines.filter(|line| !line.is_empty()).take(400)
}

/// The first line that is not empty.
pub(super) fn first<'a>(text: &Text<'a>) -> &'a str {
    head(text).next().unwrap_or_default()
}

/// The only line of a text, whole or not.
pub(super) fn only_line<'a>(text: &Text<'a>) -> Option<&'a str> {
    let body = text.body.trim();
    (!body.is_empty() && !body.contains('\n')).then_some(body)
}

/// Whether the last line has no end.
pub(super) fn is_cut(body: &str) -> bool {
    !body.is_empty() && !body.ends_with('\n')
}

/// Words of the command or path that made the text, as a bundle or sosreport writes them.
pub(super) fn command_words<'a>(text: &Text<'a>) -> impl DoubleEndedIterator<Item = &'a str> {
    let command = text.command.unwrap_or_default().trim();
    let file = command.rsplit('/').next().unwrap_or_default();
    let spaced = command.contains(char::is_whitespace);
    let (words, separator): (&str, fn(char) -> bool) = if spaced {
        (command, char::is_whitespace)
    } else {
        (file, |letter| letter == '_')
    };
    words.split(separator).filter(|word| !word.is_empty())
}

/// The interface that the command names: the word after the options of `ethtool -S eth0`, of
/// sosreport's `ethtool_-S_eth0`, or the last part of `/proc/net/bonding/bond0`.
fn interface_of_command<'a>(text: &Text<'a>) -> Option<&'a str> {
    let command = text.command?.trim();
    if let Some((_, name)) = command.rsplit_once("/net/bonding/") {
        return Some(name).filter(|name| is_name(name));
    }
    let after = command.rsplit_once("ethtool").map(|(_, after)| after)?;
    let separator = after.chars().next()?;
    let rest = after.trim_matches(|letter: char| letter == separator || letter.is_whitespace());
    let name = match separator {
        ' ' => rest
            .split_whitespace()
            .find(|word| !word.starts_with('-'))?,
        '_' => sosreport_name(rest)?,
        _ => return None,
    };
    Some(name).filter(|name| is_name(name))
}

/// The name after `-S_`: it may have underscores itself.
fn sosreport_name(rest: &str) -> Option<&str> {
    match rest.split_once('_') {
        Some((option, name)) if option.starts_with('-') => Some(name),
        _ if rest.starts_with('-') => None,
        _ => Some(rest),
    }
}

/// Whether the kernel would take this as the name of an interface (`dev_valid_name`).
pub(super) fn is_name(name: &str) -> bool {
    let forbidden = |letter: char| letter.is_whitespace() || matches!(letter, '/' | ':');
    (1..=15).contains(&name.len()) && name != "." && name != ".." && !name.contains(forbidden)
}

/// A number, on or off, or the text itself.
pub(super) fn setting(value: &str) -> Setting {
    match value {
        "on" => Setting::Flag(true),
        "off" => Setting::Flag(false),
        _ => value
            .parse()
            .map_or_else(|_| Setting::Text(value.to_owned()), Setting::Number),
    }
}

/// `on` or `off`.
pub(super) fn on_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// A hardware address in lower case, if it is one.
pub(super) fn mac(word: &str) -> Option<String> {
    let pair = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    (word.split(':').count() >= 6 && word.split(':').all(pair)).then(|| word.to_ascii_lowercase())
}

fn quoted(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(QUOTED).collect();
    let dots = if short.len() < line.len() { "..." } else { "" };
    format!("`{short}{dots}`")
}

fn without_digits(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        let letter = if letter.is_ascii_digit() { '0' } else { letter };
        if letter != '0' || !result.ends_with('0') {
            result.push(letter);
        }
    }
    result
}
