//! Folders that only one user may write to.

use super::inside::open_inside;
use super::replace::sync;
use super::walk::walk;
use super::{BY_OTHERS, STICKY, euid, is_trusted, refused};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, chmodat, mkdirat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Write permission of all users, and of the group.
const BY_ALL: u32 = 0o002;
const BY_GROUP: u32 = 0o020;
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// A folder of this user alone; a missing one is made with mode 0700, whatever the umask. Returns
/// its path without links: neither the folder nor those above it can be replaced by another user
/// than root.
///
/// # Errors
///
/// If the folder cannot be made, or others can write to it or put another one in its place.
pub fn private(path: &Path) -> io::Result<PathBuf> {
    let mut place = walk(path, &is_safe)?;
    if place.there.is_none() {
        let names = std::iter::once(place.name).chain(place.missing);
        for name in names {
            place.folder = make(&place.folder, &name)?;
        }
    }
    existing(path)
}

/// The path without links of an existing folder of this user alone.
///
/// # Errors
///
/// If there is no folder, or others can write to it or put another one in its place.
pub fn existing(path: &Path) -> io::Result<PathBuf> {
    let place = walk(path, &is_safe)?;
    let about = place.there.filter(|_| place.missing.is_empty());
    let about = about.ok_or(Errno::NOENT)?;
    let shown = path.display();
    if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
        return Err(refused("it is not a folder".to_owned()));
    }
    if about.st_uid != euid() {
        return Err(refused(format!("it belongs to the user {}", about.st_uid)));
    }
    if about.st_mode & BY_OTHERS != 0 {
        return Err(refused(format!(
            "others can write to it: look at what is in it, then `chmod 700 {shown}`"
        )));
    }
    Ok(place.path.join(&place.name))
}

/// Refuses a folder on the way in which another user can rename files.
fn is_safe(path: &Path, about: &Stat) -> io::Result<()> {
    let shown = path.display();
    if !is_trusted(about) {
        return Err(refused(format!(
            "{shown}, in which it is, belongs to the user {}",
            about.st_uid
        )));
    }
    let own = [0, rustix::process::getegid().as_raw()].contains(&about.st_gid);
    let by_others = about.st_mode & BY_ALL != 0 || (about.st_mode & BY_GROUP != 0 && !own);
    if by_others && about.st_mode & STICKY == 0 {
        return Err(refused(format!(
            "others can write to {shown}, in which it is"
        )));
    }
    Ok(())
}

/// Makes a folder in one that nobody else can write to. A folder that appears at the same time is
/// no error: it is checked afterwards.
fn make(above: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    match mkdirat(above, name, Mode::RWXU) {
        Ok(()) => {
            chmodat(above, name, Mode::RWXU, AtFlags::empty())?;
            sync(above)?;
        }
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    Ok(open_inside(above, name, FOLDER, Mode::empty())?)
}

/// Checks that no other user can replace a file, or a folder above it.
///
/// # Errors
///
/// If somebody can.
pub fn check_folders(path: &Path) -> io::Result<()> {
    walk(path, &is_safe).map(drop)
}
