//! Names by which other programs find the rooms: `/run/netns/NAME`, as ip-netns(8) keeps them.
//!
//! A file lists the names before they are given, and is locked by the process that gives them. The
//! kernel releases the lock however the process ends, so that whoever can take the lock may [clean]
//! up. Devices need no list: TAPs end with the process, all others with their namespace.

use super::Error;
use crate::error::Unavailable;
use crate::namespace::Namespace;
use coalescope_files as files;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::gettid;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// The folder of names.
const NAMED: &str = "/run/netns";
/// The folder of lists, unless `COALESCOPE_STATE` names another.
const STATE: &str = "/run/coalescope";
/// Attempts at finding unused names.
const TRIES: u32 = 1000;

/// Whether this process may give names; locked while it gives some, so that none is given after [`abandon`].
static MAY_GIVE: Mutex<bool> = Mutex::new(true);

/// Names given to rooms; they are removed with this value.
#[derive(Debug)]
pub(super) struct Names {
    list: PathBuf,
    by_room: BTreeMap<String, String>,
    /// Held as long as the names are in use.
    _lock: Flock<File>,
}

impl Names {
    /// Chooses names for rooms and writes them down: `cs-PID-ROOM`, or `cs-PID-N-ROOM` where a
    /// process has several paths, or the number is also one of another container's.
    pub(super) fn reserve(rooms: &BTreeSet<String>) -> Result<Self, Error> {
        let _giving = giving()?;
        let folder = folder();
        let folder = files::private(&folder).map_err(|error| no_place(&folder, error))?;
        for prefix in prefixes() {
            if let Some(names) = Self::reserve_as(&prefix, rooms, &folder)? {
                return Ok(names);
            }
        }
        let all_taken = io::ErrorKind::AlreadyExists.into();
        Err(Error::file("list more namespaces in", folder)(all_taken))
    }

    /// `None` if one of these names is in use.
    fn reserve_as(
        prefix: &str,
        rooms: &BTreeSet<String>,
        folder: &Path,
    ) -> Result<Option<Self>, Error> {
        let named = |room: &String| (room.clone(), format!("{prefix}-{room}"));
        let by_room: BTreeMap<_, _> = rooms.iter().map(named).collect();
        if by_room.values().any(|name| place(name).exists()) {
            return Ok(None);
        }
        let list = folder.join(format!("{prefix}.list"));
        match write(&list, by_room.values()) {
            Ok(lock) => Ok(Some(Self {
                list,
                by_room,
                _lock: lock,
            })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(Error::file("write", list)(error)),
        }
    }

    /// The name of a room.
    pub(super) fn of(&self, room: &str) -> Option<&str> {
        self.by_room.get(room).map(String::as_str)
    }

    /// Gives a room its name.
    ///
    /// The threads of a room have a mount namespace of their own. So the name is mounted by this
    /// thread, from /proc of a thread in the room, which waits meanwhile.
    pub(super) fn give(&self, room: &str, namespace: &Namespace) -> Result<(), Error> {
        let Some(name) = self.of(room) else {
            return Ok(());
        };
        let _giving = giving()?;
        with_thread_in(namespace, |thread| bind(&place(name), thread))
    }
}

/// An error in a folder that only root may write is a reason to skip: an ordinary user cannot run a lab.
fn no_place(folder: &Path, error: io::Error) -> Error {
    let error = Error::file("make the folder", folder)(error);
    if !error.is_denied() {
        return error;
    }
    let reason = format!("{error}; run as root");
    Unavailable { reason }.into()
}

/// Runs `work` on this thread while another thread waits in the namespace; `work` gets that thread's id.
fn with_thread_in(
    namespace: &Namespace,
    work: impl FnOnce(i32) -> Result<(), Error>,
) -> Result<(), Error> {
    let (ready, readiness) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let inside = move || {
        let _ = ready.send(gettid().as_raw());
        let _ = released.recv();
    };
    thread::scope(|scope| {
        let inside = scope.spawn(move || namespace.enter(inside));
        // Without a message the thread has failed to enter, and returns the error.
        let done = readiness.recv().map_or(Ok(()), work);
        drop(release);
        let entered = inside.join();
        let entered = entered.map_err(|_| Error::Panicked("a room to be named".to_owned()))?;
        entered.map_err(Error::from).and(done)
    })
}

impl Drop for Names {
    fn drop(&mut self) {
        let gone: Vec<_> = self.by_room.values().map(|name| remove(name)).collect();
        // The list stays with any name that could not be removed, so that `clean` can try again.
        if gone.iter().all(Result::is_ok) {
            let _ = fs::remove_file(&self.list);
        }
    }
}

/// The right to give names, as long as it is held.
fn giving() -> Result<MutexGuard<'static, bool>, Error> {
    let may = MAY_GIVE.lock().unwrap_or_else(PoisonError::into_inner);
    match *may {
        true => Ok(may),
        false => Err(Unavailable {
            reason: "the lab is being ended".to_owned(),
        }
        .into()),
    }
}

/// Removes the names that this process has given, and gives no more: for a process that ends while its paths are at work.
/// What cannot be removed is left on its list, for [`clean`].
pub fn abandon() {
    *MAY_GIVE.lock().unwrap_or_else(PoisonError::into_inner) = false;
    let own = format!("cs-{}", std::process::id());
    let entries = files::existing(&folder()).and_then(fs::read_dir);
    let lists = entries.into_iter().flatten().flatten();
    let lists = lists.map(|entry| entry.path()).filter(|path| {
        let rest = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_prefix(&own));
        rest.is_some_and(|rest| rest.starts_with(['-', '.']) && rest.ends_with(".list"))
    });
    for list in lists {
        let text = fs::read_to_string(&list).unwrap_or_default();
        let gone: Vec<_> = text
            .lines()
            .filter(|name| is_ours(name))
            .map(remove)
            .collect();
        if gone.iter().all(Result::is_ok) {
            let _ = fs::remove_file(&list);
        }
    }
}

/// Removes the names of processes that were killed; returns the names.
///
/// # Errors
///
/// The first name or list that could not be removed; all others are removed.
pub fn clean() -> Result<Vec<String>, Error> {
    let mut cleaned = Vec::new();
    let entries = match files::existing(&folder()).and_then(fs::read_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleaned),
        Err(error) => return Err(Error::file("read the folder", folder())(error)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let lists = paths.filter(|path| path.extension().is_some_and(|ending| ending == "list"));
    let results: Vec<_> = lists.map(|list| clean_list(&list, &mut cleaned)).collect();
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(cleaned)
}

/// Removes the names of one list, if its process has ended.
fn clean_list(list: &Path, cleaned: &mut Vec<String>) -> Result<(), Error> {
    let file = match File::open(list) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file("read", list)(error)),
    };
    let _lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => lock,
        Err((_, Errno::EWOULDBLOCK)) => return Ok(()),
        Err((_, errno)) => return Err(Error::file("lock", list)(errno.into())),
    };
    let text = fs::read_to_string(list).map_err(Error::file("read", list))?;
    for name in text.lines().filter(|name| is_ours(name)) {
        if remove(name)? {
            cleaned.push(name.to_owned());
        }
    }
    remove_file(list)
}

/// Whether a name has the form of [`Names::reserve`]. Somebody may have changed the list: names of
/// another form are not removed.
fn is_ours(name: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    name.starts_with("cs-") && name.bytes().all(sound)
}

/// Removes a name; returns whether there was one.
fn remove(name: &str) -> Result<bool, Error> {
    let path = place(name);
    match umount2(&path, MntFlags::MNT_DETACH) {
        // Not a mount, or no such file: the name was never given, or not in this mount namespace.
        Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => {}
        Err(errno) => return Err(Error::file("unmount", path)(errno.into())),
    }
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::file("remove", path)(error)),
    }
}

fn remove_file(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(Error::file("remove", path))
}

/// Mounts the namespace of a thread on the path.
fn bind(path: &Path, thread: i32) -> Result<(), Error> {
    let failed = |error: io::Error| Error::file("name a namespace as", path)(error);
    fs::create_dir_all(NAMED).map_err(failed)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(failed)?;
    let source = format!("/proc/self/task/{thread}/ns/net");
    let none = None::<&str>;
    mount(Some(source.as_str()), path, none, MsFlags::MS_BIND, none)
        .map_err(|errno| failed(errno.into()))
}

fn place(name: &str) -> PathBuf {
    Path::new(NAMED).join(name)
}

fn folder() -> PathBuf {
    let state = std::env::var_os("COALESCOPE_STATE").map_or_else(|| STATE.into(), PathBuf::from);
    state.join("lab")
}

fn prefixes() -> impl Iterator<Item = String> {
    let process = std::process::id();
    let more = (2..TRIES).map(move |number| format!("cs-{process}-{number}"));
    std::iter::once(format!("cs-{process}")).chain(more)
}

/// Writes a new list and locks it.
fn write<'a>(list: &Path, names: impl Iterator<Item = &'a String>) -> io::Result<Flock<File>> {
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(list)?;
    let mut lock = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?;
    // `clean` may have taken the lock first, and removed the empty list.
    if lock.metadata()?.nlink() == 0 {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    for name in names {
        writeln!(lock, "{name}")?;
    }
    lock.sync_all()?;
    Ok(lock)
}

/// Gives the calling thread, and those that it starts, a `/run` of its own, empty but for
/// `/run/netns`: without root in the first user namespace nobody may put names into the machine's.
///
/// For a process in a user namespace of its own ([`crate::become_namespace_root`]), before it starts
/// threads.
///
/// # Errors
///
/// Where the kernel does not allow mounts in user namespaces.
pub fn hide_run() -> Result<(), Error> {
    let none = None::<&str>;
    let failed = |action| move |errno| Error::from(crate::error::Error::system(action)(errno));
    unshare(CloneFlags::CLONE_NEWNS).map_err(failed("make a mount namespace"))?;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(failed("make the mounts private"))?;
    mount(none, "/run", Some("tmpfs"), MsFlags::empty(), none)
        .map_err(failed("mount a /run of its own"))?;
    fs::create_dir_all(NAMED).map_err(Error::file("make the folder", NAMED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_cannot_name_what_is_not_ours() {
        assert!(is_ours("cs-12-box"));
        for name in [
            "",
            "box",
            "cs-../../etc/passwd",
            "/run/netns/cs-1-a",
            "cs-1 x",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
