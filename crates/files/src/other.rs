//! On systems other than Linux.

use crate::{Replacement, Rights};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The path without links; a path that does not exist stays as it is.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
}

pub(crate) fn check(path: &Path) -> io::Result<()> {
    beside(&real(path)?, Rights::Usual).map(drop)
}

pub(crate) fn replace(
    replacement: &Replacement<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let target = real(replacement.path)?;
    let mut file = beside(&target, replacement.rights)?;
    write(file.as_file_mut())?;
    if let Ok(about) = fs::metadata(&target) {
        file.as_file().set_permissions(about.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    sync(folder(&target))?;
    Ok(Vec::new())
}

/// Extended attributes are not kept, so that none can be lost.
pub(crate) fn attributes_of(_: &Path) -> io::Result<BTreeSet<String>> {
    Ok(BTreeSet::new())
}

fn folder(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A temporary file in the target's folder, so that it can be renamed.
fn beside(target: &Path, rights: Rights) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".coalescope-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(match rights {
        Rights::Usual => 0o666,
        Rights::Exactly(mode) => mode,
    }));
    #[cfg(not(unix))]
    let _ = rights;
    builder.tempfile_in(folder(target))
}

/// Syncs a folder. Windows cannot open a folder as a file.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
