//! From the texts of one path to its hosts.

use std::collections::{BTreeMap, HashSet};

use super::Host;
use super::error::Error;
use super::found::{About, Content, Counted, Found, Item, Note};
use super::group::{Group, Roots, group};
use super::limits::LISTED;
use super::place::Folder;
use super::texts::UNKNOWN;
use crate::assemble::{Part, assemble};
use crate::model::{Snapshot, Unread};

/// The hosts of one path.
pub(super) fn of(path: &str, found: Found) -> Result<Vec<Host>, Error> {
    let roots = Roots::of(&found);
    let found = without_foreign(found, &roots);
    let Found {
        items,
        notes,
        counted,
    } = found;
    let groups = group(items, &roots);
    let mut unread = by_host(&roots, &groups, notes, counted);
    if groups.is_empty() {
        return Err(nothing(path, unread.remove(&0).unwrap_or_default()));
    }
    let several = groups.len() > 1;
    let was_host = groups.iter().any(Group::is_saved_with_a_name);
    let hosts = groups.into_iter().enumerate().map(|(at, group)| {
        let lines = unread.remove(&at).unwrap_or_default();
        host(path, group, lines, several)
    });
    understood(path, hosts.collect(), was_host)
}

/// Hosts of one name, or of none, are told apart by where they were read from.
#[must_use]
pub fn apart(mut hosts: Vec<Host>) -> Vec<Host> {
    let mut names = HashSet::new();
    let name = |host: &Host| {
        host.snapshot
            .name
            .clone()
            .unwrap_or_else(|| host.origin.clone())
    };
    let twice: HashSet<String> = hosts
        .iter()
        .map(name)
        .filter(|name| !names.insert(name.clone()))
        .collect();
    for host in &mut hosts {
        let name = name(host);
        host.snapshot.name = Some(match twice.contains(&name) {
            true => format!("{name} ({})", host.origin),
            false => name,
        });
    }
    hosts
}

/// Counts what lies where a sosreport keeps what is not meant for us.
fn without_foreign(mut found: Found, roots: &Roots) -> Found {
    let (foreign, items) = found
        .items
        .into_iter()
        .partition(|item| roots.is_foreign(&item.folder));
    let foreign: Vec<Item> = foreign;
    found.items = items;
    for item in foreign {
        let key = (item.folder, Counted::Other);
        *found.counted.entry(key).or_default() += 1;
    }
    found
}

/// What was not understood, by number of the host.
type ByHost = BTreeMap<usize, Vec<Unread>>;

/// Gives what was not understood to the host in whose folder it lies, or else to the first.
fn by_host(
    roots: &Roots,
    groups: &[Group],
    notes: Vec<Note>,
    counted: BTreeMap<(Folder, Counted), u64>,
) -> ByHost {
    let mut named = ByHost::new();
    let mut counts: BTreeMap<(usize, Counted), u64> = BTreeMap::new();
    let places = places(groups);
    for note in notes {
        let (at, is_tree) = owner(roots, &places, &note.folder);
        match line(note.about, is_tree) {
            Some(line) => named.entry(at).or_default().push(line),
            None => *counts.entry((at, Counted::Other)).or_default() += 1,
        }
    }
    for ((folder, kind), count) in counted {
        let (at, _) = owner(roots, &places, &folder);
        *counts.entry((at, kind)).or_default() += count;
    }
    named.values_mut().for_each(shorten);
    for ((at, kind), count) in counts {
        named.entry(at).or_default().push(count_line(count, kind));
    }
    named
}

/// The first host of each root: a tree of thousands of hosts has as many notes.
fn places(groups: &[Group]) -> BTreeMap<&Folder, usize> {
    let places = groups.iter().enumerate();
    places.rev().map(|(at, group)| (&group.root, at)).collect()
}

/// The host of a folder, and whether it is a tree.
fn owner(roots: &Roots, places: &BTreeMap<&Folder, usize>, folder: &Folder) -> (usize, bool) {
    let (root, is_tree) = roots.root(folder);
    (places.get(&root).copied().unwrap_or(0), is_tree)
}

/// A note as a line; `None` if it is only counted.
fn line(about: About, is_tree: bool) -> Option<Unread> {
    match about {
        About::Named(unread) => Some(unread),
        About::Unknown { ours: false, .. } if is_tree => None,
        About::Unknown { what, .. } => Some(Unread {
            what,
            why: UNKNOWN.to_owned(),
        }),
    }
}

/// Keeps the first lines, and counts the others.
fn shorten(lines: &mut Vec<Unread>) {
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(Unread {
            what: format!("{more} more"),
            why: "of the same kinds, not listed".to_owned(),
        });
    }
}

fn count_line(count: u64, kind: Counted) -> Unread {
    let files = if count == 1 { "file" } else { "files" };
    Unread {
        what: format!("{count} {files}"),
        why: kind.why().to_owned(),
    }
}

fn host(path: &str, group: Group, lines: Vec<Unread>, several: bool) -> Host {
    let fallback = fallback_name(&group, several);
    let mut origin = None;
    let mut parts = Vec::new();
    let mut unread = Vec::new();
    for item in group.items {
        match item.content {
            Content::Text(part) => parts.push(*part),
            Content::Bundle {
                origin: bundle,
                parts: more,
                unread: lacks,
            } => {
                origin = origin.or(Some(bundle));
                parts.extend(more);
                unread.extend(lacks);
            }
            Content::Saved { origin, snapshot } => return saved(origin, *snapshot, lines),
        }
    }
    let origin = origin
        .filter(|_| several)
        .unwrap_or_else(|| shown(path, &group.root));
    Host {
        origin,
        snapshot: complete(parts, unread, lines, fallback),
    }
}

fn saved(origin: String, mut snapshot: Snapshot, lines: Vec<Unread>) -> Host {
    snapshot.unread.extend(lines);
    Host { origin, snapshot }
}

fn complete(
    parts: Vec<Part>,
    mut unread: Vec<Unread>,
    lines: Vec<Unread>,
    fallback: Option<String>,
) -> Snapshot {
    shorten(&mut unread);
    let mut snapshot = assemble(parts);
    snapshot.unread.extend(unread);
    snapshot.unread.extend(lines);
    snapshot.name = snapshot.name.or(fallback);
    snapshot
}

fn shown(path: &str, root: &Folder) -> String {
    if root.parts.is_empty() {
        path.to_owned()
    } else {
        root.to_string()
    }
}

/// The name of a host that no text tells: that of its sosreport, or of its folder if it is one of
/// several in the given one.
fn fallback_name(group: &Group, several: bool) -> Option<String> {
    let name = group.root.name();
    let sosreport = name.strip_prefix("sosreport-").map(sosreport_name);
    let folder = several && group.root.parts.len() > 1;
    let name = sosreport.or(folder.then_some(name));
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

/// `sosreport-HOST-[CASE-]2024-03-01-abcdefg`, of which the host may have dashes itself.
fn sosreport_name(rest: &str) -> &str {
    let dates = rest.match_indices('-').map(|(at, _)| at);
    let mut dates = dates.filter(|at| is_date(&rest[at + 1..]));
    let name = dates.next().map_or(rest, |at| &rest[..at]);
    let digits = |case: &str| case.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((host, case)) if digits(case) && case.len() >= 5 => host,
        _ => name,
    }
}

/// `2024-03-01`, `20240301`.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').take(3);
    let digits = |part: Option<&str>, len: usize| {
        part.is_some_and(|part| part.len() == len && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let first = parts.next();
    digits(first, 8) || digits(first, 4) && digits(parts.next(), 2) && digits(parts.next(), 2)
}

/// Hosts of which something is known; it is an error if there is none, unless one of them was a host when it was saved.
fn understood(path: &str, hosts: Vec<Host>, was_host: bool) -> Result<Vec<Host>, Error> {
    if !was_host && !hosts.iter().any(has_facts) {
        let unread = hosts.into_iter().flat_map(|host| host.snapshot.unread);
        return Err(nothing(path, unread.collect()));
    }
    // A host that its text names is one of which nothing was read.
    let is_kept = |host: &Host| has_facts(host) || host.snapshot.name.is_some();
    let (mut known, empty): (Vec<Host>, Vec<Host>) = hosts.into_iter().partition(is_kept);
    let empty = empty.into_iter().flat_map(|host| host.snapshot.unread);
    known[0].snapshot.unread.extend(empty);
    Ok(known)
}

/// Whether anything at all is known.
fn has_facts(host: &Host) -> bool {
    let bare = Snapshot {
        schema: host.snapshot.schema.clone(),
        name: host.snapshot.name.clone(),
        unread: host.snapshot.unread.clone(),
        ..Snapshot::default()
    };
    host.snapshot != bare
}

/// How many causes an error names.
const CAUSES: usize = 3;

fn nothing(path: &str, unread: Vec<Unread>) -> Error {
    let more = unread.len().saturating_sub(CAUSES);
    let causes = unread.into_iter().take(CAUSES);
    let mut causes: Vec<String> = causes
        .map(|Unread { what, why }| format!("{what}: {why}"))
        .collect();
    if more > 0 {
        causes.push(format!("and {more} more"));
    }
    let found = match causes.is_empty() {
        true => String::new(),
        false => format!(" ({})", causes.join("; ")),
    };
    Error::Nothing {
        path: path.to_owned(),
        found,
    }
}
