//! Files: changed all or none, and put back byte for byte.
//!
//! Files need no guardian: each file is replaced by a rename, so that it is complete at any
//! instant. A program that is killed between two files leaves an open journal, which `undo`
//! restores.

mod apply;
mod back;
mod disk;

pub use apply::apply_files;

pub(super) use back::{clean, force, restore};

use crate::journal::path_digest;
use std::path::{Path, PathBuf};

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWrite {
    /// The absolute path. Symbolic links are followed, and stay links.
    pub path: PathBuf,
    /// The present contents, `None` if there is no file; a file that has changed meanwhile is not written.
    pub before: Option<Vec<u8>>,
    /// The new contents.
    pub bytes: Vec<u8>,
    /// Permissions of a new file; an existing file keeps its permissions and owner.
    pub mode_if_new: u32,
}

/// The name of a file's lock.
pub(crate) fn file_key(path: &Path) -> String {
    format!("file-{}", path_digest(path))
}
