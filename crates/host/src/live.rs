//! What this Linux host is set to, read from the kernel: netlink, /proc and /sys; never another
//! program's text. Nothing is changed, no module is loaded. What may not be read without root is
//! left out and named in [`Snapshot::unread`].

mod device;
mod filters;
mod host;
mod identity;
mod interfaces;
mod log;
mod namespaces;
mod napi;

mod offloads;
mod packets;
mod peers;
mod proc_text;
mod processes;
mod space;
mod stack;
mod unread;
mod virtualisation;

use crate::model::{Interface, Owner, Platform, SCHEMA, Snapshot, Tun};
use crate::names::key_of;
use crate::underlay;
use coalescope_netlink::namespace::Namespace;
pub use host::has_module;
pub use namespaces::namespace_file;
use namespaces::{Space, Spaces};
use processes::Processes;
use space::Part;
use unread::Unreads;

/// What to collect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The network namespace to look at, by its name under /run/netns or by a path (anything with a
    /// slash); `None` is that of the calling thread. It is the main one of the snapshot: its
    /// interfaces go by their plain names, its stack is [`Snapshot::stack`].
    pub netns: Option<String>,
    /// Look at all other namespaces as well: those that have a name, by it, and those that only
    /// processes hold, as `pid N` (the lowest).
    pub all_netns: bool,
}

/// Collects all that may be read. It always gives a snapshot; what is missing is named in it.
#[must_use]
pub fn collect(options: &Options) -> Snapshot {
    let mut unread = Unreads::default();
    let mut snapshot = host::read(&mut unread);
    SCHEMA.clone_into(&mut snapshot.schema);
    snapshot.platform = Some(Platform::Linux);
    let spaces = namespaces::find(options, &mut unread);
    let mut parts = look_inside(&spaces, &mut unread);
    name_processes(&mut parts, &mut unread);
    for part in parts {
        merge(&mut snapshot, part);
    }
    underlay::find(&mut snapshot);
    snapshot.unread = unread.finish();
    snapshot
}

/// One after the other: each takes milliseconds, and a busy host is not to notice.
fn look_inside(spaces: &Spaces, unread: &mut Unreads) -> Vec<Part> {
    let mut parts = Vec::new();
    for space in &spaces.collected {
        match look(space, spaces) {
            Ok(part) => {
                unread.absorb(part.unread.clone());
                parts.push(part);
            }
            // One whose last process has ended meanwhile is no more.
            Err(error) if space.key.is_some() && space.is_gone() => drop(error),
            Err(error) => unread.note(format!("network namespace {}", space.place()), error),
        }
    }
    parts
}

/// A namespace is held open only while it is looked into: there may be thousands.
fn look(space: &Space, spaces: &Spaces) -> Result<Part, coalescope_netlink::Error> {
    match &space.path {
        None => Ok(space::read(space, spaces, Ok(()))),
        Some(path) => {
            let room = Namespace::open(path)?;
            room.enter(|| space::read(space, spaces, room.shows_sys()))
        }
    }
}

/// Gives packet sockets and TUN devices the processes that hold them, with one look at all of these.
fn name_processes(parts: &mut [Part], unread: &mut Unreads) {
    let sockets = parts.iter().flat_map(|part| part.packets.iter());
    let inodes = sockets.filter_map(|packet| packet.inode).collect();
    let tuns = parts.iter().any(|part| part.interfaces.iter().any(is_tun));
    let processes = Processes::look(&inodes, tuns, unread);
    for part in parts {
        space::name_holders(part, &processes);
        own_tuns(part, &processes);
    }
}

fn is_tun(interface: &Interface) -> bool {
    interface.tun.is_some()
}

fn own_tuns(part: &mut Part, processes: &Processes) {
    for interface in &mut part.interfaces {
        let owners = processes.tun_owners(&interface.name, part.identity);
        if let Some(tun) = &mut interface.tun {
            set_owners(tun, owners, processes.complete);
        }
    }
}

/// No owner found among some of the processes does not mean that there is none.
fn set_owners(tun: &mut Tun, owners: Vec<Owner>, complete: bool) {
    tun.owners = Some(owners).filter(|owners| complete || !owners.is_empty());
}

fn merge(snapshot: &mut Snapshot, part: Part) {
    for mut interface in part.interfaces {
        let key = key_of(part.name.as_deref(), &interface.name);
        interface.namespace.clone_from(&part.name);
        snapshot.interfaces.insert(key, Box::new(interface));
    }
    if let Some(ovs) = part.ovs {
        let all = snapshot.ovs.get_or_insert_default();
        all.version = ovs.version.or(all.version.take());
        all.bridges.extend(ovs.bridges);
    }
    match part.name {
        None => snapshot.stack = part.stack,
        Some(name) => {
            snapshot.namespaces.insert(name, part.stack);
        }
    }
}
