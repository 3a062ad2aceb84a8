//! Archives made by tar.

use std::fmt;
use std::io::{self, Read};

use tar::{Archive, Entry, EntryType, PaxExtensions};

/// The longest name that is read: PATH_MAX of Linux, beyond which no file can be opened by its path.
const NAME: u64 = 4096;

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, of which the archive has the bytes.
    File,
    /// A folder.
    Folder,
    /// A link, symbolic or hard.
    Link,
    /// A device, a pipe, or a sparse file.
    Other,
}

/// A member of an archive, to be read. Reading fails if the archive ends before the member does.
pub struct Member<'a> {
    /// Its unchecked name: the path may lead out of the archive.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    bytes: &'a mut dyn Read,
    left: u64,
    failed: bool,
}

impl Read for Member<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.left = self.left.saturating_sub(count as u64);
        if count == 0 && self.left > 0 && !into.is_empty() {
            self.failed = true;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(&self.name);
        out.debug_struct("Member")
            .field("name", &name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Calls `take` with each member in order, until `take` wants no more.
///
/// The raw entries of the crate `tar` are used: otherwise it would read a name of any length into memory.
///
/// # Errors
///
/// Where the archive is cut or damaged.
pub fn each_member(
    archive: impl Read,
    mut take: impl FnMut(&mut Member<'_>) -> bool,
) -> io::Result<()> {
    let mut archive = Archive::new(archive);
    let mut long = None;
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => long = Some(long_name(&mut entry)?),
            EntryType::XHeader => long = pax_name(&mut entry)?.or(long),
            EntryType::GNULongLink | EntryType::XGlobalHeader => {}
            _ => {
                let mut member = member(long.take(), &mut entry);
                if !take(&mut member) {
                    return Ok(());
                }
                if member.failed {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
    }
    Ok(())
}

fn member<'a, R: Read>(long: Option<Vec<u8>>, entry: &'a mut Entry<'_, R>) -> Member<'a> {
    let kind = match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => Kind::File,
        EntryType::Symlink | EntryType::Link => Kind::Link,
        EntryType::Directory => Kind::Folder,
        _ => Kind::Other,
    };
    Member {
        name: long.unwrap_or_else(|| entry.path_bytes().into_owned()),
        kind,
        left: entry.size(),
        failed: false,
        bytes: entry,
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
