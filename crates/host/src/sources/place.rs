//! Where something was found: a folder, or a folder within an archive, and a name.

use std::fmt;

use crate::safe::printable_line;

/// A folder, from the path that was given downwards. An archive is a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Folder {
    /// The first is the given path.
    pub(super) parts: Vec<String>,
    /// How many of them lead to the innermost archive: what is in an archive is never of the same
    /// host as what lies beside it.
    pub(super) sealed: usize,
}

impl Folder {
    /// The folder of a given path.
    pub(super) fn given(path: &str) -> Folder {
        Folder {
            parts: vec![path.to_owned()],
            sealed: 1,
        }
    }

    pub(super) fn sub(&self, name: &str) -> Folder {
        let mut sub = self.clone();
        sub.parts.push(name.to_owned());
        sub
    }

    /// An archive in this folder.
    pub(super) fn archive(&self, name: &str) -> Folder {
        let mut archive = self.sub(name);
        archive.sealed = archive.parts.len();
        archive
    }

    /// This folder and those above it, the outermost first, down from the innermost archive.
    pub(super) fn within_archive(&self) -> impl Iterator<Item = Folder> + '_ {
        (self.sealed..=self.parts.len()).map(|len| Folder {
            parts: self.parts[..len].to_vec(),
            sealed: self.sealed,
        })
    }

    /// The last part of its path.
    pub(super) fn name(&self) -> &str {
        let last = self.parts.last().map_or("", String::as_str);
        last.trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(last)
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&printable_line(&self.parts.join("/")))
    }
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) folder: Folder,
    pub(super) name: String,
}

/// What is said of a name that is not looked at.
pub(super) const LEADS_OUT: &str = "a name that leads out of the archive or too deep";

impl Place {
    /// Where a file of this name is; `None` if its name leads out of the folder, or too deep.
    pub(super) fn inside(folder: &Folder, name: &[u8], depth: usize) -> Option<Place> {
        let name = String::from_utf8_lossy(name);
        let mut parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
        let file = parts.next_back().unwrap_or_default().to_owned();
        let mut folder = folder.clone();
        for part in parts {
            if part == ".." || folder.parts.len() > depth {
                return None;
            }
            folder.parts.push(part.to_owned());
        }
        (file != "..").then_some(Place { folder, name: file })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.folder.parts.is_empty() {
            return out.write_str(&printable_line(&self.name));
        }
        write!(out, "{}/{}", self.folder, printable_line(&self.name))
    }
}
