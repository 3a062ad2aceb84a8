//! On Linux: relative to folders that are held open.

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

/// Others than the owner may write.
const BY_OTHERS: u32 = 0o022;
/// A folder in which only owners rename and remove.
const STICKY: u32 = 0o1000;
/// How a user is shown whose number has no place in this user namespace.
const NO_PLACE: u32 = 65_534;

/// Whether nobody but root and the present user can have made it. In a user namespace root's own
/// things are those of nobody.
fn is_trusted(about: &Stat) -> bool {
    let uid = about.st_uid;
    uid == 0 || uid == euid() || (uid == NO_PLACE && !is_first_user_namespace())
}

fn euid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether all numbers of users have their place. Asked once: whoever writes a page may have given up the
/// right to read /proc since it was looked whether that can be written.
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
