//! Opening what has a name in a folder, and nothing else.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

/// The kernel itself keeps to the folder and follows nothing, whatever a name says.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
const OWN: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Opens a name of a folder. A link is opened itself if only looked at, and an error otherwise.
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

/// Whether there is such a call: from Linux 5.6 on, and unless a filter of a container does not know it, which
/// answers as if it were forbidden.
fn has_openat2() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(CWD, "/", look, Mode::empty(), ResolveFlags::empty()).is_ok()
    })
}
