//! Temporary folders that can be removed if this program is killed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// Prefix of their names.
const PREFIX: &str = "coalescope-lab-";
/// Attempts at making a folder that no cleanup removes at once.
const TRIES: usize = 10;

/// A folder that is removed with this value. It is locked while it is in use: the kernel releases
/// the lock however the process ends, so that whoever gets the lock may remove the folder.
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: Option<File>,
}

impl Scratch {
    pub(crate) fn new() -> anyhow::Result<Self> {
        for _ in 0..TRIES {
            let folder = TempDir::with_prefix(PREFIX).context(ADVICE)?;
            let lock = lock(folder.path()).context(ADVICE)?;
            // A cleanup may have taken the lock first, and removed the folder.
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

/// Locks a folder. Where a folder cannot be opened as a file, there is no lock, and no cleanup.
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

/// Removes the folders of this user's killed processes; returns their paths.
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

/// Removes a folder unless it is in use; returns whether it was removed. One that cannot be removed
/// is left for the next time.
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
        // A test in another process may have removed it first.
        assert!(!left.exists());
        assert!(used.path().exists() && !removed.iter().any(|path| path == used.path()));
    }
}
