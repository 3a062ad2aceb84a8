//! Names that stand for the same thing.

use crate::model::{Interface, Snapshot, Unread};

impl Snapshot {
    /// The interface of a name, made if it is new. `ns/NAMESPACE/NAME` is one of a namespace.
    pub fn interface_mut(&mut self, key: &str) -> &mut Interface {
        self.interfaces
            .entry(key.to_owned())
            .or_insert_with(|| named(key))
    }

    /// Notes something that was not read, and why.
    pub fn not_read(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.unread.push(Unread {
            what: what.into(),
            why: why.into(),
        });
    }
}

fn named(key: &str) -> Interface {
    let split = key
        .strip_prefix("ns/")
        .and_then(|rest| rest.split_once('/'));
    let (namespace, name) = split.map_or((None, key), |(space, name)| (Some(space), name));
    Interface {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        ..Interface::default()
    }
}
