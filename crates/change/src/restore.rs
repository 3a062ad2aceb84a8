//! Restoring, at once or after a crash.
//!
//! A journal has for each key the value before and the value that was set. Restoring sets back keys
//! that still have the value that was set, last change first, reads them again, and tries again
//! where one setting stood in another's way. No other key is written. A key that somebody else has
//! set since is left and reported; so is a key that could not be restored, with the command that
//! would restore it.
//!
//! The kernel has no compare-and-set for settings: between reading and setting there is a moment
//! (less than a millisecond) in which somebody else's change is lost.

mod along;
mod by_hand;
mod commands;
mod features;
mod files;
mod interface;
mod keys;
mod spaces;
mod undo;
mod verify;

pub use files::{FileWrite, apply_files};
pub use undo::{Fate, Undone, exit_code, forget, undo, undo_forced, undo_one, unknown_key};

pub(crate) use files::file_key;
pub(crate) use keys::{prune, read_entry};
pub(crate) use spaces::{Spaces, interface_key, lock_subjects, sysctl_key};
pub(crate) use undo::stale;

use crate::journal::{InterfaceEntry, Journal, Standing, SysctlEntry, Unrestored};
use crate::settings::{Error, write_sysctl};
use std::fmt::{self, Display};
use std::thread::sleep;
use std::time::Duration;

/// Attempts at restoring before the rest is reported.
const PASSES: u32 = 4;
/// Before trying again: a driver may be busy with the change before.
const PAUSE: Duration = Duration::from_millis(50);

/// Exit code of a command that could not restore something.
pub const EXIT_UNRESTORED: u8 = 3;

/// The result of restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// Name of the journal.
    pub journal: String,
    /// Settings and files that are not as they were; empty if all are restored.
    pub unrestored: Vec<Unrestored>,
}

impl Report {
    /// Whether everything is as it was.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unrestored.is_empty()
    }

    /// 0, or [`EXIT_UNRESTORED`].
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.is_complete() {
            0
        } else {
            EXIT_UNRESTORED
        }
    }
}

impl Display for Report {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return to.write_str("all settings are as they were");
        }
        write!(to, "NOT restored, see the journal {}:", self.journal)?;
        for left in &self.unrestored {
            write!(to, "\n  {left}")?;
        }
        Ok(())
    }
}

impl Display for Unrestored {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            is,
            was,
            set,
            why,
            ..
        } = self;
        write!(to, "{what} is {is}, was {was}")?;
        if let Some(set) = set {
            write!(to, ", was set to {set}")?;
        }
        write!(to, ": {why}")?;
        match &self.by_hand {
            None => Ok(()),
            Some(command) => write!(to, "; run: {command}"),
        }
    }
}

/// Restores all entries of a journal and reads them again; returns those that are not as they were.
pub(crate) fn restore(journal: &Journal, spaces: &mut Spaces) -> Vec<Unrestored> {
    let mut left = Vec::new();
    for pass in 0..PASSES {
        sleep(PAUSE * pass);
        let words = attempt(journal, spaces, pass);
        left = look(journal, spaces, &words);
        if left.is_empty() {
            break;
        }
    }
    left.extend(commands::restore(journal));
    left
}

/// Restores all entries once; returns the kernel's refusals by interface or sysctl.
fn attempt(journal: &Journal, spaces: &mut Spaces, pass: u32) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for entry in journal.sysctls.iter().rev() {
        if let Err(refusal) = restore_sysctl(entry, spaces) {
            words.push((keys::sysctl_name(entry), refusal));
        }
    }
    for entry in in_order(journal) {
        let name = keys::interface_name(entry);
        let said = spaces
            .get(&entry.namespace)
            .map_err(|error| vec![error.to_string()]);
        let said = said.and_then(|space| interface::restore(entry, journal, space, pass));
        let said = said.err().unwrap_or_default().into_iter();
        words.extend(said.map(|refusal| (name.clone(), refusal)));
    }
    words
}

/// Interfaces, last change first. Those that may have changed along come after the interface that they follow.
fn in_order(journal: &Journal) -> impl Iterator<Item = &InterfaceEntry> {
    let own = journal
        .interfaces
        .iter()
        .rev()
        .filter(|entry| !entry.related);
    own.chain(journal.interfaces.iter().filter(|entry| entry.related))
}

fn restore_sysctl(entry: &SysctlEntry, spaces: &mut Spaces) -> Result<(), String> {
    let words = |error: Error| error.to_string();
    let space = spaces.get(&entry.namespace).map_err(words)?;
    let is = read_entry(entry, space).map_err(words)?;
    if entry.held.standing(&is) != Standing::Ours {
        return Ok(());
    }
    write_sysctl(space, &entry.key, &entry.held.was).map_err(words)?
}

fn look(journal: &Journal, spaces: &mut Spaces, words: &[(String, String)]) -> Vec<Unrestored> {
    let mut left = Vec::new();
    for entry in &journal.interfaces {
        left.extend(verify::interface(entry, spaces, words));
    }
    for entry in &journal.sysctls {
        left.extend(verify::sysctl(entry, spaces, words));
    }
    left
}
