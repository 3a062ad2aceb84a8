//! Finds files: in folders, in archives, packed, and packed in each other.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use coalescope_unpack::bounded::bytes_within;
use coalescope_unpack::{Budget, Unpacked};

use super::content::{self, Content, HEAD};
use super::error::Error;
use super::found::{About, Counted, Found};
use super::given::{self, Given};
use super::limits::Limits;
use super::place::{Folder, LEADS_OUT, Place};
use crate::model::Unread;

/// Takes the bytes of each text.
pub(super) trait Texts {
    /// Takes one; gives how many of its bytes were understood.
    fn text(&mut self, place: &Place, bytes: Vec<u8>, found: &mut Found) -> u64;
}

/// Goes through all files of one path.
pub(super) struct Files<'a> {
    pub(super) limits: &'a Limits,
    texts: &'a mut dyn Texts,
    budget: Budget,
    files: u64,
    understood: u64,
    pub(super) found: Found,
}

impl<'a> Files<'a> {
    pub(super) fn new(limits: &'a Limits, texts: &'a mut dyn Texts) -> Files<'a> {
        Files {
            limits,
            texts,
            budget: Budget::new(limits.total_bytes),
            files: 0,
            understood: 0,
            found: Found::default(),
        }
    }

    /// A path that was given.
    pub(super) fn given(&mut self, given: Given) -> Result<(), Error> {
        let name = given.name().to_owned();
        match given.content {
            given::Content::Bytes(reader) => self.bytes(&name, reader),
            given::Content::Files(files) => self.listed(&Folder::given(&name), files),
            given::Content::Folder(path) => {
                let unreadable = |source| Error::Unreadable {
                    path: name.clone(),
                    source,
                };
                let entries = sorted(&path).map_err(unreadable)?;
                self.entries(&Folder::given(&name), entries);
            }
        }
        Ok(())
    }

    /// The bytes of a single file.
    pub(super) fn bytes(&mut self, name: &str, reader: impl Read) {
        let place = Place {
            folder: Folder::default(),
            name: name.to_owned(),
        };
        self.file(&place, &mut self.budget.meter(reader), 0);
    }

    /// Files of a folder that somebody else has gone through.
    fn listed(&mut self, folder: &Folder, files: Vec<(String, Box<dyn Read>)>) {
        for (path, reader) in files {
            if self.is_over(folder) {
                return;
            }
            match Place::inside(folder, path.as_bytes(), self.limits.depth) {
                Some(place) => self.file(&place, &mut self.budget.meter(reader), 0),
                None => self.found.named(folder, path, LEADS_OUT),
            }
        }
    }

    fn folder(&mut self, folder: &Folder, path: &Path) {
        if folder.parts.len() > self.limits.depth {
            let why = "folders within folders beyond the limit, not looked into";
            return self.found.named(folder, folder.to_string(), why);
        }
        match sorted(path) {
            Ok(entries) => self.entries(folder, entries),
            Err(error) => self.failed(folder, folder.to_string(), &error),
        }
    }

    fn entries(&mut self, folder: &Folder, entries: Vec<fs::DirEntry>) {
        for entry in entries {
            if self.is_over(folder) {
                return;
            }
            let place = Place {
                folder: folder.clone(),
                name: entry.file_name().to_string_lossy().into_owned(),
            };
            // The metadata of the link itself, not of its target.
            match entry.metadata() {
                Ok(metadata) => self.entry(&place, &entry.path(), &metadata),
                Err(error) => self.failed(folder, place.to_string(), &error),
            }
        }
    }

    fn entry(&mut self, place: &Place, path: &Path, metadata: &Metadata) {
        if metadata.is_symlink() {
            self.found.count(&place.folder, Counted::Link);
        } else if metadata.is_dir() {
            self.folder(&place.folder.sub(&place.name), path);
        } else if !metadata.is_file() {
            let why = "a device, pipe or socket, not opened";
            self.found.named(&place.folder, place.to_string(), why);
        } else if metadata.len() == 0 {
            // Nor is any file of a live /proc opened by this: reading some of them waits for ever.
            self.found.count(&place.folder, Counted::Empty);
        } else {
            match File::open(path) {
                Ok(file) => self.file(place, &mut self.budget.meter(file), 0),
                Err(error) => self.failed(&place.folder, place.to_string(), &error),
            }
        }
    }

    /// A file, in a folder or in an archive, as its content tells.
    pub(super) fn file(&mut self, place: &Place, reader: &mut dyn Read, nesting: usize) {
        let mut head = Vec::with_capacity(HEAD);
        if let Err(error) = (&mut *reader).take(HEAD as u64).read_to_end(&mut head) {
            return self.failed(&place.folder, place.to_string(), &error);
        }
        let content = content::of(&head);
        let mut whole = io::Cursor::new(head).chain(reader);
        self.content(place, content, &mut whole, nesting);
    }

    fn content(&mut self, place: &Place, content: Content, whole: &mut dyn Read, nesting: usize) {
        let folder = &place.folder;
        match content {
            Content::Packed(_) | Content::Tar if nesting >= self.limits.nesting => {
                let why = "packed within packed files beyond the limit, not unpacked";
                self.found.named(folder, place.to_string(), why);
            }
            Content::Packed(packing) => {
                let budget = self.budget.clone();
                self.file(
                    place,
                    &mut budget.meter(Unpacked::new(packing, whole)),
                    nesting + 1,
                );
            }
            Content::Tar => self.archive(place, whole, nesting + 1),
            Content::Foreign(what) => self.found.named(folder, place.to_string(), what),
            Content::Binary => self.found.count(folder, Counted::Binary),
            Content::Empty => self.found.count(folder, Counted::Empty),
            Content::Text => self.text(place, whole),
        }
    }

    fn text(&mut self, place: &Place, reader: &mut dyn Read) {
        let most = self.limits.text_bytes;
        let bytes = match bytes_within(most, reader) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let why = format!("a text of more than {most} bytes, not read");
                return self.found.named(&place.folder, place.to_string(), why);
            }
            Err(error) => return self.failed(&place.folder, place.to_string(), &error),
        };
        self.understood += self.texts.text(place, bytes, &mut self.found);
    }

    fn failed(&mut self, folder: &Folder, what: String, error: &io::Error) {
        let why = format!("reading failed: {error}");
        self.found.named(folder, what, why);
    }

    /// Counts one more entry. Whether a limit is reached, so that it and all others are left out.
    pub(super) fn is_over(&mut self, folder: &Folder) -> bool {
        let Some(limit) = self.reached() else {
            self.files += 1;
            return false;
        };
        let about = About::Named(Unread {
            what: "all that follows in this path".to_owned(),
            why: format!("{limit}: give less at once"),
        });
        let named = self.found.notes.iter().any(|note| note.about == about);
        if !named {
            self.found.note(folder, about);
        }
        true
    }

    fn reached(&self) -> Option<String> {
        let Limits {
            files,
            total_bytes,
            understood_bytes,
            ..
        } = *self.limits;
        if self.files >= files {
            Some(format!("more than {files} files"))
        } else if self.budget.is_spent() {
            Some(format!("more than {total_bytes} bytes to read and unpack"))
        } else if self.understood >= understood_bytes {
            Some(format!("more than {understood_bytes} bytes of known texts"))
        } else {
            None
        }
    }
}

/// The entries of a folder sorted by name, so that each run reads in the same order.
fn sorted(path: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}
