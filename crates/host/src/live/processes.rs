//! Which processes hold packet sockets and TUN devices.

use super::identity::Identity;
use super::proc_text::keyed;
use super::unread::{Unreads, denied};
use crate::model::Owner;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

const TUN: &str = "/dev/net/tun";

/// A process that holds a TUN device open.
#[derive(Debug)]
struct Holder {
    device: String,
    namespace: Option<Identity>,
    /// Its own namespace has a device of this name: it is that one's, not another's.
    at_home: bool,
    owner: Owner,
}

/// What was found among the processes.
#[derive(Debug, Default)]
pub(super) struct Processes {
    sockets: BTreeMap<u32, String>,
    tuns: Vec<Holder>,
    /// Whether all processes could be read.
    pub(super) complete: bool,
}

impl Processes {
    /// Looks at what every process holds open, if there is something to find.
    pub(super) fn look(inodes: &BTreeSet<u32>, tuns: bool, unread: &mut Unreads) -> Self {
        let mut processes = Self {
            complete: true,
            ..Self::default()
        };
        if inodes.is_empty() && !tuns {
            return processes;
        }
        let hidden: Vec<u32> = pids()
            .into_iter()
            .filter(|pid| !processes.look_at(*pid, inodes))
            .collect();
        if !hidden.is_empty() {
            processes.complete = false;
            let what = format!("packet sockets and TUN devices that {} open", held(&hidden));
            unread.note(what, denied());
        }
        processes
    }

    /// The process that holds a socket.
    pub(super) fn of_socket(&self, inode: u32) -> Option<&str> {
        self.sockets.get(&inode).map(String::as_str)
    }

    /// The processes that hold a TUN device of a namespace. The kernel tells its name only: a
    /// process of another namespace holds this one if its own has none of that name.
    pub(super) fn tun_owners(&self, device: &str, namespace: Option<Identity>) -> Vec<Owner> {
        let named = self.tuns.iter().filter(|holder| holder.device == device);
        let ours = named.filter(|holder| holder.namespace == namespace || !holder.at_home);
        let owners: BTreeMap<_, _> = ours
            .map(|holder| (holder.owner.pid, holder.owner.clone()))
            .collect();
        owners.into_values().collect()
    }

    /// Whether the process let us look. One that has ended did.
    fn look_at(&mut self, pid: u32, inodes: &BTreeSet<u32>) -> bool {
        let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(entries) => entries,
            Err(error) => return error.kind() != ErrorKind::PermissionDenied,
        };
        for entry in entries.flatten() {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            let target = target.to_string_lossy();
            if target == TUN {
                let number = entry.file_name();
                self.take_tun(pid, &number.to_string_lossy());
            } else if let Some(inode) = socket(&target).filter(|inode| inodes.contains(inode)) {
                self.sockets.entry(inode).or_insert_with(|| comm(pid));
            }
        }
        true
    }

    fn take_tun(&mut self, pid: u32, number: &str) {
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}"));
        let info = info.unwrap_or_default();
        // Opened, but not attached to a device: no line.
        let Some(device) = keyed(&info, "iff").filter(|device| !device.is_empty()) else {
            return;
        };
        let namespace = fs::metadata(format!("/proc/{pid}/ns/net")).ok();
        self.tuns.push(Holder {
            device: device.to_owned(),
            namespace: namespace.map(|file| (file.dev(), file.ino())),
            at_home: has_device(pid, device),
            owner: Owner {
                pid,
                process: comm(pid),
            },
        });
    }
}

/// Whether the namespace of a process has an interface of this name.
fn has_device(pid: u32, device: &str) -> bool {
    let table = fs::read_to_string(format!("/proc/{pid}/net/dev")).unwrap_or_default();
    keyed(&table, device).is_some()
}

/// `process 4711 (qemu) holds`, `12 processes hold`.
fn held(hidden: &[u32]) -> String {
    let verb = if hidden.len() == 1 { "holds" } else { "hold" };
    format!("{} {verb}", named(hidden))
}

/// `process 4711 (qemu)`, `12 processes`.
pub(super) fn named(pids: &[u32]) -> String {
    match pids {
        [one] => format!("process {one} ({})", comm(*one)),
        more => format!("{} processes", more.len()),
    }
}

/// The inode of `socket:[4711]`.
fn socket(target: &str) -> Option<u32> {
    target
        .strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

fn comm(pid: u32) -> String {
    let comm = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&comm).trim_end().to_owned()
}

/// All processes, the lowest first.
pub(super) fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut pids: Vec<_> = numbers.collect();
    pids.sort_unstable();
    pids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_told_by_their_link() {
        assert_eq!(socket("socket:[4711]"), Some(4711));
        assert_eq!(socket("pipe:[4711]"), None);
        assert_eq!(socket("/dev/net/tun"), None);
    }

    #[test]
    fn processes_are_counted_as_one_says_it() {
        let own = std::process::id();
        let one = named(&[own]);
        assert!(one.starts_with(&format!("process {own} (")), "{one}");
        assert_eq!(named(&[1, 2]), "2 processes");
        assert_eq!(held(&[1, 2]), "2 processes hold");
    }

    #[test]
    fn a_device_of_the_same_name_at_home_is_meant() {
        let holder = |namespace, at_home| Holder {
            device: "tap0".to_owned(),
            namespace: Some(namespace),
            at_home,
            owner: Owner {
                pid: 1,
                process: "qemu".to_owned(),
            },
        };
        let of = |holder| Processes {
            tuns: vec![holder],
            ..Processes::default()
        };
        let at_home = of(holder((0, 1), true));
        assert_eq!(at_home.tun_owners("tap0", Some((0, 1))).len(), 1);
        assert_eq!(at_home.tun_owners("tap0", Some((0, 2))).len(), 0);
        let abroad = of(holder((0, 1), false));
        assert_eq!(abroad.tun_owners("tap0", Some((0, 2))).len(), 1);
        assert_eq!(abroad.tun_owners("tap1", Some((0, 2))).len(), 0);
    }
}
