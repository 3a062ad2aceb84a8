//! A file that somebody made: the output of one command, or of several that were pasted, of one host or of several.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::command::{self, Command};
use super::fleet::{self, Share};
use super::found::{About, Content, Found, Item};
use super::front;
use super::outcome::Read;
use super::place::{Folder, Place};
use super::relinked::relinked;
use super::split::{self, Piece};
use super::texts::{UNKNOWN, Understand};
use crate::assemble::{Part, are_of_two_hosts, host_key};
use crate::model::Snapshot;
use crate::text::changes;
use crate::text::linux::ethtool::CHANGES;

impl Understand<'_> {
    /// Reads a file; gives back how many bytes were understood.
    pub(super) fn pasted(&self, place: &Place, text: &str, found: &mut Found) -> u64 {
        let mut all = match of_path(&place.folder, &place.name) {
            // Files of a sosreport or of /proc hold one text each.
            Some(command) => vec![self.piece(place, Some(&command), &Piece::whole(text), false)],
            None => self.by_host(place, text),
        };
        newest(&mut all);
        relinked(&mut all);
        refuse_mixed(&mut all);
        let bytes = all.iter().map(|read| read.bytes).sum();
        file(place, all, found);
        bytes
    }

    /// Words above outputs are names of hosts where their settings differ, else titles of one host's sections.
    fn by_host(&self, place: &Place, text: &str) -> Vec<Read> {
        if let Some(shares) = fleet::certain(text) {
            return self.shares(place, &shares);
        }
        let likely = fleet::likely(text).map(|shares| self.shares(place, &shares));
        let hosts = likely.filter(|all| are_hosts(all));
        hosts.unwrap_or_else(|| self.shares(place, &[Share::whole(text)]))
    }

    fn shares(&self, place: &Place, shares: &[Share<'_>]) -> Vec<Read> {
        let by_name = command::of_name(&place.name);
        let mut all = Vec::new();
        for share in shares {
            let pieces = split::split(&share.text);
            if pieces.is_empty() {
                all.extend(silent(place, share));
            }
            let is_one = pieces.len() == 1;
            let many = !is_one || shares.len() > 1;
            let of_share = share.file.and_then(command::of_name).filter(|_| is_one);
            let by_name = of_share.as_ref().or(by_name.as_ref().filter(|_| !many));
            all.extend(pieces.into_iter().map(|piece| {
                let piece = Piece {
                    host: piece.host.or(share.host.as_deref()),
                    line: piece.line + share.before,
                    ..piece
                };
                self.piece(place, by_name, &piece, many)
            }));
        }
        all
    }

    fn piece(
        &self,
        place: &Place,
        by_name: Option<&Command>,
        piece: &Piece<'_>,
        many: bool,
    ) -> Read {
        let typed = match piece.interface {
            Some(name) => {
                let looped = piece.command.filter(|line| line.len() <= LOOP);
                Some(command::about(name, looped.map(command::parse)))
            }
            None => piece.command.map(command::parse),
        };
        let command = typed.as_ref().or(by_name);
        let result = self.part(place, command, piece, many);
        Read {
            host: piece.host.map(str::to_owned),
            line: piece.line,
            bytes: result.as_ref().map_or(0, |_| piece.body.len() as u64),
            command: typed,
            result,
        }
    }

    fn part(
        &self,
        place: &Place,
        command: Option<&Command>,
        piece: &Piece<'_>,
        many: bool,
    ) -> Result<Part, About> {
        let origin = origin(place, piece, many);
        if let Some(command) = command.filter(|command| command.elsewhere) {
            return Err(elsewhere(place, origin, command));
        }
        // A change that complained is none.
        let is_refused = command.is_some_and(|command| {
            command::is_change(&command.line) && is_complaint(&command.line, piece.body)
        });
        let refused = command.filter(|_| is_refused).map(Command::unsaid);
        let command = refused.as_ref().or(command);
        // What is given by itself, or was typed, may have a login's words in front; a file of a tree may be anything.
        let is_given = place.folder.parts.is_empty() || piece.command.is_some();
        let part = self.read(&origin, command, piece.body);
        let part = part.or_else(|| {
            let meant = front::without(piece.body).filter(|_| is_given);
            self.behind(&origin, command, meant)
        });
        let Some(mut part) = part else {
            let ours = command.is_some_and(|command| command::is_read(&command.line));
            return Err(About::Unknown { what: origin, ours });
        };
        part.host = piece.host.map(str::to_owned);
        Ok(part)
    }

    /// The first of several meanings that is understood.
    fn behind<'a>(
        &self,
        origin: &str,
        command: Option<&Command>,
        mut meant: impl Iterator<Item = (String, Cow<'a, str>)>,
    ) -> Option<Part> {
        meant.find_map(|(left_out, body)| {
            let mut part = self.read(origin, command, &body)?;
            part.snapshot.not_read(origin, left_out);
            // One line may be anything: a word is a host's name.
            let says =
                !part.snapshot.interfaces.is_empty() || !part.snapshot.stack.sysctls.is_empty();
            says.then_some(part)
        })
    }
}

/// Why output is left out that is not of the host itself. A sosreport has many files of each namespace: those of no use need no
/// name.
fn elsewhere(place: &Place, what: String, command: &Command) -> About {
    let is_of_tree = of_path(&place.folder, &place.name).is_some();
    if is_of_tree && !command::is_known(&command.line) {
        return About::Unknown { what, ours: false };
    }
    let why = "it ran on another machine or in a container: give that as a host of its own";
    About::named(what, why)
}

/// What ethtool says of settings that it cannot read, and goes on (ethtool before 5.10).
const GOES_ON: &str = "Cannot get device ";

/// Whether a command that changes settings printed something else than what it changed.
fn is_complaint(line: &str, body: &str) -> bool {
    if changes::prints_no_more(line, body.trim()) {
        return false;
    }
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    !body.contains(CHANGES) && lines.any(|line| !line.starts_with(GOES_ON))
}

/// The longest loop that is looked at for what it runs, for each of the interfaces that it names.
const LOOP: usize = 4096;

/// Hands over what was read. The first text wins where texts of a host differ: of a log that is the last output, since what
/// was changed in between is in it.
fn file(place: &Place, all: Vec<Read>, found: &mut Found) {
    let names = Names::of(&all);
    let is_log = all
        .iter()
        .any(|read| read.command.is_some() || read.host.is_some());
    let mut items = Vec::new();
    for read in names.with_silent(all) {
        let folder = names.folder(place, read.host.as_deref());
        match read.result {
            Ok(part) => items.push(item(folder, names.named(part))),
            Err(about) => found.note(&folder, about),
        }
    }
    if is_log {
        last_first(&mut items);
    }
    found.items.extend(items);
}

fn item(folder: Folder, part: Part) -> Item {
    Item {
        folder,
        content: Content::Text(Box::new(part)),
    }
}

/// Of each host the last output first; hosts stay in their order.
fn last_first(items: &mut [Item]) {
    let mut order = BTreeMap::new();
    for item in items.iter() {
        let next = order.len();
        order.entry(item.folder.clone()).or_insert(next);
    }
    items.reverse();
    items.sort_by_key(|item| order.get(&item.folder).copied());
}

/// A host of which a tool printed a heading, and nothing below.
fn silent(place: &Place, share: &Share<'_>) -> Option<Read> {
    let host = share.host.as_deref()?.to_owned();
    let origin = format!("{place} line {} ({host})", share.before);
    Some(Read {
        host: Some(host),
        command: None,
        line: share.before,
        result: Err(About::named(origin, "nothing was printed of this host")),
        bytes: 0,
    })
}

/// Where outputs that nobody typed at a prompt contradict each other, nothing tells whose they are, nor which is the later.
fn refuse_mixed(all: &mut [Read]) {
    let is_bare = |read: &&Read| read.host.is_none() && read.command.is_none();
    let parts = all.iter().filter(is_bare);
    let parts = parts.filter_map(|read| read.result.as_ref().ok());
    if !neighbours_differ(parts, |_, _| true) {
        return;
    }
    for read in all.iter_mut().filter(|read| is_bare(&&**read)) {
        if let Ok(part) = &read.result {
            let why = "two hosts or two times in one text, and nothing tells whose output is whose: give one file for \
                each, or put each host's name above what it printed";
            read.result = Err(About::named(part.origin.clone(), why));
            read.bytes = 0;
        }
    }
}

/// Whether two shares tell different settings, or one of them the name that stands above it.
fn are_hosts(all: &[Read]) -> bool {
    let parts = || all.iter().filter_map(|read| read.result.as_ref().ok());
    let is_named_so = |part: &Part| {
        let name = part.snapshot.name.as_deref().zip(part.host.as_deref());
        name.is_some_and(|(name, host)| host_key(name) == host_key(host))
    };
    parts().any(is_named_so) || neighbours_differ(parts(), |one, other| one.host != other.host)
}

/// Whether an output tells something else than the last one of its kind, of those that are meant.
fn neighbours_differ<'a>(
    parts: impl Iterator<Item = &'a Part>,
    are_meant: fn(&Part, &Part) -> bool,
) -> bool {
    let mut last: BTreeMap<&str, &Part> = BTreeMap::new();
    for part in parts {
        let before = last.insert(part.kind, part);
        if before.is_some_and(|before| are_meant(before, part) && are_of_two_hosts(before, part)) {
            return true;
        }
    }
    false
}

/// Of a command that was run several times on a host, the last output that was understood stays: what was
/// changed in between is in it.
fn newest(all: &mut [Read]) {
    let mut last = BTreeMap::new();
    for read in all.iter_mut().rev() {
        let (Some(command), Ok(part)) = (&read.command, &read.result) else {
            continue;
        };
        let words: Vec<String> = command.line.split_whitespace().map(str::to_owned).collect();
        // One loop prints several kinds of output of an interface.
        let key = (
            read.host.clone(),
            command.namespace.clone(),
            part.kind,
            words,
        );
        if let Some(line) = last.get(&key) {
            let why =
                format!("the same command was run again: what it printed at line {line} is used");
            read.result = Err(About::named(part.origin.clone(), why));
        } else {
            last.insert(key, read.line);
        }
    }
}

/// The text of a host that says nothing, and why.
fn nothing_of(host: Option<String>, about: &About) -> Part {
    let mut snapshot = Snapshot::default();
    match about {
        About::Named(unread) => snapshot.not_read(unread.what.clone(), unread.why.clone()),
        About::Unknown { what, .. } => snapshot.not_read(what.clone(), UNKNOWN),
    }
    Part {
        origin: String::new(),
        kind: "nothing",
        host,
        snapshot,
    }
}

/// The hosts that a file names.
struct Names {
    /// The first name of each, by what its names have in common.
    first: BTreeMap<String, String>,
}

impl Names {
    fn of(all: &[Read]) -> Names {
        let mut first = BTreeMap::new();
        for host in all.iter().filter_map(|read| read.host.as_ref()) {
            first.entry(host_key(host)).or_insert_with(|| host.clone());
        }
        Names { first }
    }

    /// An output with the first name of its host.
    fn named(&self, mut part: Part) -> Part {
        let name = part
            .host
            .as_deref()
            .and_then(|host| self.first.get(&host_key(host)));
        part.host = name.cloned();
        part
    }

    /// A host of which nothing was understood is one nevertheless, and has a text that says nothing.
    fn with_silent(&self, mut all: Vec<Read>) -> Vec<Read> {
        let key = |read: &Read| read.host.as_deref().map(host_key);
        let spoken = all.iter().filter(|read| read.result.is_ok());
        let mut spoken: BTreeSet<Option<String>> = spoken.map(key).collect();
        for read in &mut all {
            if self.first.len() < 2 || read.host.is_none() || !spoken.insert(key(read)) {
                continue;
            }
            if let Err(about) = &read.result {
                read.result = Ok(nothing_of(read.host.clone(), about));
            }
        }
        all
    }

    /// Where an output belongs: each of several hosts of a file is one by itself, as in an archive.
    fn folder(&self, place: &Place, host: Option<&str>) -> Folder {
        let name = host.and_then(|host| self.first.get(&host_key(host)));
        match name.filter(|_| self.first.len() > 1) {
            Some(name) => place.folder.sub(&place.name).archive(name),
            None => place.folder.clone(),
        }
    }
}

fn origin(place: &Place, piece: &Piece<'_>, many: bool) -> String {
    match piece.interface.or(piece.command) {
        Some(what) => format!("{place} line {} ({what})", piece.line),
        None if many => format!("{place} line {}", piece.line),
        None => place.to_string(),
    }
}

fn of_path(folder: &Folder, name: &str) -> Option<Command> {
    // The given path itself, or the archive, is the root of the tree or above it.
    command::of_path(folder.parts.get(folder.sealed..)?, name)
}
