//! On Linux: paths relative to open folders.

mod attributes;
mod inside;
mod private;
mod replace;
mod walk;

pub use private::{check_folders, existing, private};
pub use replace::sync_folder_of;

pub(crate) use replace::{attributes_of, check, replace};
pub(crate) use walk::real;

use rustix::fs::Stat;
use std::fs;
use std::io;
use std::sync::OnceLock;

/// Users other than the owner may write.
const BY_OTHERS: u32 = 0o022;
/// The sticky bit: in such a folder only owners rename and remove files.
const STICKY: u32 = 0o1000;
/// The uid that stands for users without a mapping in this user namespace.
const NO_PLACE: u32 = 65_534;

/// Whether only root or the present user can have made it. In a user namespace, root's files belong
/// to the unmapped user.
fn is_trusted(about: &Stat) -> bool {
    let uid = about.st_uid;
    uid == 0 || uid == euid() || (uid == NO_PLACE && !is_first_user_namespace())
}

fn euid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether this is the first user namespace, in which every uid is mapped. Cached: when a page is
/// written, the right to read /proc may have been given up since the check.
fn is_first_user_namespace() -> bool {
    static IS_FIRST: OnceLock<bool> = OnceLock::new();
    *IS_FIRST.get_or_init(|| {
        let map = fs::read_to_string("/proc/self/uid_map");
        map.map_or(true, |map| map.trim_end().ends_with(" 4294967295"))
    })
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}
