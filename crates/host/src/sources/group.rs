//! Assigns the texts of one path to hosts.
//!
//! A path is one host, with these exceptions: each saved snapshot is one; each of several bundles is
//! one; each archive is a path of its own; each sosreport and each copy of a host's root is one;
//! and where a folder holds no text itself, each folder in it is one.

use std::collections::{BTreeMap, BTreeSet};

use super::command::{is_root_child, is_sosreport_child};
use super::found::{Content, Found, Item};
use super::place::Folder;

/// The texts of one host.
pub(super) struct Group {
    /// The folder that holds all of it.
    pub(super) root: Folder,
    pub(super) items: Vec<Item>,
}

impl Group {
    /// A saved snapshot that names its host: even one of which nothing was read was a host beside others.
    pub(super) fn is_saved_with_a_name(&self) -> bool {
        let mut contents = self.items.iter().map(|item| &item.content);
        contents.any(
            |content| matches!(content, Content::Saved { snapshot, .. } if snapshot.name.is_some()),
        )
    }
}

/// The roots of all hosts in one path.
pub(super) struct Roots {
    sosreports: BTreeSet<Folder>,
    trees: BTreeSet<Folder>,
    with_texts: BTreeSet<Folder>,
}

impl Roots {
    pub(super) fn of(found: &Found) -> Roots {
        let mut roots = Roots {
            sosreports: BTreeSet::new(),
            trees: BTreeSet::new(),
            with_texts: BTreeSet::new(),
        };
        for folder in folders(found) {
            roots.tree(folder);
        }
        for item in &found.items {
            if !matches!(item.content, Content::Saved { .. }) {
                roots.with_texts.insert(item.folder.clone());
            }
        }
        roots
    }

    /// Notes the folders above the first that only a host's root or a sosreport has.
    fn tree(&mut self, folder: &Folder) {
        let below = folder.parts.get(folder.sealed..).unwrap_or_default();
        let parent = |at: usize| Folder {
            parts: folder.parts[..folder.sealed + at].to_vec(),
            sealed: folder.sealed,
        };
        if let Some(at) = below.iter().position(|name| is_sosreport_child(name)) {
            self.sosreports.insert(parent(at));
        } else if let Some(at) = below.iter().position(|name| is_root_child(name)) {
            self.trees.insert(parent(at));
        }
    }

    /// The root of the host that a file in this folder is about, and whether it is a sosreport or
    /// a copy of a host's root, most of which is not meant for us.
    pub(super) fn root(&self, folder: &Folder) -> (Folder, bool) {
        for (roots, is_tree) in [
            (&self.sosreports, true),
            (&self.trees, true),
            (&self.with_texts, false),
        ] {
            if let Some(root) = folder.within_archive().find(|above| roots.contains(above)) {
                return (root, is_tree);
            }
        }
        (folder.clone(), false)
    }

    /// Whether a folder of a sosreport holds nothing that was made for it: logs and the like, in
    /// which there may be anything.
    pub(super) fn is_foreign(&self, folder: &Folder) -> bool {
        let mut above = folder.within_archive();
        let root = above.find(|above| self.sosreports.contains(above));
        let child = root.and_then(|root| folder.parts.get(root.parts.len()));
        child.is_some_and(|name| !is_root_child(name))
    }
}

/// All folders that something was found in.
fn folders(found: &Found) -> BTreeSet<&Folder> {
    let items = found.items.iter().map(|item| &item.folder);
    let notes = found.notes.iter().map(|note| &note.folder);
    let counted = found.counted.keys().map(|(folder, _)| folder);
    items.chain(notes).chain(counted).collect()
}

/// Puts together what belongs together, in the order in which it was found.
pub(super) fn group(items: Vec<Item>, roots: &Roots) -> Vec<Group> {
    let bundles = bundles(&items, roots);
    let mut groups: Vec<Group> = Vec::new();
    let mut shared: BTreeMap<Folder, usize> = BTreeMap::new();
    for item in items {
        let (root, _) = roots.root(&item.folder);
        let alone = match item.content {
            Content::Saved { .. } => true,
            Content::Bundle { .. } => bundles.get(&root).is_some_and(|count| *count > 1),
            Content::Text(_) => false,
        };
        let at = shared.get(&root).copied().filter(|_| !alone);
        let at = at.unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(Group {
                root: root.clone(),
                items: Vec::new(),
            });
        }
        if !alone {
            shared.insert(root, at);
        }
        groups[at].items.push(item);
    }
    groups
}

/// How many bundles there are by root.
fn bundles(items: &[Item], roots: &Roots) -> BTreeMap<Folder, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        if matches!(item.content, Content::Bundle { .. }) {
            *counts.entry(roots.root(&item.folder).0).or_default() += 1;
        }
    }
    counts
}
