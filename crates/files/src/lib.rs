//! Files that are replaced in one instant, and folders that are one user's alone.
//!
//! A [replaced](replace()) file is written under another name, synced and renamed, and its folder
//! is synced: at any instant, also after a power cut, there is either the old file or the new one,
//! complete. The new file has the owner, permissions, ACL, label and other extended attributes of
//! the old one.
//!
//! On Linux every path is walked folder by folder, each opened relative to the one before. A
//! symbolic link is followed only if root or the present user has made it, so that no other user
//! chooses which file is written. On other systems the system resolves the path.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub use linux::{check_folders, existing, private, sync_folder_of};
#[cfg(not(target_os = "linux"))]
use other as system;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// As the umask allows: for output that is made to be shown.
    Usual,
    /// These, whatever the umask: 0o600 for a file that only its owner may read.
    Exactly(u32),
}

/// How a file is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// The path of the file, which may not exist yet.
    pub path: &'a Path,
    /// Permissions of a new file; an existing file keeps its own.
    pub rights: Rights,
    /// The name under which the new contents are written first; a file that a crash left there is
    /// overwritten. `None` for a random name, which nobody can foresee.
    pub beside: Option<&'a OsStr>,
    /// Whether the file is written even if this user cannot set extended attributes of the system
    /// (`trusted.*`, labels). `cp -a` does so, and it suits output that is made to be shown. A file
    /// of the system's configuration is better left as it is.
    pub may_lose: bool,
}

impl<'a> Replacement<'a> {
    /// A replacement of a file that the user has named.
    #[must_use]
    pub fn of(path: &'a Path, rights: Rights) -> Self {
        Self {
            path,
            rights,
            beside: None,
            may_lose: false,
        }
    }
}

/// Replaces the contents of a file by what `write` writes, or leaves the file unchanged; returns
/// the extended attributes that were lost, if `may_lose` is set.
///
/// # Errors
///
/// If the file cannot be written with all its attributes, or if another user might have chosen
/// which file is written.
pub fn replace(
    replacement: &Replacement<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    system::replace(replacement, write)
}

/// The path of a file or folder without symbolic links, as far as the path exists.
///
/// # Errors
///
/// On Linux, if one of the links belongs to another user.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    system::real(path)
}

/// Checks whether a file could be replaced.
///
/// # Errors
///
/// As [`replace()`].
pub fn check(path: &Path) -> io::Result<()> {
    system::check(path)
}

/// Names of a file's extended attributes, as far as this user sees them; empty if there is no file.
/// After rights were given up, fewer attributes of the system are seen.
///
/// # Errors
///
/// As [`replace()`].
pub fn attributes(path: &Path) -> io::Result<BTreeSet<String>> {
    system::attributes_of(path)
}
