//! Extended attributes: ACLs, labels, and what users write down.

use super::refused;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsFd;

/// The kernel computes these of what is in a file, or of the file's number.
const COMPUTED: [&CStr; 2] = [c"security.ima", c"security.evm"];
/// The kernel's limits: of a list of names, and of a value.
const LONGEST: usize = 65_536;

/// Whoever may write a file may set these, and they are what somebody has written down, or who may
/// read it.
const ITS_USERS: [&[u8]; 2] = [b"user.", b"system."];

/// Gives a new file the extended attributes of an old one, and no other; gives back which of them it
/// could not be given, of those that are of the system rather than of its users.
///
/// # Errors
///
/// If another one cannot be given, or any unless `may_lose`: the new file would not be what the old
/// one was.
pub(super) fn copy(old: impl AsFd, new: impl AsFd, may_lose: bool) -> io::Result<Vec<String>> {
    let (wanted, given) = (names(&old)?, names(&new)?);
    // What the new one has of its folder: a default ACL lets others in.
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
    // A label is often given by the folder already, and not everybody may set one.
    if value(&new, name).is_ok_and(|is| is == kept) {
        return Ok(());
    }
    fsetxattr(&new, name, &kept, XattrFlags::empty())
}

fn is_its_users(name: &CStr) -> bool {
    let name = name.to_bytes();
    ITS_USERS.iter().any(|prefix| name.starts_with(prefix))
}

/// Names of all that the caller gets to see.
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

/// None where the file system has none.
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
