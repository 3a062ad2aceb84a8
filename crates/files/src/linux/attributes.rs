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

/// Gives a new file the extended attributes of an old one, and no other.
///
/// # Errors
///
/// If one of them cannot be given: the new file would not be what the old one was.
pub(super) fn copy(old: impl AsFd, new: impl AsFd) -> io::Result<()> {
    let (wanted, given) = (names(&old)?, names(&new)?);
    // What the new one has of its folder: a default ACL lets others in.
    for name in given.difference(&wanted) {
        fremovexattr(&new, name.as_c_str()).map_err(|errno| cannot(name, errno))?;
    }
    for name in &wanted {
        let kept = value(&old, name).map_err(|errno| cannot(name, errno))?;
        // A label is often given by the folder already, and not everybody may set one.
        if value(&new, name).is_ok_and(|is| is == kept) {
            continue;
        }
        let set = fsetxattr(&new, name.as_c_str(), &kept, XattrFlags::empty());
        set.map_err(|errno| cannot(name, errno))?;
    }
    Ok(())
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
