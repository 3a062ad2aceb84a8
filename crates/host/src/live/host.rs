//! The host itself: its name, kernel, distribution, processors and modules.

use super::unread::{Unreads, why};
use super::{log, proc_text, virtualisation};
use crate::model::{Distribution, Snapshot};
use crate::text::linux::files;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

/// Everything that is of no network namespace.
pub(super) fn read(unread: &mut Unreads) -> Snapshot {
    Snapshot {
        name: line("/proc/sys/kernel/hostname", unread),
        kernel: line("/proc/sys/kernel/osrelease", unread),
        distribution: distribution(unread),
        virtualisation: virtualisation::detect(),
        cpus: line("/sys/devices/system/cpu/online", unread)
            .and_then(|list| proc_text::cpu_list(&list)),
        boot_id: line("/proc/sys/kernel/random/boot_id", unread),
        softnet: softnet(unread),
        modules: modules(unread),
        log: log::known_lines(unread),
        ..Snapshot::default()
    }
}

/// The first line of a file.
fn line(path: &str, unread: &mut Unreads) -> Option<String> {
    let whole = read_file(path, unread)?;
    let line = whole.lines().next().unwrap_or_default().trim();
    Some(line.to_owned()).filter(|line| !line.is_empty())
}

/// A file, or a note that it could not be read.
pub(super) fn read_file(path: &str, unread: &mut Unreads) -> Option<String> {
    match fs::read(path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            unread.note(path, why(&error));
            None
        }
    }
}

fn softnet(unread: &mut Unreads) -> BTreeMap<String, u64> {
    let path = "/proc/thread-self/net/softnet_stat";
    let table = read_file(path, unread).unwrap_or_default();
    files::softnet(&table).unwrap_or_else(|_| {
        unread.note(path, "not understood");
        BTreeMap::new()
    })
}

/// os-release(5): of the two places the first that is there.
fn distribution(unread: &mut Unreads) -> Option<Distribution> {
    let own = fs::read_to_string("/etc/os-release");
    let release = own.or_else(|_| fs::read_to_string("/usr/lib/os-release"));
    match release {
        Ok(release) => files::os_release(&release).map(named),
        Err(error) => {
            unread.note("/etc/os-release", why(&error));
            None
        }
    }
}

/// What the file's format says of a missing name.
fn named(mut release: Distribution) -> Distribution {
    if release.id.is_empty() {
        "linux".clone_into(&mut release.id);
    }
    release
}

/// A kernel built without modules has no list of them, and none loaded.
fn modules(unread: &mut Unreads) -> Option<Vec<String>> {
    match fs::read_to_string("/proc/modules") {
        Ok(list) => Some(files::modules(&list).flatten().map(str::to_owned).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(Vec::new()),
        Err(error) => {
            unread.note("/proc/modules", why(&error));
            None
        }
    }
}

/// Whether a part of the kernel that may be a module is there. To ask one that is not would make
/// the kernel load it.
#[must_use]
pub fn has_module(name: &str) -> bool {
    match fs::read_to_string("/proc/modules") {
        Ok(list) => {
            let mut loaded = files::modules(&list).flatten();
            loaded.any(|loaded| loaded == name) || built_in(name)
        }
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

fn built_in(name: &str) -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let path = format!("/lib/modules/{}/modules.builtin", release.trim());
    let list = fs::read_to_string(path).unwrap_or_default();
    let file = format!("/{name}.ko");
    list.lines().any(|line| line.ends_with(&file))
}
