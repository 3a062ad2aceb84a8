//! Extended attributes: ACLs, labels, and users' own.

use super::refused;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsFd;

/// The kernel computes these from a file's contents or from its inode.
const COMPUTED: [&CStr; 2] = [c"security.ima", c"security.evm"];
/// The kernel's limits: of a list of names, and of a value.
const LONGEST: usize = 65_536;

/// Attributes that everyone may set who may write the file: a user's notes, or ACLs.
const ITS_USERS: [&[u8]; 2] = [b"user.", b"system."];

/// Gives a new file the extended attributes of an old one, and no others; returns the attributes of
/// the system that could not be set.
///
/// # Errors
///
/// If an attribute of the users cannot be set, or any attribute unless `may_lose`: the new file
/// would not be equal to the old one.
pub(super) fn copy(old: impl AsFd, new: impl AsFd, may_lose: bool) -> io::Result<Vec<String>> {
    let (wanted, given) = (names(&old)?, names(&new)?);
    // Attributes that the new file has from its folder are removed: a default ACL could let others in.
    for name in given.difference(&wanted) {
        fremovexattr(&new, name.as_c_str()).map_err(|errno| cannot(name, errno))?;
    }
    let mut lost = Vec::new();
    for name in &wanted {
        match give(&old, &new, name) {
            Ok(()) => {}
            Err(_) if may_lose && !is_its_users(name) => {
                lost.push(name.to_string_lossy().into_owned());
            }
            Err(errno) => return Err(cannot(name, errno)),
        }
    }
    Ok(lost)
}

fn give(old: impl AsFd, new: impl AsFd, name: &CStr) -> Result<(), Errno> {
    let kept = value(old, name)?;
    // The folder has often given the file the same label already, and not every user may set one.
    if value(&new, name).is_ok_and(|is| is == kept) {
        return Ok(());
    }
    fsetxattr(&new, name, &kept, XattrFlags::empty())
}

fn is_its_users(name: &CStr) -> bool {
    let name = name.to_bytes();
    ITS_USERS.iter().any(|prefix| name.starts_with(prefix))
}

/// Names of all attributes that the caller sees.
pub(super) fn shown(file: impl AsFd) -> io::Result<BTreeSet<String>> {
    let names = names(file)?;
    let shown = names.iter().map(|name| name.to_string_lossy().into_owned());
    Ok(shown.collect())
}

fn cannot(name: &CStr, errno: Errno) -> io::Error {
    refused(format!(
        "its extended attribute {} cannot be kept: {errno}",
        name.to_string_lossy()
    ))
}

/// Empty if the file system has no attributes.
fn names(file: impl AsFd) -> io::Result<BTreeSet<CString>> {
    let mut list = vec![0; LONGEST];
    let length = match flistxattr(file, &mut list[..]) {
        Err(Errno::NOTSUP | Errno::NOSYS) => 0,
        length => length?,
    };
    let names = list[..length].split_inclusive(|byte| *byte == 0);
    let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
    let kept = names.filter(|name| !COMPUTED.contains(name));
    Ok(kept.map(CStr::to_owned).collect())
}

fn value(file: impl AsFd, name: &CStr) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; LONGEST];
    let length = fgetxattr(file, name, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}
