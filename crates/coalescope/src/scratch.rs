//! Temporary folders that are found again if this program is killed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// What their names begin with.
const PREFIX: &str = "coalescope-lab-";
/// Tries to make one that nobody takes for left over.
const TRIES: usize = 10;

/// A folder that goes with this value. It is locked as long as it is in use: the system takes the lock away
/// however the process ends, so that whoever can take it may remove the folder.
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: Option<File>,
}

impl Scratch {
    pub(crate) fn new() -> anyhow::Result<Self> {
        for _ in 0..TRIES {
            let folder = TempDir::with_prefix(PREFIX).context(ADVICE)?;
            let lock = lock(folder.path()).context(ADVICE)?;
            // Somebody who removed what was left over may have had the lock before us.
            if folder.path().exists() {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
        anyhow::bail!("{ADVICE}: it vanishes")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

const ADVICE: &str = "cannot make a temporary folder: set TMPDIR";

/// Where a folder cannot be opened as a file, it is not locked, and none is removed.
#[cfg(unix)]
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder)?;
    file.lock()?;
    Ok(Some(file))
}

#[cfg(not(unix))]
fn lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Removes what this user's processes left behind that were killed; says which folders.
#[cfg(unix)]
pub(crate) fn clean() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    let ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(PREFIX)
    });
    ours.map(|entry| entry.path())
        .filter(|folder| remove(folder).unwrap_or(false))
        .collect()
}

#[cfg(not(unix))]
pub(crate) fn clean() -> Vec<PathBuf> {
    Vec::new()
}

/// Whether it was left over. One that cannot be removed stays, for the next time.
#[cfg(unix)]
fn remove(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    let lock = File::open(folder)?;
    if lock.try_lock().is_err() {
        return Ok(false);
    }
    std::fs::remove_dir_all(folder)?;
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_stays_and_what_is_left_goes() {
        let used = Scratch::new().unwrap();
        let left = TempDir::with_prefix(PREFIX).unwrap().keep();
        std::fs::write(left.join("report.json"), "{}").unwrap();
        let removed = clean();
        // Another test's process may have been faster.
        assert!(!left.exists());
        assert!(used.path().exists() && !removed.iter().any(|path| path == used.path()));
    }
}
