//! Listings of all links, one after the other on a host: what the later one does not say any more is over. A port that left its
//! bridge has no master there, and a guest that was shut down no interface. So is a command by which a port leaves its bridge.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::Read;
use crate::assemble::Part;
use crate::model::Snapshot;
use crate::names::key_of;
use crate::text::changes::{self, Change};

/// Readers of `ip link` and `ip addr`, of which each listing names the masters.
const LISTINGS: [&str; 2] = ["ip link", "ip -j link"];

/// A host, and one of its namespaces.
type Space = (Option<String>, Option<String>);

/// What is known of a space from further below in the text.
#[derive(Default)]
struct Later {
    /// The last listing of all links.
    listing: Option<Snapshot>,
    /// The ports that left their masters.
    left: BTreeSet<String>,
}

/// Takes from earlier outputs of a host what its last listing of all links contradicts by silence, and what a command undid.
pub(super) fn relinked(all: &mut [Read]) {
    let mut spaces: BTreeMap<Space, Later> = BTreeMap::new();
    for read in all.iter_mut().rev() {
        let Some(space) = space(read) else { continue };
        let later = spaces.entry(space).or_default();
        if let Ok(before) = &mut read.result {
            later.take_from(before);
        }
        if later.listing.is_none() {
            later.listing = whole(read).map(|part| part.snapshot.clone());
        }
        later.left.extend(left(read));
    }
}

impl Later {
    fn take_from(&self, before: &mut Part) {
        if let Some(now) = &self.listing {
            forget(before, now);
        }
        unbind(before, &|key| self.left.contains(key));
    }
}

/// The ports that left their masters by a command, which printed nothing else.
fn left(read: &Read) -> Vec<String> {
    let is_made = read
        .result
        .as_ref()
        .is_ok_and(|part| part.kind == changes::NAME);
    let command = read.command.as_ref().filter(|_| is_made);
    let all = command.map(|command| changes::of(&command.line));
    let all = all.into_iter().flatten();
    all.filter_map(|change| match change {
        Change::Leaves(name) => Some(name),
        _ => None,
    })
    .collect()
}

fn space(read: &Read) -> Option<Space> {
    let command = read.command.as_ref()?;
    Some((read.host.clone(), command.namespace.clone()))
}

/// A listing of all links that somebody typed at a prompt that names its host: outputs below others may be of two hosts.
fn whole(read: &Read) -> Option<&Part> {
    let command = read.command.as_ref().filter(|_| read.host.is_some())?;
    let part = read.result.as_ref().ok()?;
    let is_listing = LISTINGS.contains(&part.kind) && lists_all(&command.line);
    (is_listing && !part.snapshot.interfaces.is_empty()).then_some(part)
}

/// Options of ip(8) that change how links are printed, and not which: `-4` lists those that have an address of IPv4.
const LAYOUT: [&str; 12] = [
    "-d",
    "-details",
    "-s",
    "-stats",
    "-statistics",
    "-o",
    "-oneline",
    "-j",
    "-json",
    "-p",
    "-pretty",
    "-c",
];

/// `ip -d addr show`, and not `ip link show dev eth0`, `ip link show type vlan` or `ip -br link`.
fn lists_all(line: &str) -> bool {
    let mut words = line
        .split_whitespace()
        .filter(|word| !LAYOUT.contains(word));
    let is_ip = words.next() == Some("ip");
    let is_object = |word: &str| "address".starts_with(word) || "link".starts_with(word);
    is_ip
        && words.next().is_some_and(is_object)
        && words.all(|word| matches!(word, "show" | "list" | "ls" | "s" | "sh"))
}

fn forget(before: &mut Part, now: &Snapshot) {
    let is_listing = LISTINGS.contains(&before.kind);
    let all = &mut before.snapshot.interfaces;
    all.retain(|key, _| !is_listing || now.interfaces.contains_key(key));
    let is_free = |key: &str| {
        now.interfaces
            .get(key)
            .is_some_and(|now| now.master.is_none())
    };
    unbind(before, &is_free);
}

/// Takes ports from their masters.
fn unbind(before: &mut Part, is_free: &dyn Fn(&str) -> bool) {
    for (key, interface) in &mut before.snapshot.interfaces {
        if is_free(key) {
            (interface.master, interface.master_kind) = (None, None);
            interface.bridge_port = None;
        }
        let namespace = interface.namespace.as_deref();
        let stays = |name: &String| !is_free(&key_of(namespace, name));
        let bridge = interface.bridge.as_mut().map(|one| &mut one.members);
        let bond = interface.bond.as_mut().map(|one| &mut one.members);
        for members in bridge.into_iter().chain(bond) {
            members.retain(stays);
        }
    }
}
