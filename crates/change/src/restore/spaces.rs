//! The namespaces of a journal, opened once, and the locks on their interfaces and sysctls.

use super::file_key;
use crate::journal::{Journal, Lock, Store};
use crate::settings::{Error, NamespaceId, Space, dotted};

/// Open namespaces. They stay usable when their names are removed.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    open: Vec<Space>,
}

impl Spaces {
    /// The namespace of a journal's entry.
    pub(crate) fn get(&mut self, id: &NamespaceId) -> Result<&Space, Error> {
        let known = self.open.iter().position(|space| space.id().is_same(id));
        match known {
            Some(at) => Ok(&self.open[at]),
            None => Ok(self.add(Space::find(id)?)),
        }
    }

    /// A namespace by its name. A name that is bound to another namespace later still stands for the first one.
    pub(crate) fn named(&mut self, name: Option<&str>) -> Result<&Space, Error> {
        let same = |space: &Space| space.id().name.as_deref() == name;
        match self.open.iter().position(same) {
            Some(at) => Ok(&self.open[at]),
            None => Ok(self.add(Space::open(name)?)),
        }
    }

    fn add(&mut self, space: Space) -> &Space {
        self.open.push(space);
        &self.open[self.open.len() - 1]
    }
}

/// Name of an interface's lock: made of the namespace's number and the ifindex, which renaming does not change.
pub(crate) fn interface_key(namespace: &NamespaceId, index: u32) -> String {
    format!("{}-if{index}", namespace.key())
}

/// Name of a sysctl's lock.
pub(crate) fn sysctl_key(namespace: &NamespaceId, key: &str) -> String {
    format!("{}-{}", namespace.key(), dotted(key))
}

/// Locks all interfaces and sysctls of a journal.
pub(crate) fn lock_subjects(
    store: &Store,
    journal: &Journal,
    holder: &str,
) -> Result<Vec<Lock>, Error> {
    let interfaces = journal.interfaces.iter().map(|entry| {
        let key = interface_key(&entry.namespace, entry.was.index);
        Lock::take_shared(store, &key, &entry.was.name, holder)
    });
    let sysctls = journal.sysctls.iter().map(|entry| {
        let key = sysctl_key(&entry.namespace, &entry.key);
        Lock::take_shared(store, &key, &dotted(&entry.key), holder)
    });
    let files = journal.files.iter().map(|entry| {
        let name = entry.path.display().to_string();
        Lock::take_shared(store, &file_key(&entry.path), &name, holder)
    });
    interfaces.chain(sysctls).chain(files).collect()
}
