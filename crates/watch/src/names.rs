//! Names of interfaces, by namespace and ifindex.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Without the random numbers of their namespaces, which no snapshot has.
    interfaces: BTreeMap<Place, Interface>,
    /// Interfaces that are gone, as last seen: their counts are still reported.
    gone: BTreeMap<Place, Interface>,
    /// Names of namespaces; the main one has none.
    spaces: BTreeMap<u32, Option<String>>,
    /// Random numbers of the namespaces that there are, as far as these had frames.
    mixes: BTreeMap<u32, u32>,
    /// Namespaces whose interfaces have been named.
    known: BTreeSet<(u32, u32)>,
}

impl Names {
    /// Reads all interfaces to watch.
    pub(crate) fn read(options: &live::Options) -> Self {
        Self::of(collect(options), options)
    }

    /// Reads them again. If an ifindex is used again, the name is that of the new interface.
    pub(crate) fn read_again(&mut self, options: &live::Options) {
        let now = Self::read(options);
        let before = std::mem::replace(self, now);
        self.add_gone(before);
    }

    /// Adds the interfaces known before that no longer exist.
    fn add_gone(&mut self, before: Self) {
        (self.mixes, self.known) = (before.mixes, before.known);
        let interfaces = before.interfaces.into_iter().map(|(place, interface)| {
            let mix = self.mixes.get(&place.space).copied().unwrap_or_default();
            (Place { mix, ..place }, interface)
        });
        let mut gone = before.gone;
        gone.extend(interfaces);
        gone.retain(|place, _| !self.is_present(*place));
        self.gone = gone;
    }

    /// Learns which namespaces have frames. One that has the inode of another one is the only one of that inode from now on,
    /// if names are about to be read again: those that were read before are of the other one.
    pub(crate) fn learn(&mut self, all: impl Iterator<Item = Place>, is_read_again: bool) {
        for place in all {
            let has_names = is_read_again || !self.mixes.contains_key(&place.space);
            if has_names && self.known.insert((place.space, place.mix)) {
                self.leave(place.space);
                self.mixes.insert(place.space, place.mix);
            }
        }
    }

    /// Keeps what was known of a namespace's inode before another namespace got it.
    fn leave(&mut self, space: u32) {
        let Some(mix) = self.mixes.remove(&space) else {
            return;
        };
        let of_it = |place: &Place, _: &mut Interface| place.space == space;
        let gone = self.interfaces.extract_if(.., of_it);
        let gone = gone.map(|(place, interface)| (Place { mix, ..place }, interface));
        self.gone.extend(gone);
    }

    /// Forgets interfaces that are gone.
    pub(crate) fn forget(&mut self, all: &[Place]) {
        self.gone.retain(|place, _| !all.contains(place));
        let (gone, mixes) = (&self.gone, &self.mixes);
        self.known.retain(|(space, mix)| {
            mixes.get(space) == Some(mix)
                || gone
                    .keys()
                    .any(|one| (one.space, one.mix) == (*space, *mix))
        });
    }

    /// The names in a snapshot that was read with these options.
    pub(crate) fn of(snapshot: Snapshot, options: &live::Options) -> Self {
        let mut names = Self {
            interfaces: BTreeMap::new(),
            gone: BTreeMap::new(),
            spaces: BTreeMap::new(),
            mixes: BTreeMap::new(),
            known: BTreeSet::new(),
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
                mix: 0,
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

    /// An interface that exists. What has the inode of another namespace is none of that one's.
    fn present(&self, place: Place) -> Option<&Interface> {
        let mix = self.mixes.get(&place.space);
        let is_here = mix.is_none_or(|mix| *mix == place.mix);
        let here = Place { mix: 0, ..place };
        self.interfaces.get(&here).filter(|_| is_here)
    }

    /// An interface, or one that is gone as last seen.
    fn last(&self, place: Place) -> Option<&Interface> {
        self.present(place).or_else(|| self.gone.get(&place))
    }

    /// Whether the interface exists, or did.
    pub(crate) fn was_ever_named(&self, place: Place) -> bool {
        self.last(place).is_some()
    }

    /// Whether the interface exists.
    pub(crate) fn is_present(&self, place: Place) -> bool {
        self.present(place).is_some()
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
        let Place {
            space, interface, ..
        } = place;
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
                mix: 0,
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
            mixes: BTreeMap::new(),
            known: BTreeSet::new(),
        }
    }

    fn after(before: Names, now: &[(u32, &str)]) -> Names {
        let mut now = names(now);
        now.add_gone(before);
        now
    }

    /// A container goes, the next one gets its inode, and its interface the same number.
    #[test]
    fn what_a_namespace_counted_is_not_told_of_the_next_one_of_its_inode() {
        let [first, second, third] = [7, 8, 9].map(|mix| Place {
            space: 1,
            mix,
            interface: 2,
        });
        let mut before = names(&[(2, "one")]);
        before.learn([first].into_iter(), false);
        before.learn([first, second].into_iter(), false);
        assert!(!before.was_ever_named(second), "names are to be read again");
        before.learn([first, second].into_iter(), true);
        let now = after(before, &[(2, "two")]);
        let all = [first, second, third].map(|place| now.name(place));
        assert_eq!(all, ["one", "two", "#2"]);
        assert_eq!(
            [first, second].map(|place| now.is_present(place)),
            [false, true]
        );
        let mut later = after(now, &[(2, "zwei")]);
        assert_eq!(
            [first, second].map(|place| later.name(place)),
            ["one", "zwei"]
        );
        later.forget(&[first]);
        assert_eq!(later.known, BTreeSet::from([(1, 8)]));
    }

    #[test]
    fn what_has_gone_keeps_its_last_name() {
        let place = |interface| Place {
            space: 1,
            mix: 0,
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
