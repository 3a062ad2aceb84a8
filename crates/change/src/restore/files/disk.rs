//! One file on disk: read with its rights, replaced in one instant, removed.

use crate::journal::FileState;
use crate::settings::Error;
use coalescope_files::{self as files, Replacement, Rights};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Longest file that is changed: files of network configuration are short.
const LONGEST: u64 = 4 << 20;
/// Permissions as `chmod` takes them.
const PERMISSIONS: u32 = 0o7777;
/// Files here are made by the kernel, and gone after a reboot.
const NOT_KEPT: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The path without symbolic links, also of a file that does not exist yet. A dangling link is an
/// error: its target is not known to be meant as a file.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, Error> {
    let has_dots = path.components().any(|part| part == Component::ParentDir);
    let Some(name) = path.file_name().filter(|_| path.is_absolute() && !has_dots) else {
        return Err(refused(path, "its path is not absolute and plain"));
    };
    let real = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            real_folder(folder)?.join(name)
        }
        Err(error) => return Err(Error::file("read", path)(error)),
        Ok(_) => real(path).map_err(Error::file("follow", path))?,
    };
    match NOT_KEPT.iter().find(|place| real.starts_with(place)) {
        None => Ok(real),
        Some(place) => Err(refused(path, &format!("it leads to {place}"))),
    }
}

/// The path of a folder without links, as far as the folder exists.
fn real_folder(folder: &Path) -> Result<PathBuf, Error> {
    match real(folder) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound && !is_there(folder) => {
            let above = folder.parent().zip(folder.file_name());
            let (above, name) = above.ok_or_else(|| refused(folder, "it has no folder"))?;
            Ok(real_folder(above)?.join(name))
        }
        Err(error) => Err(Error::file("follow", folder)(error)),
    }
}

/// The path without links, each of which must belong to root or to this user. The file exists.
fn real(path: &Path) -> io::Result<PathBuf> {
    let real = files::real(path)?;
    fs::symlink_metadata(&real).map(|_| real)
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Folders that do not exist yet, the outermost first. All existing ones must be safe to write to:
/// whoever can rename a folder chooses where the file is written.
pub(super) fn missing_folders(path: &Path) -> Result<Vec<PathBuf>, Error> {
    files::check_folders(path).map_err(|error| refused(path, &error.to_string()))?;
    let folders = path.ancestors().skip(1);
    let missing = folders.take_while(|folder| !is_there(folder));
    let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
    missing.reverse();
    Ok(missing)
}

/// A file with its rights; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<FileState>, Error> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        about => about.map_err(Error::file("read", path))?,
    };
    if !about.is_file() {
        return Err(refused(path, "it is not a plain file"));
    }
    if about.len() > LONGEST {
        return Err(refused(path, "it is longer than 4 MiB"));
    }
    Ok(Some(FileState {
        bytes: fs::read(path).map_err(Error::file("read", path))?,
        mode: about.mode() & PERMISSIONS,
        uid: about.uid(),
        gid: about.gid(),
    }))
}

/// Makes folders; an existing one is no error.
pub(super) fn make_folders(folders: &[PathBuf]) -> Result<(), Error> {
    for folder in folders {
        let made = DirBuilder::new().mode(0o755).create(folder);
        match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            made => made.map_err(Error::file("make", folder))?,
        }
        // Whatever the umask: services that do not run as root read files there.
        let readable = fs::set_permissions(folder, Permissions::from_mode(0o755));
        readable.map_err(Error::file("make", folder))?;
        files::sync_folder_of(folder).map_err(Error::file("sync the folder of", folder))?;
    }
    Ok(())
}

/// Removes empty folders, the last one first. A folder that is not empty has somebody else's files in it.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        if fs::remove_dir(folder).is_ok() {
            let _ = files::sync_folder_of(folder);
        }
    }
}

/// Replaces the contents of a file. At any instant, also after a power cut, the file has either the
/// old contents or the new ones. An existing file keeps its owner, permissions and extended
/// attributes.
pub(super) fn replace(path: &Path, bytes: &[u8], mode_if_new: u32) -> Result<(), Error> {
    let beside = beside(path);
    let replacement = Replacement {
        beside: beside.file_name(),
        ..Replacement::of(path, Rights::Exactly(mode_if_new))
    };
    let replaced = files::replace(&replacement, |to| to.write_all(bytes));
    replaced.map(drop).map_err(Error::file("write", path))
}

/// Removes a file; a missing one is no error.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed
            .and_then(|()| files::sync_folder_of(path))
            .map_err(Error::file("remove", path)),
    }
}

/// Removes the incomplete copy that a crash left beside a file.
pub(super) fn remove_half_written(path: &Path) {
    let _ = fs::remove_file(beside(path));
}

/// The path of the copy: hidden, and with an extension that nothing reads, since some programs read
/// every file of a folder.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.coalescope-new"))
}

/// The error for a file that could not be restored, and is therefore not changed.
pub(super) fn refused(path: &Path, why: &str) -> Error {
    Error::NotReversible {
        what: path.display().to_string(),
        why: why.to_owned(),
    }
}
