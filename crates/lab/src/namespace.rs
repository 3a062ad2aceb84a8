//! A network namespace of our own, with its own `/sys`.

use crate::{Error, Unavailable};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;

/// A network namespace with nothing in it but what the lab makes. It lives as long as this value
/// and the sockets opened in it; the links in it go with it.
///
/// Linux keeps the namespace per thread, so work is done by threads that [enter](Self::enter);
/// the thread that made it stays where it is. A mount namespace belongs to it, because `/sys` shows
/// the interfaces of the namespace it was mounted in.
#[derive(Debug)]
pub struct Namespace {
    network: OwnedFd,
    mounts: OwnedFd,
}

impl Namespace {
    /// Makes one. It takes root, or root of a user namespace: see [`become_namespace_root`].
    pub fn new() -> Result<Self, Unavailable> {
        let made = in_thread(Self::make)?;
        Ok(made?)
    }

    /// On the thread that calls it, which is to end afterwards.
    fn make() -> Result<Self, Error> {
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
            .map_err(Error::system("make a network namespace"))?;
        remount_sys()?;
        let namespace = Self {
            network: open_own("net")?,
            mounts: open_own("mnt")?,
        };
        quiet()?;
        Ok(namespace)
    }

    /// Runs `work` on a thread inside of the namespace and waits for it. Sockets that it opens stay
    /// in the namespace wherever they are used.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        in_thread(|| self.join().map(|()| work()))?
    }

    /// Puts the calling thread into the namespace for good; for threads that do nothing else.
    pub(crate) fn join(&self) -> Result<(), Error> {
        let enter = "enter the network namespace";
        // A thread shares its root directory with the process and could not change its mounts.
        unshare(CloneFlags::CLONE_FS).map_err(Error::system(enter))?;
        setns(self.mounts.as_fd(), CloneFlags::CLONE_NEWNS).map_err(Error::system(enter))?;
        setns(self.network.as_fd(), CloneFlags::CLONE_NEWNET).map_err(Error::system(enter))
    }

    /// For netlink, which names a namespace by a file descriptor.
    pub(crate) fn descriptor(&self) -> i32 {
        self.network.as_raw_fd()
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

/// Runs `work` on a thread of its own; its panic is ours.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("lab".to_owned());
        let thread = builder
            .spawn_scoped(scope, work)
            .map_err(Error::io("start a thread"))?;
        thread
            .join()
            .or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Shows this namespace's interfaces under `/sys`, and to nobody else.
fn remount_sys() -> Result<(), Error> {
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(Error::system("make the mounts private"))?;
    mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), none)
        .map_err(Error::system("mount /sys of the new namespace"))
}

/// No address of its own accord: IPv6 would send router and neighbour solicitations.
fn quiet() -> Result<(), Error> {
    for scope in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
        if fs::exists(&path).unwrap_or(false) {
            write(&path, "1")?;
        }
    }
    crate::Link::named("lo")?.set_up()
}

fn open_own(kind: &str) -> Result<OwnedFd, Error> {
    let path = format!("/proc/thread-self/ns/{kind}");
    let file = File::open(&path).map_err(Error::io(format!("open {path}")))?;
    Ok(file.into())
}

/// Writes a setting of the kernel.
pub(crate) fn write(path: &str, value: &str) -> Result<(), Error> {
    fs::write(path, value).map_err(Error::io(format!("write {value} to {path}")))
}
