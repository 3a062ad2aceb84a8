//! A text of a network namespace.

use crate::model::{Interface, Snapshot};
use crate::names::key_of;

/// Moves the output of a command within a namespace into that namespace.
pub(crate) fn scope(snapshot: &mut Snapshot, namespace: &str) {
    let interfaces = std::mem::take(&mut snapshot.interfaces);
    for (key, mut interface) in interfaces {
        if key.starts_with("ns/") {
            snapshot.interfaces.insert(key, interface);
            continue;
        }
        name(&mut interface, &key, namespace);
        let key = key_of(Some(namespace), &key);
        snapshot.interfaces.insert(key, interface);
    }
    let stack = std::mem::take(&mut snapshot.stack);
    if !stack.is_empty() {
        snapshot.namespaces.insert(namespace.to_owned(), stack);
    }
}

fn name(interface: &mut Interface, key: &str, namespace: &str) {
    interface.namespace = Some(namespace.to_owned());
    if interface.name.is_empty() {
        key.clone_into(&mut interface.name);
    }
}
