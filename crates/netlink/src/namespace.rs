//! Work inside of another network namespace.

use crate::error::Error;
use crate::ioctl::netns_cookie;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::thread;

/// A network namespace, with a mount namespace in which `/sys` shows its interfaces: a sysfs mount
/// shows the namespace in which it was mounted, to whoever reads it.
///
/// Linux keeps the namespace per thread, so work is done by threads that [enter](Self::enter); the
/// thread that has this value stays where it is. A namespace that was [made](Self::create) lives as
/// long as this value and the sockets opened in it; the links in it go with it.
#[derive(Debug)]
pub struct Namespace {
    network: OwnedFd,
    mounts: Result<OwnedFd, Error>,
}

impl Namespace {
    /// Makes a namespace with nothing in it but a loopback interface that is down. This takes root,
    /// or root of a user namespace.
    pub fn create() -> Result<Self, Error> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(Error::system("make a network namespace"))?;
            Ok(Self {
                network: open(Path::new("/proc/thread-self/ns/net"))?,
                mounts: Ok(mounts_with_sys()?),
            })
        })?
    }

    /// Opens a namespace by its file: /run/netns/NAME or /proc/PID/ns/net. Where /sys cannot be
    /// mounted (in a container), [`shows_sys`](Self::shows_sys) is an error.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let network = open(path)?;
        let action = format!("enter the network namespace {}", path.display());
        let mounts = in_thread(|| {
            setns(network.as_fd(), CloneFlags::CLONE_NEWNET).map_err(Error::system(action))?;
            Ok::<_, Error>(mounts_with_sys())
        })??;
        Ok(Self { network, mounts })
    }

    /// Whether `/sys` shows the namespace's interfaces to threads in it; the error if not.
    pub fn shows_sys(&self) -> Result<(), &Error> {
        self.mounts.as_ref().map(drop)
    }

    /// Runs `work` on a thread in the namespace and waits for it. Sockets that `work` opens stay in
    /// the namespace wherever they are used. A panic of `work` becomes one of the caller.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        in_thread(|| self.join().map(|()| work()))?
    }

    /// Puts the calling thread into the namespace for good; for threads that do nothing else.
    pub fn join(&self) -> Result<(), Error> {
        let enter = "enter the network namespace";
        if let Ok(mounts) = &self.mounts {
            // The thread shares its root directory with the process, which forbids changing its mounts (setns(2)).
            unshare(CloneFlags::CLONE_FS).map_err(Error::system(enter))?;
            setns(mounts.as_fd(), CloneFlags::CLONE_NEWNS).map_err(Error::system(enter))?;
        }
        setns(self.network.as_fd(), CloneFlags::CLONE_NEWNET).map_err(Error::system(enter))
    }

    /// The file descriptor, by which netlink names a namespace.
    pub(crate) fn descriptor(&self) -> i32 {
        self.network.as_raw_fd()
    }
}

/// The cookie of the calling thread's namespace, which the kernel gives no other namespace until it
/// is booted again, unlike inode numbers; `None` before Linux 5.14.
pub fn cookie() -> Result<Option<u64>, Error> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, SockType::Datagram, flags, None);
    let socket = socket.map_err(Error::system("open a socket"))?;
    match netns_cookie(socket.as_fd()) {
        Ok(cookie) => Ok(Some(cookie)),
        Err(Errno::ENOPROTOOPT) => Ok(None),
        Err(errno) => Err(Error::system("tell network namespaces apart")(errno)),
    }
}

/// Runs `work` on a thread of its own; its panic becomes one of the caller.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("namespace".to_owned());
        let thread = builder
            .spawn_scoped(scope, work)
            .map_err(Error::io("start a thread"))?;
        thread
            .join()
            .or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Mounts a `/sys` that shows the calling thread's interfaces, in a mount namespace of its own. The
/// thread is to end afterwards.
fn mounts_with_sys() -> Result<OwnedFd, Error> {
    let none = None::<&str>;
    unshare(CloneFlags::CLONE_NEWNS).map_err(Error::system("make a mount namespace"))?;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(Error::system("make the mounts private"))?;
    match mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), none) {
        // Busy: the `/sys` that is mounted there shows this namespace already.
        Ok(()) | Err(Errno::EBUSY) => {}
        Err(errno) => return Err(Error::system("mount /sys of the network namespace")(errno)),
    }
    open(Path::new("/proc/thread-self/ns/mnt"))
}

fn open(path: &Path) -> Result<OwnedFd, Error> {
    let file = File::open(path).map_err(Error::io(format!("open {}", path.display())))?;
    Ok(file.into())
}
