//! The journal: values on disk before anything is changed.
//!
//! A journal is one JSON document with a digest over what it says: a journal that was damaged, cut
//! or written by something else is an error and never a guess. It is replaced as a whole (written
//! beside, synced, renamed, the folder synced), so that a reader sees all of it or the one before.

mod begun;
mod files;
mod keys;
mod lock;
mod store;

pub(crate) use begun::{begin, boot_id};
pub(crate) use files::path_digest;
pub use files::{Digest, FileEntry, FileState};
pub use keys::{Held, KeyEntry};
pub(crate) use keys::{Standing, rounds};
pub use lock::Lock;
pub use store::{Store, StoreKind};

use crate::settings::{Error, InterfaceState, NamespaceId, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The schema that is written and understood.
pub const SCHEMA: &str = "coalescope/journal/2";

/// What an experiment has found and is about to change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its name, which is also the file's.
    pub id: String,
    /// The boot that it is of: another one has reset all of it but its files.
    pub boot_id: String,
    /// When it was begun.
    pub begun_unix_s: u64,
    /// The program that makes the experiment.
    pub pid: u32,
    /// When that began, in the kernel's ticks: numbers of processes are given anew.
    pub pid_started_ticks: Option<u64>,
    /// The process that guards it; 0 if there is none.
    pub guardian_pid: u32,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How far it has come.
    pub state: State,
    /// Interfaces as they were, in the order in which they were first changed.
    pub interfaces: Vec<InterfaceEntry>,
    /// Sysctls as they were.
    pub sysctls: Vec<SysctlEntry>,
    /// Files as they were, in the order in which they were written.
    pub files: Vec<FileEntry>,
    /// Commands that make what commands have changed as it was.
    pub commands: Vec<String>,
    /// What was asked for last, in the order in which the subjects were first changed.
    pub wanted: Vec<Setting>,
    /// What could not be restored.
    pub unrestored: Vec<Unrestored>,
    /// Over all of the above.
    pub digest: String,
}

/// How far an experiment has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Settings may be changed.
    #[default]
    Open,
    /// The changes are to stay until they are undone.
    Kept,
    /// Something could not be restored.
    Failed,
}

/// An interface as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceEntry {
    /// Where it is.
    pub namespace: NamespaceId,
    /// It is not changed itself, but may change along.
    pub related: bool,
    /// As it was when it was first looked at: which one it is, and what names stand for.
    pub was: InterfaceState,
    /// What of it was set, and what changed along, in the order in which that was first so. Nothing
    /// else is ever written.
    pub keys: Vec<KeyEntry>,
}

/// A sysctl as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SysctlEntry {
    /// Where it is.
    pub namespace: NamespaceId,
    /// Its path under /proc/sys.
    pub key: String,
    /// The inode in /sys of the interface that is named in the path, if one is: names are given anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u64>,
    /// Its values.
    pub held: Held,
}

/// Something that is not as it was, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unrestored {
    /// What: `eth0: mtu`.
    pub what: String,
    /// As it is.
    pub is: String,
    /// As it was.
    pub was: String,
    /// What it was set to, where somebody else has set it to something else since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Why, in the kernel's words if it had any.
    pub why: String,
    /// The command to run; `None` where there is nothing to run it on.
    pub by_hand: Option<String>,
}

impl Journal {
    /// Encodes the journal with its digest.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut signed = self.clone();
        SCHEMA.clone_into(&mut signed.schema);
        signed.digest = signed.computed()?;
        let mut bytes = serde_json::to_vec_pretty(&signed).map_err(|error| unwritable(&error))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Decodes a journal; errors name its file as `path`.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        check_schema(bytes, path)?;
        let damaged = |problem: String| Error::Journal {
            path: path.display().to_string(),
            problem,
        };
        let journal: Self = serde_json::from_slice(bytes)
            .map_err(|error| damaged(format!("it is damaged or cut ({error})")))?;
        if journal.digest != journal.computed()? {
            return Err(damaged("it was changed after it was written".to_owned()));
        }
        let named = path.file_stem().and_then(|name| name.to_str());
        if named != Some(&journal.id) {
            return Err(damaged(format!("it is the one of {}", journal.id)));
        }
        Ok(journal)
    }

    /// FNV-1a of all other fields. The digest finds damage; malice is kept out by the rights of the file.
    fn computed(&self) -> Result<String, Error> {
        let mut unsigned = self.clone();
        unsigned.digest = String::new();
        let bytes = serde_json::to_vec(&unsigned).map_err(|error| unwritable(&error))?;
        Ok(files::fnv(&bytes))
    }

    /// Records the value that is asked for now.
    pub(crate) fn want(&mut self, setting: &Setting) {
        let same = |known: &&mut Setting| known.subject == setting.subject;
        match self.wanted.iter_mut().find(same) {
            Some(known) => known.value.clone_from(&setting.value),
            None => self.wanted.push(setting.clone()),
        }
    }

    /// Drops the entries of the running kernel, which a reboot has reset.
    pub(crate) fn forget_running(&mut self) {
        self.interfaces.clear();
        self.sysctls.clear();
        self.wanted.clear();
    }

    /// The changes of the journal, as text.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let files = self.files.iter().map(|entry| match entry.was {
            None => format!("made {}", entry.path.display()),
            Some(_) => format!("changed {}", entry.path.display()),
        });
        let settings = self.wanted.iter().map(ToString::to_string);
        let commands = self.commands.iter().map(|one| format!("to restore: {one}"));
        settings.chain(files).chain(commands).collect()
    }

    /// The command as one would type it in a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.command.join(" ")
    }
}

#[derive(Deserialize)]
struct OnlySchema {
    schema: String,
}

fn check_schema(bytes: &[u8], path: &Path) -> Result<(), Error> {
    let path = path.display().to_string();
    let found = serde_json::from_slice::<OnlySchema>(bytes);
    let found = found.map_err(|error| Error::Journal {
        path: path.clone(),
        problem: if bytes.is_empty() {
            "it is empty".to_owned()
        } else {
            format!("it is no JSON document of ours ({error})")
        },
    })?;
    if found.schema == SCHEMA {
        return Ok(());
    }
    if !found.schema.starts_with("coalescope/journal/") {
        let problem = format!("its schema is {:?}", found.schema);
        return Err(Error::Journal { path, problem });
    }
    Err(Error::JournalVersion {
        path,
        found: found.schema,
        known: SCHEMA.to_owned(),
    })
}

fn unwritable(error: &serde_json::Error) -> Error {
    Error::File {
        action: "write a journal".to_owned(),
        problem: error.to_string(),
    }
}
