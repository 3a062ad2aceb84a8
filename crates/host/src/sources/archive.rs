//! Archives made by tar.

use std::io::{self, Read};

use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::files::Files;
use super::found::Counted;
use super::place::{Folder, Place};

/// The longest name that is read: PATH_MAX of Linux, beyond which no file can be opened by its path.
const NAME: u64 = 4096;

impl Files<'_> {
    /// Goes through an archive. `tar` gives the entries as they are: it would read a name of any
    /// length into memory.
    pub(super) fn archive(&mut self, place: &Place, reader: &mut dyn Read, nesting: usize) {
        let folder = place.folder.archive(&place.name);
        if let Err(error) = self.archive_entries(&folder, reader, nesting) {
            let why = format!("the archive is cut or damaged here, or too large: {error}");
            self.found.named(&folder, folder.to_string(), why);
        }
    }

    fn archive_entries(
        &mut self,
        folder: &Folder,
        reader: &mut dyn Read,
        nesting: usize,
    ) -> io::Result<()> {
        let mut archive = Archive::new(reader);
        let mut long = None;
        for entry in archive.entries()?.raw(true) {
            let mut entry = entry?;
            if self.is_over(folder) {
                return Ok(());
            }
            match entry.header().entry_type() {
                EntryType::GNULongName => long = Some(long_name(&mut entry)?),
                EntryType::XHeader => long = pax_name(&mut entry)?.or(long),
                EntryType::GNULongLink | EntryType::XGlobalHeader => {}
                _ => self.archive_entry(folder, long.take(), &mut entry, nesting)?,
            }
        }
        Ok(())
    }

    fn archive_entry<R: Read>(
        &mut self,
        folder: &Folder,
        long: Option<Vec<u8>>,
        entry: &mut Entry<'_, R>,
        nesting: usize,
    ) -> io::Result<()> {
        let name = long.unwrap_or_else(|| entry.path_bytes().into_owned());
        let Some(place) = inside(folder, &name, self.limits.depth) else {
            let name = String::from_utf8_lossy(&name).into_owned();
            self.found.named(
                folder,
                name,
                "a name that leads out of the archive or too deep",
            );
            return Ok(());
        };
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => self.whole(&place, entry, nesting)?,
            EntryType::Symlink | EntryType::Link => {
                self.found.count(&place.folder, Counted::Link);
            }
            EntryType::Directory => {}
            _ => {
                let why = "a device, pipe or sparse file in an archive, not read";
                self.found.named(&place.folder, place.to_string(), why);
            }
        }
        Ok(())
    }

    /// A file of which the archive may have only the begin.
    fn whole<R: Read>(
        &mut self,
        place: &Place,
        entry: &mut Entry<'_, R>,
        nesting: usize,
    ) -> io::Result<()> {
        let size = entry.size();
        let mut exact = Exact {
            left: size,
            inner: entry,
            failed: false,
        };
        self.file(place, &mut exact, nesting);
        if exact.failed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

/// Fails where the inner reader ends too early.
struct Exact<R> {
    inner: R,
    left: u64,
    failed: bool,
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.left = self.left.saturating_sub(count as u64);
        if count == 0 && self.left > 0 && !into.is_empty() {
            self.failed = true;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }
}

fn long_name<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Vec<u8>> {
    let mut name = Vec::new();
    entry.take(NAME).read_to_end(&mut name)?;
    while name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

fn pax_name<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Option<Vec<u8>>> {
    let mut extensions = Vec::new();
    entry.take(NAME).read_to_end(&mut extensions)?;
    let mut all = PaxExtensions::new(&extensions).flatten();
    let path = all.find(|extension| extension.key_bytes() == b"path");
    Ok(path.map(|path| path.value_bytes().to_vec()))
}

/// Where an entry of this name is; `None` if its name leads out of the archive.
fn inside(archive: &Folder, name: &[u8], depth: usize) -> Option<Place> {
    let name = String::from_utf8_lossy(name);
    let mut parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    let file = parts.next_back().unwrap_or_default().to_owned();
    let mut folder = archive.clone();
    for part in parts {
        if part == ".." || folder.parts.len() > depth {
            return None;
        }
        folder.parts.push(part.to_owned());
    }
    (file != "..").then_some(Place { folder, name: file })
}
