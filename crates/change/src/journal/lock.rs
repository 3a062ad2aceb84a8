//! Who has an interface: locks that end with their holder, however it ends.

use super::Store;
use crate::settings::Error;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Longest description of a holder that is read.
const HOLDER: u64 = 512;

/// Where root's locks on interfaces and files are, wherever journals are: two commands with folders of
/// their own must not have one interface.
const SHARED: &str = "/run/coalescope/locks";

/// A lock that is held. The kernel lets go of it with the last descriptor, so that neither a crash
/// nor a process number given anew leaves a wrong one; then the file stays.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    path: PathBuf,
    /// The file goes with it.
    is_shared: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_shared {
            // Still locked: whoever opened it meanwhile sees that its name is gone, and opens anew.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    /// Takes one at once, or says who has it. `what` names it for people, `key` for the file.
    pub fn take(store: &Store, key: &str, what: &str, holder: &str) -> Result<Self, Error> {
        Self::take_in(store.path(), key, what, holder)
    }

    /// The same for what all commands share: in one place for all of root's, else in the store.
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
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(busy(&mut file, what)),
                Err(TryLockError::Error(error)) => return Err(Error::file("lock", &path)(error)),
            }
            if !has_name(&file, &path) {
                continue;
            }
            // Only for the words in an error: who holds it is what the kernel says.
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

    /// Whether somebody has one; it is not taken.
    pub(super) fn is_held(store: &Store, key: &str) -> bool {
        let path = store.path().join(format!("lock-{}", plain(key)));
        let file = OpenOptions::new().read(true).open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether it is the lock of a key.
    pub(crate) fn is(&self, key: &str) -> bool {
        let name = format!("lock-{}", plain(key));
        self.path.file_name().is_some_and(|own| *own == *name)
    }

    /// Lets go of it and removes its file; for names that are not used again.
    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options.custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

/// Whether its holder has not removed it between opening and locking.
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

/// Letters that can stand in a file name; `_` is none of them, so that no two keys are the same.
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
