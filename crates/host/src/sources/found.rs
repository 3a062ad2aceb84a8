//! The texts of one path, before they are assigned to hosts.

use std::collections::BTreeMap;

use super::place::Folder;
use crate::assemble::Part;
use crate::model::{Snapshot, Unread};

/// The texts of one path.
#[derive(Default)]
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    pub(super) notes: Vec<Note>,
    /// By folder, as there may be very many.
    pub(super) counted: BTreeMap<(Folder, Counted), u64>,
}

/// Something that was understood.
pub(super) struct Item {
    pub(super) folder: Folder,
    pub(super) content: Content,
}

/// What it says.
pub(super) enum Content {
    /// One text.
    Text(Box<Part>),
    /// A bundle: all of its texts, and what it lacks.
    Bundle {
        origin: String,
        parts: Vec<Part>,
        unread: Vec<Unread>,
    },
    /// A saved snapshot.
    Saved {
        origin: String,
        snapshot: Box<Snapshot>,
    },
}

/// Something that was not.
pub(super) struct Note {
    pub(super) folder: Folder,
    pub(super) about: About,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// To be named.
    Named(Unread),
    /// A text that no reader knows; `ours` if its name is that of a command that is of use.
    Unknown { what: String, ours: bool },
}

/// What is counted, not named: it is in every folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Counted {
    Binary,
    Empty,
    Link,
    Other,
}

impl Counted {
    pub(super) fn why(self) -> &'static str {
        match self {
            Counted::Binary => "no text",
            Counted::Empty => "empty",
            Counted::Link => "symbolic or hard links, not followed",
            Counted::Other => "not output of a command that coalescope reads",
        }
    }
}

impl About {
    pub(super) fn named(what: impl Into<String>, why: impl Into<String>) -> About {
        About::Named(Unread {
            what: what.into(),
            why: why.into(),
        })
    }
}

impl Found {
    pub(super) fn named(
        &mut self,
        folder: &Folder,
        what: impl Into<String>,
        why: impl Into<String>,
    ) {
        self.note(folder, About::named(what, why));
    }

    pub(super) fn count(&mut self, folder: &Folder, counted: Counted) {
        *self.counted.entry((folder.clone(), counted)).or_default() += 1;
    }

    pub(super) fn note(&mut self, folder: &Folder, about: About) {
        self.notes.push(Note {
            folder: folder.clone(),
            about,
        });
    }
}
