//! Replacing a file.

use super::inside::open_inside;
use super::walk::{Place, walk};
use super::{BY_OTHERS, attributes, euid, refused};
use crate::{Replacement, Rights};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat,
    unlinkat,
};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Permissions as `chmod` takes them.
const PERMISSIONS: u32 = 0o7777;
const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);
/// Permissions that the umask reduces.
const USUAL: u32 = 0o666;
const OWN: u32 = 0o600;

pub(crate) fn check(path: &Path) -> io::Result<()> {
    let place = find(path)?;
    let beside = by_chance();
    open_inside(&place.folder, &beside, NEW, mode(OWN))?;
    Ok(unlinkat(&place.folder, &beside, AtFlags::empty())?)
}

pub(crate) fn replace(
    replacement: &Replacement<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let place = find(replacement.path)?;
    let beside = replacement.beside.map_or_else(by_chance, OsStr::to_owned);
    let done = written(&place, &beside, replacement, write).and_then(|lost| {
        renameat(&place.folder, &beside, &place.folder, &place.name)?;
        Ok(lost)
    });
    if done.is_err() {
        let _ = unlinkat(&place.folder, &beside, AtFlags::empty());
    }
    let lost = done?;
    sync(&place.folder)?;
    Ok(lost)
}

pub(crate) fn attributes_of(path: &Path) -> io::Result<BTreeSet<String>> {
    let place = find(path)?;
    if place.there.is_none() {
        return Ok(BTreeSet::new());
    }
    let file = open_inside(&place.folder, &place.name, READ, Mode::empty())?;
    attributes::shown(&file)
}

/// Syncs the folder of a file, so that a new, renamed or removed file is on disk.
///
/// # Errors
///
/// Errors of the system.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync(&walk(path, &|_, _| Ok(()))?.folder)
}

/// The place of a file, if this user may replace the file.
fn find(path: &Path) -> io::Result<Place> {
    let place = walk(path, &|_, _| Ok(()))?;
    if !place.missing.is_empty() {
        return Err(Errno::NOENT.into());
    }
    match &place.there {
        Some(about) if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile => {
            Err(refused(format!("{} is not a plain file", path.display())))
        }
        Some(about) => mind_owner(path, &place, about).map(|()| place),
        None => Ok(place),
    }
}

/// Refuses another user's file in a folder that others can write to: it may have been put there
/// only to be overwritten.
fn mind_owner(path: &Path, place: &Place, about: &Stat) -> io::Result<()> {
    let is_open = fstat(&place.folder)?.st_mode & BY_OTHERS != 0;
    if about.st_uid == euid() || !is_open {
        return Ok(());
    }
    Err(refused(format!(
        "{} is of the user {}, in a folder that others can write to",
        path.display(),
        about.st_uid
    )))
}

fn written(
    place: &Place,
    beside: &OsStr,
    replacement: &Replacement<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let mut new = make(place, beside, replacement.rights)?;
    write(&mut new)?;
    let mut lost = Vec::new();
    if place.there.is_some() {
        let old = open_inside(&place.folder, &place.name, READ, Mode::empty())?;
        lost = keep(&old, &new, replacement.may_lose)?;
    } else if let Rights::Exactly(wanted) = replacement.rights {
        fchmod(&new, mode(wanted))?;
    }
    new.sync_all()?;
    Ok(lost)
}

/// Makes the new file with mode 0600 where its contents may be private: nobody else reads an
/// incomplete file, nor the successor of a private one.
fn make(place: &Place, beside: &OsStr, rights: Rights) -> io::Result<File> {
    match unlinkat(&place.folder, beside, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let is_usual = rights == Rights::Usual && place.there.is_none();
    let rights = mode(if is_usual { USUAL } else { OWN });
    Ok(open_inside(&place.folder, beside, NEW, rights)?.into())
}

/// Gives the new file the owner, permissions and attributes of the old one; returns the attributes that were lost.
fn keep(old: &OwnedFd, new: &File, may_lose: bool) -> io::Result<Vec<String>> {
    let (was, is) = (fstat(old)?, fstat(new)?);
    if (was.st_uid, was.st_gid) != (is.st_uid, is.st_gid) {
        let owner = (Uid::from_raw(was.st_uid), Gid::from_raw(was.st_gid));
        fchown(new, Some(owner.0), Some(owner.1)).map_err(|errno| {
            refused(format!(
                "its owner (user {}, group {}) cannot be kept: {errno}",
                was.st_uid, was.st_gid
            ))
        })?;
    }
    // After fchown, which clears some permissions. Before the ACL, whose mask is part of the permissions.
    fchmod(new, mode(was.st_mode & PERMISSIONS))?;
    attributes::copy(old, new, may_lose)
}

/// Syncs a folder. A folder that may not be read cannot be synced.
pub(super) fn sync(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(folder, ".", flags, Mode::empty()) {
        Ok(folder) => Ok(rustix::fs::fsync(folder)?),
        Err(Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// A random name.
fn by_chance() -> OsString {
    let number = RandomState::new().hash_one(std::process::id());
    format!(".coalescope-{number:016x}").into()
}

fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits)
}
