//! Opening names in a folder without leaving the folder.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

/// The kernel stays in the folder and follows no link, whatever the name is.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
const OWN: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Opens a name in a folder. For a symbolic link, `O_PATH` opens the link itself; all other flags fail.
pub(super) fn open_inside(
    folder: impl AsFd,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    if has_openat2() {
        openat2(folder, name, flags | OWN, mode, INSIDE)
    } else {
        openat(folder, name, flags | OWN, mode)
    }
}

/// Whether openat2(2) can be used: since Linux 5.6, and unless a container's seccomp filter does
/// not know the call, in which case it fails with EPERM.
fn has_openat2() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(CWD, "/", look, Mode::empty(), ResolveFlags::empty()).is_ok()
    })
}
