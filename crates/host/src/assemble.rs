//! One host from what its texts say.
//!
//! - A value that only one text tells is taken.
//! - Outputs of one log come last first (`sources::pasted`). Of files of settings nothing is taken that the kernel may have otherwise.
//! - Values that change by themselves (counters, addresses, the state of a link) may differ; that is
//!   no conflict. As everywhere the first text wins: then values of one text stay together, and a
//!   host read from the begin of a file never says other than one read from all of it.
//! - Of settings that differ the first is kept, and both are named in `unread`.
//! - A text that tells another host name, platform or kernel than most texts, or of which many
//!   settings differ, is of another host or of another time: it is left out and named.
//!
//! What no single text tells is derived at the end, see `derive`.

mod derive;
mod identity;
mod merge;
mod rules;
mod scope;

use crate::model::{SCHEMA, Snapshot, Unread};
use crate::sources::LISTED;
use merge::Merged;

pub(crate) use rules::host_key;

pub(crate) use scope::scope;

/// The snapshot of one text.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Where it is from, for messages.
    pub(crate) origin: String,
    /// The command or file that prints such texts.
    pub(crate) kind: &'static str,
    /// The host that its prompt names.
    pub(crate) host: Option<String>,
    /// What it says.
    pub(crate) snapshot: Snapshot,
}

/// Puts texts of one host together.
pub(crate) fn assemble(parts: Vec<Part>) -> Snapshot {
    let mut unread = Vec::new();
    let mut parts = identity::of_one_host(parts, &mut unread);
    parts.sort_by_key(is_configuration);
    let mut merged = Merged::default();
    let mut not_read = Vec::new();
    let prompt = parts.iter().find_map(|part| part.host.clone());
    for mut part in parts {
        if part.kind == FILE_OF_SETTINGS {
            // What is in force may be otherwise, and so is what the kernel has made of it.
            part.snapshot.stack.sysctls.clear();
        }
        // A reader names the text in what it did not understand.
        let own = std::mem::take(&mut part.snapshot.unread);
        if merged.add(part, &mut unread) {
            not_read.extend(own);
        }
    }
    let mut snapshot = finish(merged.snapshot(), unread, not_read);
    snapshot.name = snapshot.name.or(prompt);
    snapshot
}

/// Whether a setting differs that both texts tell of now, or both list all interfaces, and other ones.
pub(crate) fn are_of_two_hosts(a: &Part, b: &Part) -> bool {
    let are_live = !is_configuration(a) && !is_configuration(b);
    are_live && (merge::differ(&a.snapshot, &b.snapshot) || list_others(a, b))
}

/// A list that begins with the loopback, and has its index, is of all interfaces.
fn list_others(a: &Part, b: &Part) -> bool {
    let lists_all = |part: &Part| {
        let loopback = part.snapshot.interfaces.get("lo");
        loopback.is_some_and(|loopback| loopback.index.is_some())
    };
    let names = |part: &Part| part.snapshot.interfaces.keys().cloned().collect::<Vec<_>>();
    lists_all(a) && lists_all(b) && names(a) != names(b)
}

/// The kind of `/etc/sysctl.conf` and its like.
const FILE_OF_SETTINGS: &str = "sysctl.conf";

/// Whether a text tells what is to be set at the next start: what is set now goes before.
fn is_configuration(part: &Part) -> bool {
    part.kind.ends_with(".conf")
}

fn finish(mut snapshot: Snapshot, unread: Vec<Unread>, not_read: Vec<Unread>) -> Snapshot {
    snapshot.schema = SCHEMA.to_owned();
    snapshot.unread = unread;
    derive::derive(&mut snapshot);
    snapshot.unread.extend(not_read);
    shorten(&mut snapshot.unread);
    snapshot
}

/// Each line once, and not more than can be looked at; conflicts are first.
fn shorten(unread: &mut Vec<Unread>) {
    let mut seen = std::collections::BTreeSet::new();
    unread.retain(|line| seen.insert(line.clone()));
    let more = unread.len().saturating_sub(LISTED);
    if more > 0 {
        unread.truncate(LISTED);
        unread.push(Unread {
            what: format!("{more} more"),
            why: "not listed".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests;
