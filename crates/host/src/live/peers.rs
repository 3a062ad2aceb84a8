//! The other ends of links: their names, and the names of their namespaces.

use super::identity::Identity;
use super::namespaces::Spaces;
use crate::model::{Interface, Peer, Setting};
use crate::names::LINK_NAMESPACE;
use coalescope_netlink::route::{Link, Route};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;

/// The numbers that this namespace has for others, and their names.
#[derive(Debug, Default)]
pub(super) struct Ids {
    names: BTreeMap<i32, String>,
}

impl Ids {
    /// Asks for the numbers of namespaces that are known until all that links lead to are named:
    /// of a container that is mostly one, the main one. Asking gives none a number.
    pub(super) fn ask(
        route: &Route,
        links: &[Link],
        spaces: &Spaces,
        own: Option<Identity>,
    ) -> Self {
        let mut needed: BTreeSet<_> = links
            .iter()
            .filter_map(|link| link.link_namespace)
            .collect();
        let mut names = BTreeMap::new();
        for (identity, known) in spaces.main_first() {
            if needed.is_empty() {
                break;
            }
            if Some(*identity) == own {
                continue;
            }
            let file = known.open(*identity);
            let id = file.and_then(|file| route.namespace_id(file.as_fd()).ok().flatten());
            if let Some(id) = id {
                needed.remove(&id);
                names.insert(id, known.name.clone());
            }
        }
        Self { names }
    }

    fn name(&self, id: i32) -> String {
        let known = self.names.get(&id).cloned();
        known.unwrap_or_else(|| format!("nsid {id}"))
    }
}

/// Sets the link's target: the other end of a pair, or the lower interface.
pub(super) fn set(
    interface: &mut Interface,
    link: &Link,
    names: &BTreeMap<u32, String>,
    route: &Route,
    ids: &Ids,
) {
    let other = link.link.and_then(|index| match link.link_namespace {
        None => names.get(&index).cloned(),
        Some(id) => route.link_elsewhere(id, index).ok().map(|link| link.name),
    });
    let namespace = link.link_namespace.map(|id| ids.name(id));
    if is_pair(link) {
        // Of a veth whose other end is in another namespace, this much is always known.
        let known = other.is_some() || namespace.is_some();
        interface.peer = known.then_some(Peer {
            name: other,
            namespace,
        });
    } else {
        interface.parent = other;
        if let Some(namespace) = namespace {
            let key = LINK_NAMESPACE.to_owned();
            interface.properties.insert(key, Setting::Text(namespace));
        }
    }
}

/// Kinds that come in pairs.
fn is_pair(link: &Link) -> bool {
    matches!(link.kind.as_deref(), Some("veth" | "vxcan" | "netkit"))
}
