//! Lookups in the entries of a journal.

use crate::journal::{Held, InterfaceEntry, Journal, Standing, SysctlEntry};
use crate::settings::{
    Error, InterfaceState, Item, Move, NamespaceId, Space, is_adaptive, read_at,
};

/// Whether a journal is about an interface.
pub(super) fn is_about(journal: &Journal, namespace: &NamespaceId, index: u32) -> bool {
    let mut entries = journal.interfaces.iter();
    entries.any(|entry| entry.namespace.is_same(namespace) && entry.was.index == index)
}

/// The entry of an interface by its name.
pub(super) fn find<'a>(
    journal: &'a Journal,
    namespace: &NamespaceId,
    name: &str,
) -> Option<&'a InterfaceEntry> {
    let mut entries = journal.interfaces.iter();
    entries.find(|entry| entry.namespace == *namespace && entry.was.name == name)
}

/// Reads the present state of an interface.
pub(super) fn one(space: &Space, index: u32, name: &str) -> Result<InterfaceState, Error> {
    read_at(space, index)?.ok_or_else(|| Error::Gone {
        interface: name.to_owned(),
        namespace: space.id().name.clone(),
        detail: "it has gone since the experiment began".to_owned(),
    })
}

/// The entry of an interface by its ifindex.
pub(super) fn at<'a>(
    journal: &'a mut Journal,
    namespace: &NamespaceId,
    index: u32,
) -> Option<&'a mut InterfaceEntry> {
    let mut entries = journal.interfaces.iter_mut();
    entries.find(|entry| is_at(entry, namespace, index))
}

/// Whether an entry is that of an ifindex.
pub(super) fn is_at(entry: &InterfaceEntry, namespace: &NamespaceId, index: u32) -> bool {
    entry.namespace == *namespace && entry.was.index == index
}

/// A sysctl's entry.
pub(super) fn sysctl_entry<'a>(
    journal: &'a mut Journal,
    namespace: &NamespaceId,
    key: &str,
) -> Option<&'a mut SysctlEntry> {
    let mut entries = journal.sysctls.iter_mut();
    entries.find(|entry| entry.namespace == *namespace && entry.key == key)
}

/// The values of a sysctl that is in the journal.
pub(super) fn held<'a>(
    journal: &'a mut Journal,
    namespace: &NamespaceId,
    key: &str,
) -> Option<&'a mut Held> {
    sysctl_entry(journal, namespace, key).map(|entry| &mut entry.held)
}

/// The error for an interface that has no entry.
pub(super) fn lost(namespace: &NamespaceId, name: &str) -> Error {
    Error::Gone {
        interface: name.to_owned(),
        namespace: namespace.name.clone(),
        detail: "it was not read".to_owned(),
    }
}

/// Refuses to set a key that somebody else has changed since we last set it.
pub(super) fn mind_others(held: &Held, what: &str, now: &str) -> Result<(), Error> {
    if held.standing(now) != Standing::Theirs {
        return Ok(());
    }
    Err(Error::Meddled {
        what: what.to_owned(),
        set: held.shown_set(),
        is: now.to_owned(),
    })
}

/// Refuses to move an interface's key that somebody else has changed; adaptive coalescing changes by itself.
pub(super) fn mind_move(entry: &InterfaceEntry, held: &Held, one: &Move) -> Result<(), Error> {
    match &one.item {
        Item::Coalescing(name) if is_adaptive(&entry.was, name) => Ok(()),
        item => mind_others(held, &format!("{}: {item}", entry.was.name), &one.from),
    }
}
