//! Putting files back as they were, unless somebody has changed them since.

use super::disk;
use crate::journal::{Digest, FileEntry, FileState, Journal, Store, Unrestored};
use crate::settings::Error;
use coalescope_host::safe::sh;

/// Puts all files of a journal back, the last one first; gives back what is not as it was.
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

/// Takes what is in files now for what was written, so that they are put back whoever wrote it.
pub(in crate::restore) fn force(journal: &mut Journal, forced: &[String]) {
    for entry in &mut journal.files {
        if forced.contains(&entry.path.display().to_string())
            && let Ok(Some(is)) = disk::read(&entry.path)
        {
            entry.wrote = Digest::of(&is.bytes);
        }
    }
}

/// Removes the copies that were made for work by hand.
pub(in crate::restore) fn clean(store: &Store, journal: &Journal) {
    for number in 0..journal.files.len() {
        let _ = std::fs::remove_file(store.copy(&journal.id, number));
    }
}

fn is_restored(entry: &FileEntry, is: Option<&FileState>) -> bool {
    match (&entry.was, is) {
        (None, None) => true,
        // By hand, with rights of one's own choice.
        (Some(was), Some(is)) => was.bytes == is.bytes,
        _ => false,
    }
}

fn put_back(entry: &FileEntry) -> Result<(), Error> {
    match &entry.was {
        None => disk::remove(&entry.path),
        // What belongs to it may have been changed since, and that is not taken back.
        Some(was) => disk::replace(&entry.path, &was.bytes, was.mode),
    }
}

/// Somebody's work is not thrown away; what was is kept where nothing reads it as configuration.
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
    // Names of connections have spaces.
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

/// What belongs to a file that is there stays its own.
fn by_hand(entry: &FileEntry, was: &FileState, from: &str, to: &str) -> String {
    if entry.path.exists() {
        return format!("cp {from} {to}");
    }
    let FileState { mode, uid, gid, .. } = was;
    format!("install -m {mode:o} -o {uid} -g {gid} {from} {to}")
}
