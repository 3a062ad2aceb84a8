//! The contents of a file: a bundle, a saved snapshot, or texts.

use super::bundle::{self, Bundle, Section};
use super::command::{self, Command};
use super::files::Texts;
use super::found::{About, Content, Found, Item};
use super::front;
use super::limits::Limits;
use super::normalise;
use super::place::{Folder, Place};
use super::saved::{self, Saved};
use super::split::{self, Piece};
use crate::assemble::{Part, scope};
use crate::model::Unread;
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
        let text = normalise::cleaned(text);
        if text.trim().is_empty() {
            return 0;
        }
        if bundle::is_bundle(&text) {
            return self.bundles(place, &text, found);
        }
        self.pieces(place, &front::unmarked(text), found)
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
                self.limits.narrow(&mut part.snapshot);
                Ok(Some(part))
            }
            None => Err(Unread {
                what: origin,
                why: UNKNOWN.to_owned(),
            }),
        }
    }

    /// A file as one text or as several that were pasted.
    fn pieces(&self, place: &Place, text: &str, found: &mut Found) -> u64 {
        let by_path = of_path(&place.folder, &place.name);
        let pieces = match by_path {
            // Files of a sosreport or of /proc hold one text each.
            Some(_) => vec![Piece::whole(text)],
            None => split::split(text),
        };
        let by_name = by_path.or_else(|| command::of_name(&place.name));
        let many = pieces.len() > 1;
        let pieces = pieces.iter();
        pieces
            .map(|piece| self.piece(place, by_name.as_ref(), piece, many, found))
            .sum()
    }

    fn piece(
        &self,
        place: &Place,
        by_name: Option<&Command>,
        piece: &Piece<'_>,
        many: bool,
        found: &mut Found,
    ) -> u64 {
        let origin = origin(place, piece, many);
        let typed = piece.command.map(command::parse);
        let command = typed.as_ref().or(by_name.filter(|_| !many));
        if command.is_some_and(|command| command.elsewhere) {
            let why = "it ran on another machine or in a container: give that as a host of its own";
            found.named(&place.folder, origin, why);
            return 0;
        }
        // What is given by itself, or was typed, may have a login's words in front; a file of a tree may be anything.
        let is_given = place.folder.parts.is_empty() || piece.command.is_some();
        let part = self.read(&origin, command, piece.body);
        let part = part.or_else(|| {
            let mut meant = front::without(piece.body).filter(|_| is_given);
            meant.find_map(|(left_out, body)| {
                let mut part = self.read(&origin, command, &body)?;
                part.snapshot.not_read(&origin, left_out);
                // One line may be anything: a word is a host's name.
                (!part.snapshot.interfaces.is_empty()).then_some(part)
            })
        });
        let Some(mut part) = part else {
            let ours = command.is_some_and(|command| command::is_known(&command.line));
            found.note(&place.folder, About::Unknown { what: origin, ours });
            return 0;
        };
        part.host = piece.host.map(str::to_owned);
        found.items.push(Item {
            folder: place.folder.clone(),
            content: Content::Text(Box::new(part)),
        });
        piece.body.len() as u64
    }

    fn read(&self, origin: &str, command: Option<&Command>, body: &str) -> Option<Part> {
        let text = Text {
            origin,
            command: command.map(|command| command.line.as_str()),
            body,
        };
        let (said, rest) = complaints(body);
        let Reading { kind, mut snapshot } = (self.read)(&text)
            .or_else(|| (!said.is_empty()).then(|| (self.read)(&Text { body: rest, ..text }))?)?;
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

fn origin(place: &Place, piece: &Piece<'_>, many: bool) -> String {
    match piece.command {
        Some(command) => format!("{place} line {} ({command})", piece.line),
        None if many => format!("{place} line {}", piece.line),
        None => place.to_string(),
    }
}

fn of_path(folder: &Folder, name: &str) -> Option<Command> {
    // The given path itself, or the archive, is the root of the tree or above it.
    command::of_path(folder.parts.get(folder.sealed..)?, name)
}
