//! A path that was given: opened first, read later, so that whoever reads may have given up the rights to
//! open.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::Error;
use crate::safe::printable_line;

/// A path that was given, and is open as far as that can be: of a folder, its files are opened when they
/// are read.
pub struct Given {
    name: String,
    pub(super) content: Content,
}

/// The kind of a path.
pub(super) enum Content {
    Folder(PathBuf),
    Files(Vec<(String, Box<dyn Read>)>),
    Bytes(Box<dyn Read>),
}

impl Given {
    /// Opens a path, which may be a symbolic link or a pipe.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is a device or a socket: reading one may do something.
    pub fn open(path: &Path) -> Result<Given, Error> {
        let name = printable_line(&path.display().to_string()).into_owned();
        let unreadable = |source| Error::Unreadable {
            path: name.clone(),
            source,
        };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if let Some(what) = special(&metadata) {
            return Err(Error::Special { path: name, what });
        }
        if metadata.is_dir() {
            let content = Content::Folder(path.to_owned());
            return Ok(Given { name, content });
        }
        let file = File::open(path).map_err(unreadable)?;
        Ok(Given::of_reader(name, file))
    }

    /// Input from another source, such as standard input.
    pub fn of_reader(name: impl Into<String>, reader: impl Read + 'static) -> Given {
        Given {
            name: name.into(),
            content: Content::Bytes(Box::new(reader)),
        }
    }

    /// A folder that somebody else has gone through: its files, each with its path from there on.
    pub fn of_files(name: impl Into<String>, mut files: Vec<(String, Box<dyn Read>)>) -> Given {
        // In the order in which a folder is gone through here.
        files.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
        Given {
            name: name.into(),
            content: Content::Files(files),
        }
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder, if it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.content {
            Content::Folder(path) => Some(path),
            Content::Files(_) | Content::Bytes(_) => None,
        }
    }
}

/// A path that is never opened, although it was given.
fn special(metadata: &Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_block_device() || kind.is_char_device() {
            return Some("device");
        }
        if kind.is_socket() {
            return Some("socket");
        }
    }
    let _ = metadata;
    None
}
