//! `coalescope undo`: restores what journals hold.

use super::{EXIT_UNRESTORED, Spaces, files, keys, lock_subjects, restore, verify};
use crate::journal::{Journal, State, Store, Unrestored, boot_id};
use crate::settings::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::process;

/// What became of one journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Undone {
    /// Name of the journal.
    pub journal: String,
    /// The command that it is of; empty if it cannot be read.
    pub command: String,
    /// When that began; 0 if it cannot be read.
    pub begun_unix_s: u64,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a journal's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// All that was set is as it was; the journal is gone.
    Restored {
        /// What had been asked for, and which files had been written.
        changes: Vec<String>,
        /// What is as it was asked for, and has no effect, for what somebody else has changed since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        idle: Vec<String>,
    },
    /// The machine has started anew since, which reset all of it; the journal is gone.
    Reset,
    /// The experiment goes on, and its guardian restores when it ends. Nothing was done.
    Running {
        /// Who it is.
        holder: String,
    },
    /// Nothing was done, since something else has to be done first; the journal stays.
    Held {
        /// What, by whom.
        why: String,
        /// The command to run, if there is one.
        by_hand: Option<String>,
    },
    /// Something is not as it was; the journal stays.
    Failed {
        /// What, and what to do.
        unrestored: Vec<Unrestored>,
    },
    /// The journal cannot be relied on, or could not be used; it stays.
    Unusable {
        /// Why, and what to do.
        problem: Error,
    },
}

impl Fate {
    /// Whether something is left to do by hand.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Held { .. } | Self::Failed { .. } | Self::Unusable { .. }
        )
    }

    /// Whether the result may be different in a moment, because another process has the journal.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::Held { .. })
    }
}

/// 0, or [`EXIT_UNRESTORED`] if something of any journal is not as it was.
#[must_use]
pub fn exit_code(undone: &[Undone]) -> u8 {
    if undone.iter().any(|one| one.fate.is_failure()) {
        EXIT_UNRESTORED
    } else {
        0
    }
}

/// Restores all journals of a store, the newest first: a later journal has recorded values that an
/// earlier one had set.
pub fn undo(store: &Store) -> Result<Vec<Undone>, Error> {
    let all = store.list()?;
    Ok(all.iter().filter_map(|id| undo_one(store, id)).collect())
}

/// Restores one journal; `None` if the journal is gone, because another process has restored it.
pub fn undo_one(store: &Store, id: &str) -> Option<Undone> {
    undo_forced(store, id, &[])
}

/// The first of these texts that names no key and no file of any journal, with the names there are.
pub fn unknown_key<'a>(
    journals: &[Journal],
    forced: &'a [String],
) -> Option<(&'a str, Vec<String>)> {
    forced.iter().find_map(|text| {
        let called = journals.iter().map(|journal| keys::called(journal, text));
        let (known, names): (Vec<bool>, Vec<Vec<String>>) = called.unzip();
        (!known.contains(&true)).then(|| (text.as_str(), names.concat()))
    })
}

/// Restores one journal; keys and files named in `forced` are restored even if somebody else has changed them.
pub fn undo_forced(store: &Store, id: &str, forced: &[String]) -> Option<Undone> {
    let holder = format!("`coalescope undo`, process {}", process::id());
    let lock = match store.lock(id, &holder) {
        Ok(lock) => lock,
        Err(error) => return Some(unusable(store, id, error)),
    };
    let result = store.read(id);
    if !store.file(id).exists() {
        lock.remove();
        return None;
    }
    let undone = match result {
        Err(problem) => return Some(unusable(store, id, problem)),
        Ok(journal) => with_journal(store, journal, &holder, forced),
    };
    if matches!(undone.fate, Fate::Restored { .. } | Fate::Reset) {
        lock.remove();
    }
    Some(undone)
}

/// Removes a journal without restoring: for changes that were undone by hand.
pub fn forget(store: &Store, id: &str) -> Result<(), Error> {
    let lock = store.lock(id, &format!("process {}", process::id()))?;
    if let Ok(journal) = store.read(id) {
        files::clean(store, &journal);
    }
    store.remove(id)?;
    lock.remove();
    Ok(())
}

fn with_journal(store: &Store, journal: Journal, holder: &str, forced: &[String]) -> Undone {
    let (id, command) = (journal.id.clone(), journal.command_line());
    let begun_unix_s = journal.begun_unix_s;
    let fate = match boot_id() {
        Err(problem) => Fate::Unusable { problem },
        Ok(now) => fate(store, journal, &now, (holder, forced)),
    };
    Undone {
        journal: id,
        command,
        begun_unix_s,
        fate,
    }
}

/// Restores a journal as far as a reboot has not done so: a reboot resets settings, and no file.
fn fate(
    store: &Store,
    mut journal: Journal,
    boot_id: &str,
    (holder, forced): (&str, &[String]),
) -> Fate {
    if boot_id != journal.boot_id {
        if journal.files.is_empty() && journal.commands.is_empty() {
            return dismiss(store, &journal, Fate::Reset);
        }
        journal.forget_running();
    }
    match lock_subjects(store, &journal, holder) {
        Err(Error::Busy { what, holder }) => Fate::Held {
            why: format!("{what} is in use by {holder}; wait for it or end it"),
            by_hand: None,
        },
        Err(problem) => Fate::Unusable { problem },
        Ok(_locks) => take_back(store, &mut journal, forced),
    }
}

fn take_back(store: &Store, journal: &mut Journal, forced: &[String]) -> Fate {
    let mut spaces = Spaces::default();
    files::force(journal, forced);
    keys::force(journal, &mut spaces, forced);
    let mut unrestored = files::restore(store, journal);
    unrestored.extend(restore(journal, &mut spaces));
    if unrestored.is_empty() {
        files::clean(store, journal);
        let changes = journal.changes();
        let idle = verify::idle(journal, &mut spaces);
        return dismiss(store, journal, Fate::Restored { changes, idle });
    }
    keys::prune(journal, &mut spaces);
    mention_forget(&journal.id, &mut unrestored);
    journal.state = State::Failed;
    journal.unrestored.clone_from(&unrestored);
    unrestored.extend(
        store
            .write(journal)
            .err()
            .map(|error| stale(journal, &error)),
    );
    Fate::Failed { unrestored }
}

/// The journal could not be rewritten and still lists settings that are restored: if somebody sets one to the same
/// value again, the next `undo` takes that back.
pub(crate) fn stale(journal: &Journal, error: &Error) -> Unrestored {
    Unrestored {
        what: format!("the journal {}", journal.id),
        is: "as before".to_owned(),
        was: "to say what is left".to_owned(),
        set: None,
        why: error.to_string(),
        by_hand: Some(format!("coalescope undo {}", journal.id)),
    }
}

/// Mentions `undo --forget` where nothing is left that a command could restore.
fn mention_forget(id: &str, unrestored: &mut [Unrestored]) {
    if unrestored.iter().all(|left| left.by_hand.is_none()) {
        for left in unrestored {
            left.by_hand = Some(format!("coalescope undo {id} --forget"));
        }
    }
}

fn dismiss(store: &Store, journal: &Journal, fate: Fate) -> Fate {
    match store.remove(&journal.id) {
        Ok(()) => fate,
        Err(problem) => Fate::Unusable { problem },
    }
}

fn unusable(store: &Store, id: &str, error: Error) -> Undone {
    let journal = store.read(id).unwrap_or_default();
    Undone {
        journal: id.to_owned(),
        command: journal.command_line(),
        begun_unix_s: journal.begun_unix_s,
        fate: match error {
            Error::Busy { holder, .. } => at_work(&journal, holder),
            problem => Fate::Unusable { problem },
        },
    }
}

/// The fate of a journal that another process has locked. As long as its command runs, this is no failure.
fn at_work(journal: &Journal, holder: String) -> Fate {
    let guardian = journal.guardian_pid;
    if journal.has_stopped_guardian() {
        return Fate::Held {
            why: format!("its guardian, process {guardian}, is stopped and restores nothing"),
            by_hand: Some(format!("kill -CONT {guardian}")),
        };
    }
    if journal.has_command() {
        return Fate::Running { holder };
    }
    Fate::Held {
        why: format!("its command is not there any more, and is not taken back yet ({holder})"),
        by_hand: None,
    }
}
