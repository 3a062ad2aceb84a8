//! Files: changed all or none, and put back byte for byte.
//!
//! They need no guardian: what is written is whole at any instant, since each file is replaced by a
//! rename. A program that is killed between two of them leaves an open journal, which `undo` takes back.

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
    /// Where; absolute. Links are followed, so that they stay links.
    pub path: PathBuf,
    /// What is in it now, `None` if there is no such file; it is left alone if that is no longer so.
    pub before: Option<Vec<u8>>,
    /// What is to be in it.
    pub bytes: Vec<u8>,
    /// Permissions if it is new; a file that is there keeps its own, and its owner.
    pub mode_if_new: u32,
}

/// The name of a file's lock.
pub(crate) fn file_key(path: &Path) -> String {
    format!("file-{}", path_digest(path))
}
