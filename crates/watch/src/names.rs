//! Names of interfaces, by namespace and ifindex.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use coalescope_host::live::{self, collect, namespace_file};
use coalescope_host::model::{self, Snapshot};
use coalescope_host::names::{OFFLOADS, of_key};
use coalescope_host::roles::roles;

use crate::facts::Interface;
use crate::kernel::Place;

/// Settings of this host, and its interfaces by place.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) snapshot: Snapshot,
    interfaces: BTreeMap<Place, Interface>,
    /// Interfaces that are gone, as last seen: their counts are still reported.
    gone: BTreeMap<Place, Interface>,
    /// Names of namespaces; the main one has none.
    spaces: BTreeMap<u32, Option<String>>,
}

impl Names {
    /// Reads all interfaces to watch.
    pub(crate) fn read(options: &live::Options) -> Self {
        Self::of(collect(options), options)
    }

    /// Reads them again. If an ifindex is used again, the name is that of the new interface.
    pub(crate) fn read_again(&mut self, options: &live::Options) {
        *self = Self::read(options).after(
            std::mem::take(&mut self.gone),
            std::mem::take(&mut self.interfaces),
        );
    }

    /// Adds the interfaces known before that no longer exist.
    fn after(
        mut self,
        gone: BTreeMap<Place, Interface>,
        before: BTreeMap<Place, Interface>,
    ) -> Self {
        self.gone = gone;
        self.gone.extend(before);
        self.gone
            .retain(|place, _| !self.interfaces.contains_key(place));
        self
    }

    /// Forgets interfaces that are gone.
    pub(crate) fn forget(&mut self, all: &[Place]) {
        self.gone.retain(|place, _| !all.contains(place));
    }

    /// The names in a snapshot that was read with these options.
    pub(crate) fn of(snapshot: Snapshot, options: &live::Options) -> Self {
        let mut names = Self {
            interfaces: BTreeMap::new(),
            gone: BTreeMap::new(),
            spaces: BTreeMap::new(),
            snapshot,
        };
        let roles = roles(&names.snapshot);
        let mut inodes: BTreeMap<Option<&str>, Option<u32>> = BTreeMap::new();
        for (key, interface) in &names.snapshot.interfaces {
            let space = interface.namespace.as_deref();
            let inode = *inodes
                .entry(space)
                .or_insert_with(|| inode(&namespace_file(space, options)));
            let (Some(inode), Some(number)) = (inode, interface.index) else {
                continue;
            };
            names.spaces.insert(inode, space.map(str::to_owned));
            let place = Place {
                space: inode,
                interface: number,
            };
            let mut fact = fact(key, interface);
            let of_it = roles.get(key).into_iter().flatten();
            fact.roles = of_it.map(|role| role.role.name().to_owned()).collect();
            names.interfaces.insert(place, fact);
        }
        names
    }

    /// The watched namespaces: the name of each (none for the main one), and its file.
    pub(crate) fn spaces(&self, options: &live::Options) -> Vec<(Option<String>, PathBuf)> {
        let others = self.spaces.values().flatten().cloned();
        let all = std::iter::once(None).chain(others.map(Some));
        all.map(|name| (name.clone(), namespace_file(name.as_deref(), options)))
            .collect()
    }

    /// The inode of the main namespace.
    pub(crate) fn main(options: &live::Options) -> Option<u32> {
        inode(&namespace_file(None, options))
    }

    /// Names of interfaces, each without its namespace, and their places; those that are gone last.
    pub(crate) fn plain(&self) -> impl Iterator<Item = (&str, Place)> {
        let all = self.interfaces.iter().chain(&self.gone);
        all.map(|(place, interface)| (of_key(&interface.name).1, *place))
    }

    /// The number of interfaces.
    pub(crate) fn count(&self) -> usize {
        self.interfaces.len()
    }

    /// An interface, or one that is gone as last seen.
    fn last(&self, place: Place) -> Option<&Interface> {
        let here = self.interfaces.get(&place);
        here.or_else(|| self.gone.get(&place))
    }

    /// Whether the interface exists, or did.
    pub(crate) fn was_ever_named(&self, place: Place) -> bool {
        self.last(place).is_some()
    }

    /// Whether the interface exists.
    pub(crate) fn is_present(&self, place: Place) -> bool {
        self.interfaces.contains_key(&place)
    }

    /// The interface of a place. One that came and went between two reads has its ifindex as a name.
    pub(crate) fn interface(&self, place: Place) -> Interface {
        self.last(place).cloned().unwrap_or_else(|| Interface {
            name: self.unknown(place),
            index: place.interface,
            ..Interface::default()
        })
    }

    pub(crate) fn name(&self, place: Place) -> String {
        let known = self.last(place);
        known.map_or_else(|| self.unknown(place), |known| known.name.clone())
    }

    fn unknown(&self, place: Place) -> String {
        let Place { space, interface } = place;
        match self.spaces.get(&space) {
            Some(None) => format!("#{interface}"),
            Some(Some(name)) => format!("ns/{name}/#{interface}"),
            None => format!("ns/#{space}/#{interface}"),
        }
    }
}

pub(crate) fn fact(key: &str, interface: &model::Interface) -> Interface {
    Interface {
        name: key.to_owned(),
        index: interface.index.unwrap_or_default(),
        kind: interface.kind.clone(),
        driver: interface.driver.as_ref().map(|driver| driver.name.clone()),
        master: interface.master.clone(),
        mtu_bytes: interface.mtu_bytes,
        speed_bps: interface.speed_bps,
        roles: Vec::new(),
        offloads_on: Some(offloads_on(interface)),
        frames: None,
        counters: BTreeMap::new(),
    }
}

fn offloads_on(interface: &model::Interface) -> Vec<String> {
    let is_on = |name: &str| {
        let feature = interface.features.get(name);
        feature.is_some_and(|feature| feature.active)
    };
    let on = OFFLOADS.iter().filter(|(name, _)| is_on(name));
    on.map(|(_, short)| (*short).to_owned()).collect()
}

fn inode(path: &Path) -> Option<u32> {
    u32::try_from(fs::metadata(path).ok()?.ino()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[(u32, &str)]) -> Names {
        let interfaces = all.iter().map(|(number, name)| {
            let place = Place {
                space: 1,
                interface: *number,
            };
            let fact = Interface {
                name: (*name).to_owned(),
                ..Interface::default()
            };
            (place, fact)
        });
        Names {
            snapshot: Snapshot::default(),
            interfaces: interfaces.collect(),
            gone: BTreeMap::new(),
            spaces: BTreeMap::from([(1, None)]),
        }
    }

    fn after(before: Names, now: &[(u32, &str)]) -> Names {
        names(now).after(before.gone, before.interfaces)
    }

    #[test]
    fn what_has_gone_keeps_its_last_name() {
        let place = |interface| Place {
            space: 1,
            interface,
        };
        let all = |names: &Names| [1, 2, 3].map(|number| names.name(place(number)));
        let first = names(&[(1, "lo"), (2, "eth0")]);
        assert_eq!(all(&first), ["lo", "eth0", "#3"]);
        let renamed = after(first, &[(1, "lo"), (2, "wan"), (3, "tap0")]);
        assert_eq!(all(&renamed), ["lo", "wan", "tap0"]);
        let gone = after(after(renamed, &[(1, "lo")]), &[(1, "lo")]);
        assert_eq!(all(&gone), ["lo", "wan", "tap0"]);
        assert!(!gone.is_present(place(2)), "there is room for others");
        let mut again = after(gone, &[(1, "lo"), (3, "tap7")]);
        assert_eq!(all(&again), ["lo", "wan", "tap7"]);
        again.forget(&[place(2), place(3)]);
        assert_eq!(all(&again), ["lo", "#2", "tap7"]);
    }
}
