//! The contents of a file: a bundle, a saved snapshot, or texts.

use super::bundle::{self, Bundle, Section};
use super::cast;
use super::command::{self, Command};
use super::files::Texts;
use super::found::{Content, Found, Item};
use super::front;
use super::limits::Limits;
use super::mail;
use super::margin;
use super::normalise;
use super::page;
use super::place::Place;
use super::saved::{self, Saved};
use crate::assemble::{Part, scope};
use crate::model::{Snapshot, Unread};
use crate::safe::printable_line;
use crate::text::{Reading, Text};

/// Reads one text, as [`crate::text::read`] does.
pub(super) type ReadText = fn(&Text<'_>) -> Option<Reading>;

/// Reads texts with the given reader.
pub(super) struct Understand<'a> {
    pub(super) read: ReadText,
    pub(super) limits: &'a Limits,
}

impl Texts for Understand<'_> {
    fn text(&mut self, place: &Place, bytes: Vec<u8>, found: &mut Found) -> u64 {
        let text = normalise::decode(bytes);
        // Before it is cleaned: JSON may hold DEL as it is, and what was saved is kept whole.
        if let Some(all) = saved::read(&text) {
            return snapshots(place, all, text.len() as u64, found);
        }
        let text = mail::decoded(normalise::cleaned(cast::shown(text)));
        if text.trim().is_empty() {
            return 0;
        }
        if bundle::is_bundle(&text) {
            return self.bundles(place, &text, found);
        }
        let text = front::unmarked(page::plain(text));
        self.pasted(place, &margin::cut(text), found)
    }
}

fn snapshots(place: &Place, all: Vec<Saved>, bytes: u64, found: &mut Found) -> u64 {
    let many = all.len() > 1;
    for (at, saved) in all.into_iter().enumerate() {
        let origin = numbered(place, at, many);
        match saved {
            Saved::Broken(why) => found.named(&place.folder, origin, why),
            Saved::Snapshot(snapshot) => found.items.push(Item {
                folder: place.folder.clone(),
                content: Content::Saved { origin, snapshot },
            }),
        }
    }
    bytes
}

/// A place, and which one of several in it.
fn numbered(place: &Place, at: usize, many: bool) -> String {
    if many {
        format!("{place} ({})", at + 1)
    } else {
        place.to_string()
    }
}

impl Understand<'_> {
    fn bundles(&self, place: &Place, text: &str, found: &mut Found) -> u64 {
        let all = bundle::parse(text);
        let many = all.len() > 1;
        for (at, bundle) in all.into_iter().enumerate() {
            let content = self.bundle(numbered(place, at, many), bundle);
            found.items.push(Item {
                folder: place.folder.clone(),
                content,
            });
        }
        text.len() as u64
    }

    fn bundle(&self, origin: String, bundle: Bundle<'_>) -> Content {
        let mut parts = Vec::new();
        let mut unread = Vec::new();
        for (what, why) in bundle.lacks {
            let what = format!("{origin}: {what}");
            unread.push(Unread { what, why });
        }
        for section in &bundle.sections {
            match self.section(&origin, section) {
                Ok(part) => parts.extend(part),
                Err(named) => unread.push(named),
            }
        }
        Content::Bundle {
            origin,
            parts,
            unread,
        }
    }

    fn section(&self, origin: &str, section: &Section<'_>) -> Result<Option<Part>, Unread> {
        // With -j iproute2 says of nothing that it is an empty list.
        if matches!(section.body.trim(), "" | "[]") {
            return Ok(None);
        }
        let origin = format!("{origin} section {} ({})", section.number, section.command);
        let command = command::parse(section.command);
        match self.read(&origin, Some(&command), &section.body) {
            Some(mut part) => {
                without_passages(&mut part.snapshot);
                self.limits.narrow(&mut part.snapshot);
                Ok(Some(part))
            }
            None => Err(Unread {
                what: origin,
                why: UNKNOWN.to_owned(),
            }),
        }
    }

    pub(super) fn read(&self, origin: &str, command: Option<&Command>, body: &str) -> Option<Part> {
        let text = Text {
            origin,
            command: command.map(|command| command.line.as_str()),
            body,
        };
        let (said, rest) = complaints(body);
        let rest = without_end(rest);
        let Reading { kind, mut snapshot } = (self.read)(&text).or_else(|| {
            (rest.len() < body.len()).then(|| (self.read)(&Text { body: rest, ..text }))?
        })?;
        for line in said.lines().filter(|line| is_lack(line)) {
            let why = format!("its command said: {}", printable_line(line.trim()));
            snapshot.not_read(origin, why);
        }
        if let Some(namespace) = command.and_then(|command| command.namespace.as_deref()) {
            scope(&mut snapshot, namespace);
        }
        Some(Part {
            origin: origin.to_owned(),
            kind,
            host: None,
            snapshot,
        })
    }
}

/// A collector leaves addresses and most rules of packet filters out: what is left of them shows neither what passes nor what
/// does not.
fn without_passages(snapshot: &mut Snapshot) {
    let named = snapshot.namespaces.values_mut();
    for stack in named.chain([&mut snapshot.stack]) {
        stack.passages.clear();
    }
}

/// How lines begin that programs write to stderr, which a terminal mixes with what they print.
const COMPLAINTS: [&str; 14] = [
    "Cannot get ",
    "netlink error: ",
    "Message truncated",
    "Dump was interrupted",
    "RTNETLINK answers: ",
    "Error: ",
    "Warning: ",
    "warning: ",
    "sudo: ",
    "bash: ",
    "sh: ",
    "-bash: ",
    "Device \"",
    "Pseudo-terminal will not",
];

/// What a connection or a tool says below an output.
const ENDS: [&str; 4] = [
    "Shared connection to ",
    "Connection to ",
    "non-zero return code",
    "Killed by signal ",
];

/// A text without the last lines that are none of it.
fn without_end(text: &str) -> &str {
    let mut rest = text;
    loop {
        let lines = rest.trim_end();
        let last = lines.rfind('\n').map_or(0, |at| at + 1);
        if !ENDS.iter().any(|end| lines[last..].starts_with(end)) {
            return rest;
        }
        rest = &rest[..last];
    }
}

/// Lines of complaint before a text, and the text.
fn complaints(body: &str) -> (&str, &str) {
    let is_complaint = |line: &str| COMPLAINTS.iter().any(|begins| line.starts_with(begins));
    let lines = body.split_inclusive('\n');
    let front = lines.take_while(|line| line.trim().is_empty() || is_complaint(line));
    body.split_at(front.map(str::len).sum())
}

/// The output is incomplete.
fn is_lack(line: &str) -> bool {
    ["Message truncated", "Dump was interrupted"]
        .iter()
        .any(|begins| line.starts_with(begins))
}

/// Why a text is not used that no reader knows.
pub(super) const UNKNOWN: &str =
    "not recognised as output of a command that is read here, or it is cut";
