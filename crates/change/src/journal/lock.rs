//! Locks on interfaces, sysctls and files. A lock ends with its holder, however the holder ends.

use super::Store;
use crate::settings::Error;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Longest description of a holder that is read.
const HOLDER: u64 = 512;

/// Root's locks on interfaces and files are here, wherever journals are: two commands with
/// different folders must not change the same interface.
const SHARED: &str = "/run/coalescope/locks";

/// How often a lock is tried that is held, and how long after each other: a child executes its program within
/// milliseconds, on a busy machine within some dozens of them.
const ATTEMPTS: u32 = 20;
const MOMENT: Duration = Duration::from_millis(10);

/// A lock that is held. The kernel releases a lock with its last descriptor, so that no stale one
/// is left by a crash or by a process id that is used again. The file stays then.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    path: PathBuf,
    /// Whether the file is removed with the lock.
    is_shared: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_shared {
            // The lock is still held: whoever opened the file meanwhile sees that the name is gone,
            // and opens it anew.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    /// Takes a lock without waiting, or fails with the name of its holder. `what` is for error
    /// messages, `key` names the file.
    pub fn take(store: &Store, key: &str, what: &str, holder: &str) -> Result<Self, Error> {
        Self::take_in(store.path(), key, what, holder)
    }

    /// Takes a lock that all commands share: for root in one folder, for other users in the store.
    pub(crate) fn take_shared(
        store: &Store,
        key: &str,
        what: &str,
        holder: &str,
    ) -> Result<Self, Error> {
        let shared = geteuid()
            .is_root()
            .then(|| Store::at(Path::new(SHARED)).ok());
        let shared = shared.flatten();
        let folder = shared.as_ref().unwrap_or(store).path();
        let mut lock = Self::take_in(folder, key, what, holder)?;
        lock.is_shared = true;
        Ok(lock)
    }

    fn take_in(folder: &Path, key: &str, what: &str, holder: &str) -> Result<Self, Error> {
        let path = folder.join(format!("lock-{}", plain(key)));
        loop {
            let mut file = options().open(&path).map_err(Error::file("open", &path))?;
            match patiently(|| file.try_lock()) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(busy(&mut file, what)),
                Err(TryLockError::Error(error)) => return Err(Error::file("lock", &path)(error)),
            }
            if !has_name(&file, &path) {
                continue;
            }
            // Only for error messages: the kernel alone knows who holds the lock.
            let _ = file
                .set_len(0)
                .and_then(|()| file.write_all(holder.as_bytes()));
            return Ok(Self {
                _file: file,
                path,
                is_shared: false,
            });
        }
    }

    /// Whether somebody holds a lock; the lock is not taken.
    pub(super) fn is_held(store: &Store, key: &str) -> bool {
        let path = store.path().join(format!("lock-{}", plain(key)));
        let file = OpenOptions::new().read(true).open(path);
        file.is_ok_and(|file| {
            let tried = patiently(|| file.try_lock_shared());
            matches!(tried, Err(TryLockError::WouldBlock))
        })
    }

    /// Whether this lock is that of a key.
    pub(crate) fn is(&self, key: &str) -> bool {
        let name = format!("lock-{}", plain(key));
        self.path.file_name().is_some_and(|own| *own == *name)
    }

    /// Releases the lock and removes its file; for names that are not used again.
    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Tries for a moment. A child that a thread has just forked has copies of all descriptors until it executes its
/// program, so that a lock which was released is held a little longer (flock(2)).
fn patiently(attempt: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(TryLockError::WouldBlock) => thread::sleep(MOMENT),
            tried => return tried,
        }
    }
    attempt()
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options.custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

/// Whether the path still names the open file: the last holder may have removed the file between
/// opening and locking.
fn has_name(file: &File, path: &Path) -> bool {
    let same = |one: Metadata, two: Metadata| (one.dev(), one.ino()) == (two.dev(), two.ino());
    let both = file
        .metadata()
        .and_then(|own| Ok((own, fs::metadata(path)?)));
    both.is_ok_and(|(own, named)| same(own, named))
}

fn busy(file: &mut File, what: &str) -> Error {
    let mut holder = String::new();
    let read = file.take(HOLDER).read_to_string(&mut holder);
    if read.is_err() || holder.is_empty() {
        "a process that has not said its name yet".clone_into(&mut holder);
    }
    Error::Busy {
        what: what.to_owned(),
        holder,
    }
}

/// Replaces letters that cannot be in a file name. `_` begins an escape, so that no two keys have the same name.
fn plain(key: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-') {
            letter.to_string()
        } else {
            format!("_{:x}_", u32::from(letter))
        }
    };
    key.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of the descriptor is what a forked child has.
    #[test]
    fn a_copy_that_is_gone_in_a_moment_keeps_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let take = || Lock::take(&store, "eth0", "eth0", "a test");
        for _ in 0..5 {
            let lock = take().unwrap();
            let copy = lock._file.try_clone().unwrap();
            assert!(matches!(take(), Err(Error::Busy { .. })));
            drop(lock);
            let child = thread::spawn(move || {
                thread::sleep(2 * MOMENT);
                drop(copy);
            });
            assert!(take().is_ok());
            child.join().unwrap();
            let lock = take().unwrap();
            assert!(Lock::is_held(&store, "eth0"));
            drop(lock);
            assert!(!Lock::is_held(&store, "eth0"));
        }
    }
}
