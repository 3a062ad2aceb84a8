//! Listings of all links, one after the other on a host: what the later one does not say any more is over. A port that left its
//! bridge has no master there, and a guest that was shut down no interface.

use std::collections::BTreeMap;

use super::outcome::Read;
use crate::assemble::Part;
use crate::model::Snapshot;

/// Readers of `ip link` and `ip addr`, of which each listing names the masters.
const LISTINGS: [&str; 2] = ["ip link", "ip -j link"];

/// A host, and one of its namespaces.
type Space = (Option<String>, Option<String>);

/// Takes from earlier outputs of a host what its last listing of all links contradicts by silence.
pub(super) fn relinked(all: &mut [Read]) {
    let mut last: BTreeMap<Space, Snapshot> = BTreeMap::new();
    for read in all.iter_mut().rev() {
        let Some(space) = space(read) else { continue };
        if let (Some(now), Ok(before)) = (last.get(&space), &mut read.result) {
            forget(before, now);
        } else if let Some(part) = whole(read) {
            last.insert(space, part.snapshot.clone());
        }
    }
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
    for (key, interface) in all {
        let now = now.interfaces.get(key);
        if now.is_some_and(|now| now.master.is_none()) {
            (interface.master, interface.master_kind) = (None, None);
            interface.bridge_port = None;
        }
    }
}
