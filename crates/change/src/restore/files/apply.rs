//! Writing files: their contents are in the journal before the first one is replaced.

use super::{FileWrite, back, disk, file_key};
use crate::journal::{Digest, FileEntry, Journal, Lock, State, Store, begin};
use crate::settings::Error;
use std::path::{Path, PathBuf};

/// Writes files, all or none, so that [`undo`](crate::restore::undo) can restore them byte for
/// byte; returns the journal's name. `store` has to be one that a reboot keeps.
///
/// # Errors
/// If a file is not as [`FileWrite::before`] says, cannot be written, or is locked by another
/// command. Files that were already written are restored then.
pub fn apply_files(
    store: &Store,
    command: Vec<String>,
    writes: &[FileWrite],
) -> Result<String, Error> {
    let mut journal = begin(store, command, std::process::id())?;
    // No guardian process is started for files.
    journal.guardian_pid = 0;
    let holder = format!("`{}`, process {}", journal.command_line(), journal.pid);
    let journal_lock = store.lock(&journal.id, &holder)?;
    let result = apply(store, &mut journal, writes, &holder);
    if result.is_err() && !store.file(&journal.id).exists() {
        journal_lock.remove();
    }
    result.map(|()| journal.id)
}

fn apply(
    store: &Store,
    journal: &mut Journal,
    writes: &[FileWrite],
    holder: &str,
) -> Result<(), Error> {
    let paths = resolve(writes)?;
    let locks = paths
        .iter()
        .map(|path| Lock::take_shared(store, &file_key(path), &path.display().to_string(), holder));
    let _locks: Vec<_> = locks.collect::<Result<_, _>>()?;
    check_unfinished(store, &paths)?;
    for (path, write) in paths.into_iter().zip(writes) {
        journal.files.push(entry(path, write)?);
    }
    store.write(journal)?;
    match write_all(journal, writes) {
        Ok(()) => keep(store, journal),
        Err(error) => Err(give_up(store, journal, error)),
    }
}

/// The paths without links; a file that is named twice is refused.
fn resolve(writes: &[FileWrite]) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for write in writes {
        let path = disk::resolve(&write.path)?;
        if paths.contains(&path) {
            return Err(disk::refused(&path, "it is to be written twice"));
        }
        paths.push(path);
    }
    Ok(paths)
}

fn entry(path: PathBuf, write: &FileWrite) -> Result<FileEntry, Error> {
    let was = disk::read(&path)?;
    if was.as_ref().map(|was| &was.bytes) != write.before.as_ref() {
        return Err(Error::File {
            action: format!("write {}", path.display()),
            problem: "it was changed while this command ran; run it again".to_owned(),
        });
    }
    Ok(FileEntry {
        folders: disk::missing_folders(&path)?,
        wrote: Digest::of(&write.bytes),
        path,
        was,
    })
}

fn write_all(journal: &Journal, writes: &[FileWrite]) -> Result<(), Error> {
    for (entry, write) in journal.files.iter().zip(writes) {
        disk::make_folders(&entry.folders)?;
        disk::replace(&entry.path, &write.bytes, write.mode_if_new)?;
    }
    Ok(())
}

/// Marks the journal as kept: the files stay until `undo`.
fn keep(store: &Store, journal: &mut Journal) -> Result<(), Error> {
    journal.state = State::Kept;
    let kept = store.write(journal);
    kept.map_err(|error| give_up(store, journal, error))
}

fn give_up(store: &Store, journal: &mut Journal, error: Error) -> Error {
    let unrestored = back::restore(store, journal);
    if unrestored.is_empty() {
        let _ = store.remove(&journal.id);
        return error;
    }
    journal.state = State::Failed;
    journal.unrestored.clone_from(&unrestored);
    let _ = store.write(journal);
    let left: Vec<_> = unrestored.iter().map(ToString::to_string).collect();
    Error::NotTakenBack {
        problem: error.to_string(),
        left,
        journal: journal.id.clone(),
    }
}

/// Refuses files of an unfinished journal: contents that a killed command left must not be recorded
/// as the ones to restore.
fn check_unfinished(store: &Store, paths: &[PathBuf]) -> Result<(), Error> {
    for id in store.list()? {
        let other = match store.read(&id) {
            // `undo` has removed the journal meanwhile.
            Err(_) if !store.file(&id).exists() => continue,
            other => other?,
        };
        let is_ours = |path: &&Path| paths.iter().any(|own| own == path);
        let mut theirs = other.files.iter().map(|entry| entry.path.as_path());
        let both = theirs.find(is_ours).filter(|_| other.state != State::Kept);
        if let Some(path) = both {
            return Err(Error::Unfinished {
                what: path.display().to_string(),
                command: other.command_line(),
                journal: id,
            });
        }
    }
    Ok(())
}
