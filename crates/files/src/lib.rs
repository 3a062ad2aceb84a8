//! Files that are replaced in one instant, and folders that are one user's alone.
//!
//! A [replaced](replace()) file is written beside, synced, renamed, and its folder is synced: at any
//! instant, after a power cut too, there is the one before or this one, whole. What belongs to the
//! one before (owner, permissions, ACL, label, other extended attributes) belongs to this one.
//!
//! On Linux every path is walked from folder to folder, each opened relative to the one before, and a
//! link is followed only if root or the present user has made it: nobody else chooses where is
//! written. Elsewhere the system's own walk is used.

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

/// Permissions of a file that was not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// As the umask allows: for what was made to be shown.
    Usual,
    /// These, whatever the umask: 0o600 for what is nobody else's business.
    Exactly(u32),
}

/// How a file is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// Where it is, or is to be.
    pub path: &'a Path,
    /// Permissions if it is new; one that is there keeps its own.
    pub rights: Rights,
    /// The name of the file that is written beside; what a crash left there is overwritten. By chance
    /// if there is none, which nobody can foresee.
    pub beside: Option<&'a OsStr>,
    /// Whether it is written also where extended attributes of the system's (`trusted.*`, labels) cannot
    /// be set by this user: so does `cp -a`, and it fits what was made to be shown. What configures a
    /// system is better left as it is.
    pub may_lose: bool,
}

impl<'a> Replacement<'a> {
    /// Of a file of the user's choice.
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

/// Replaces a file by what `write` writes, or leaves it as it is; gives back the extended attributes
/// that it has lost, if it may lose any.
///
/// # Errors
///
/// If it cannot be written with all that belongs to it, or where another user might have chosen what
/// is written over.
pub fn replace(
    replacement: &Replacement<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    system::replace(replacement, write)
}

/// The path of a file or folder, without links; as far as it is there.
///
/// # Errors
///
/// On Linux, if one of the links is of another user.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    system::real(path)
}

/// Looks whether a file could be replaced.
///
/// # Errors
///
/// As of [`replace()`].
pub fn check(path: &Path) -> io::Result<()> {
    system::check(path)
}

/// Extended attributes of a file, as far as this user gets to see them; none if it is not there. Of
/// those of the system's fewer are seen once rights were given up.
///
/// # Errors
///
/// As of [`replace()`].
pub fn attributes(path: &Path) -> io::Result<BTreeSet<String>> {
    system::attributes_of(path)
}
