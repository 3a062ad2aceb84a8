//! Restoring files, unless somebody has changed them since.

use super::disk;
use crate::journal::{Digest, FileEntry, FileState, Journal, Store, Unrestored};
use crate::settings::Error;
use coalescope_host::safe::sh;

/// Restores all files of a journal, the last one first; returns those that are not as they were.
pub(in crate::restore) fn restore(store: &Store, journal: &Journal) -> Vec<Unrestored> {
    let mut left = Vec::new();
    for (number, entry) in journal.files.iter().enumerate().rev() {
        disk::remove_half_written(&entry.path);
        match disk::read(&entry.path) {
            Ok(is) if is_restored(entry, is.as_ref()) => {}
            Ok(Some(is)) if Digest::of(&is.bytes) == entry.wrote => {
                let error = put_back(entry).err();
                left.extend(error.map(|error| failed(store, journal, number, &error)));
            }
            Ok(is) => left.push(changed(store, journal, number, is.as_ref())),
            Err(error) => left.push(failed(store, journal, number, &error)),
        }
        disk::remove_folders(&entry.folders);
    }
    left
}

/// Records the present contents of the files in `forced` as written by us, so that they are
/// restored whoever wrote them.
pub(in crate::restore) fn force(journal: &mut Journal, forced: &[String]) {
    for entry in &mut journal.files {
        if forced.contains(&entry.path.display().to_string())
            && let Ok(Some(is)) = disk::read(&entry.path)
        {
            entry.wrote = Digest::of(&is.bytes);
        }
    }
}

/// Removes the copies that were made for restoring by hand.
pub(in crate::restore) fn clean(store: &Store, journal: &Journal) {
    for number in 0..journal.files.len() {
        let _ = std::fs::remove_file(store.copy(&journal.id, number));
    }
}

fn is_restored(entry: &FileEntry, is: Option<&FileState>) -> bool {
    match (&entry.was, is) {
        (None, None) => true,
        // Restored by hand, perhaps with other permissions.
        (Some(was), Some(is)) => was.bytes == is.bytes,
        _ => false,
    }
}

fn put_back(entry: &FileEntry) -> Result<(), Error> {
    match &entry.was {
        None => disk::remove(&entry.path),
        // Owner and extended attributes may have been changed since, and stay as they are.
        Some(was) => disk::replace(&entry.path, &was.bytes, was.mode),
    }
}

/// Somebody else's contents are kept. The contents from before go to a copy that no program reads
/// as configuration.
fn changed(store: &Store, journal: &Journal, number: usize, is: Option<&FileState>) -> Unrestored {
    let is = match is {
        None => "gone",
        Some(_) => "another text",
    };
    let why = "somebody has changed it since, and that is not overwritten".to_owned();
    unrestored(store, journal, number, is, why)
}

fn failed(store: &Store, journal: &Journal, number: usize, error: &Error) -> Unrestored {
    unrestored(store, journal, number, "unknown", error.to_string())
}

fn unrestored(
    store: &Store,
    journal: &Journal,
    number: usize,
    is: &str,
    why: String,
) -> Unrestored {
    let entry = &journal.files[number];
    // Names of NetworkManager's connections may have spaces.
    let path = entry.path.display().to_string();
    let path = sh(&path);
    let (was, by_hand) = match &entry.was {
        None => ("not there".to_owned(), Some(format!("rm {path}"))),
        Some(was) => match store.write_copy(&journal.id, number, &was.bytes) {
            Err(error) => (format!("in the journal ({error})"), None),
            Ok(copy) => {
                let copy = copy.display().to_string();
                let command = by_hand(entry, was, &sh(&copy), &path);
                (format!("as in {copy}"), Some(command))
            }
        },
    };
    Unrestored {
        what: entry.path.display().to_string(),
        is: is.to_owned(),
        was,
        set: None,
        why,
        by_hand,
    }
}

/// The command that restores a file by hand. An existing file keeps its owner and permissions.
fn by_hand(entry: &FileEntry, was: &FileState, from: &str, to: &str) -> String {
    if entry.path.exists() {
        return format!("cp {from} {to}");
    }
    let FileState { mode, uid, gid, .. } = was;
    format!("install -m {mode:o} -o {uid} -g {gid} {from} {to}")
}
