//! Hosts from saved output: files, folders, sosreports, archives, bundles and saved snapshots.
//!
//! What a file is, its content decides; its name is only a hint for what the content does not tell.
//! All that was not understood, cut, left out or could not be read is named in
//! [`Snapshot::unread`](crate::model::Snapshot::unread). In a sosreport, most of which is about
//! other things, only what carries the name of a command that could be of use is named, the rest is
//! counted.

mod archive;
mod bundle;
mod cast;
mod command;
mod content;
mod error;
mod files;
mod fleet;
mod found;
mod front;
mod given;
mod group;
mod hosts;
mod limits;
mod mail;
mod margin;
mod normalise;
mod outcome;
mod page;
mod pasted;
mod place;
mod relinked;
mod saved;
mod split;
mod texts;

use std::path::PathBuf;

pub use error::Error;
pub use given::Given;
pub use hosts::apart;
pub(crate) use limits::LISTED;
pub use limits::Limits;
pub use normalise::normalise;

use files::Files;
use found::Found;
use texts::{ReadText, Understand};

use crate::model::Snapshot;

/// A host, and where it was read from.
#[derive(Clone, Debug)]
pub struct Host {
    /// The path, within an archive as well, for messages.
    pub origin: String,
    /// What is known of it. Its name, if no text tells it, is that of the sosreport or of the
    /// folder in the given one.
    pub snapshot: Snapshot,
}

/// Reads hosts: each path is one, but a folder or archive that holds several gives several.
///
/// Symbolic links within a folder are not followed: what they point to is either in the folder, and
/// read there, or was not given.
///
/// # Errors
///
/// If a path cannot be read, or nothing in it is understood.
pub fn read_hosts(paths: &[PathBuf]) -> Result<Vec<Host>, Error> {
    read_hosts_within(paths, &Limits::default())
}

/// As [`read_hosts`], with other limits.
///
/// # Errors
///
/// As [`read_hosts`].
pub(crate) fn read_hosts_within(paths: &[PathBuf], limits: &Limits) -> Result<Vec<Host>, Error> {
    let mut hosts = Vec::new();
    for path in paths {
        hosts.extend(read(Given::open(path)?, limits)?);
    }
    Ok(hosts)
}

/// As [`read_hosts`], of one path that is open.
///
/// # Errors
///
/// If a folder cannot be read, or nothing is understood.
pub fn read(given: Given, limits: &Limits) -> Result<Vec<Host>, Error> {
    read_with(given, limits, crate::text::read)
}

/// As [`read_hosts`] of one file that is in memory, or was read from a pipe.
///
/// # Errors
///
/// If nothing in it is understood.
pub fn read_bytes(name: &str, bytes: &[u8], limits: &Limits) -> Result<Vec<Host>, Error> {
    let found = bytes_with(name, bytes, limits, crate::text::read);
    hosts::of(name, found)
}

fn read_with(given: Given, limits: &Limits, read: ReadText) -> Result<Vec<Host>, Error> {
    let mut understand = Understand { read, limits };
    let mut files = Files::new(limits, &mut understand);
    let name = given.name().to_owned();
    files.given(given)?;
    hosts::of(&name, files.found)
}

fn bytes_with(name: &str, bytes: &[u8], limits: &Limits, read: ReadText) -> Found {
    let mut understand = Understand { read, limits };
    let mut files = Files::new(limits, &mut understand);
    files.bytes(name, bytes);
    files.found
}

#[cfg(test)]
mod tests;
