//! A network namespace of our own, with its own `/sys`.

use crate::error::{Error, Unavailable};
use coalescope_netlink::namespace::Namespace as Room;
use coalescope_netlink::route::Route;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_dumpable;
use nix::unistd::{Gid, Uid, getegid, geteuid, setgroups, setresgid, setresuid};
use std::fs;

/// User and group `nobody`.
const NOBODY: u32 = 65_534;

/// A network namespace with nothing in it but what the lab makes. It lives as long as this value
/// and the sockets opened in it; the links in it go with it.
///
/// Linux keeps the namespace per thread, so work is done by threads that [enter](Self::enter);
/// the thread that made it stays where it is.
#[derive(Debug)]
pub struct Namespace {
    room: Room,
}

impl Namespace {
    /// Makes a namespace. This takes root, or root of a user namespace: see [`become_namespace_root`].
    pub fn new() -> Result<Self, Unavailable> {
        let room = Room::create().map_err(Error::from)?;
        room.enter(quiet).map_err(Error::from)??;
        Ok(Self { room })
    }

    /// Runs `work` on a thread inside of the namespace and waits for it. Sockets that it opens stay
    /// in the namespace wherever they are used.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        Ok(self.room.enter(work)?)
    }

    /// Puts the calling thread into the namespace for good; for threads that do nothing else.
    pub(crate) fn join(&self) -> Result<(), Error> {
        Ok(self.room.join()?)
    }

    /// The underlying namespace, for moving links into it.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }
}

/// Gives this process the rights of root in a user namespace of its own, if it isn't root already:
/// enough to make network namespaces, though not for [`KernelGro`](crate::KernelGro), which sets
/// priorities of kernel threads.
///
/// To be called before the process has a second thread: Linux refuses it afterwards.
pub fn become_namespace_root() -> Result<(), Unavailable> {
    if geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(Error::system("make a user namespace"))?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    Ok(write("/proc/self/gid_map", &format!("0 {group} 1"))?)
}

/// Gives up root's rights for good, if this process has them: for tests of an ordinary user.
///
/// To be called before the process has a second thread, which would keep them.
pub fn become_nobody() -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let become_other = || {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
        // After a change of the user, /proc/self belongs to root until the process is dumpable again.
        set_dumpable(true)
    };
    become_other().map_err(Error::system("become another user"))
}

/// Turns IPv6 off: it would send router and neighbour solicitations.
fn quiet() -> Result<(), Error> {
    for scope in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
        if fs::exists(&path).unwrap_or(false) {
            write(&path, "1")?;
        }
    }
    let loopback = if_nametoindex("lo").map_err(Error::system("find the interface lo"))?;
    Ok(Route::open()?.set_up("lo", loopback, true)?)
}

/// Writes a setting of the kernel.
pub(crate) fn write(path: &str, value: &str) -> Result<(), Error> {
    fs::write(path, value).map_err(Error::io(format!("write {value} to {path}")))
}
