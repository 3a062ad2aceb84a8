//! Folders of journals.

use super::{Journal, Lock, State, boot_id};
use crate::settings::Error;
use coalescope_files::{self as files, Replacement, Rights};
use nix::unistd::geteuid;
use std::env;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Longest journal that is read.
const LONGEST: u64 = 64 << 20;
/// Others must not write here: values from a journal are written to the kernel.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Only the owner reads a journal.
const OWN_RIGHTS: Rights = Rights::Exactly(0o600);

/// A folder of journals and locks that belongs to us alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

/// What a journal is about, which decides where the journal is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// Settings of the running kernel, which a reboot resets: /run/coalescope.
    Runtime,
    /// Files that `fix --persist` has changed: /var/lib/coalescope, which a reboot keeps.
    Persistent,
}

/// The variable that names the folder of the user's choice.
const OWN: &str = "COALESCOPE_STATE";

impl StoreKind {
    /// The subfolder in the folder of the user's choice, root's folder, and the variable of an
    /// ordinary user's folder.
    fn places(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Runtime => ("", "/run/coalescope", "XDG_RUNTIME_DIR"),
            Self::Persistent => ("persistent", "/var/lib/coalescope", "XDG_STATE_HOME"),
        }
    }
}

/// What is wrong with a relative path in [`OWN`].
const RELATIVE: &str = "COALESCOPE_STATE has a relative path, which is another folder for whoever runs \
    `coalescope undo` from elsewhere: name it from / on";

/// The folder that a variable names.
fn named(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The folder that a variable of XDG names; a relative path is void ("consider the path invalid and ignore it", XDG Base
/// Directory Specification).
fn folder(variable: &str) -> Option<PathBuf> {
    named(variable).filter(|path| path.is_absolute())
}

/// Folders that may hold journals.
fn candidates() -> Vec<PathBuf> {
    let kinds = [StoreKind::Runtime, StoreKind::Persistent].map(StoreKind::places);
    let own = folder(OWN);
    let own = kinds
        .iter()
        .filter_map(|(inner, ..)| Some(own.as_ref()?.join(inner)));
    let is_root = geteuid().is_root();
    let system = kinds
        .iter()
        .filter(|_| is_root)
        .map(|(_, system, _)| PathBuf::from(system));
    let user = kinds
        .iter()
        .filter_map(|(.., user)| Some(folder(user)?.join("coalescope")));
    // With `sudo -E` the variables are those of another user.
    let is_ours =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.uid() == geteuid().as_raw());
    own.chain(system).chain(user.filter(is_ours)).collect()
}

impl Store {
    /// The usual place. For settings of the running kernel: `$COALESCOPE_STATE`, /run/coalescope,
    /// or without root (or where /run is read-only) `$XDG_RUNTIME_DIR/coalescope`. For files:
    /// `$COALESCOPE_STATE/persistent`, /var/lib/coalescope, or `$XDG_STATE_HOME/coalescope`.
    pub fn usual(kind: StoreKind) -> Result<Self, Error> {
        let (own, system, user) = kind.places();
        match named(OWN) {
            Some(path) if path.is_absolute() => return Self::at(&path.join(own)),
            Some(path) => return Err(unsafe_place(&path, RELATIVE)),
            None => {}
        }
        let root = geteuid().is_root().then(|| Self::at(Path::new(system)));
        let path = folder(user).map(|path| path.join("coalescope"));
        match (root, path) {
            (Some(Ok(store)), _) => Ok(store),
            (_, Some(path)) => Self::at(&path),
            (Some(error), None) => error,
            (None, None) => Err(unsafe_place(
                Path::new(system),
                &format!(
                    "only root may write there, and {user}, the place for other users, is not set"
                ),
            )),
        }
    }

    /// A folder; it is made with mode 0700 if it is not there, and refused if others can write to it
    /// or put another one in its place.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let own = files::private(path).map_err(|error| unsafe_place(path, &error.to_string()))?;
        Ok(Self { path: own })
    }

    /// Every existing folder that may hold journals, or the reason why it cannot be used: that of
    /// `$COALESCOPE_STATE`, root's, and the user's own. Folders of other users are not looked at.
    #[must_use]
    pub fn everywhere() -> Vec<Result<Self, Error>> {
        let relative = named(OWN).filter(|path| path.is_relative());
        let relative = relative.map(|path| {
            Err(Error::StoreUnread {
                path: path.display().to_string(),
                problem: RELATIVE.to_owned(),
            })
        });
        let mut found: Vec<Result<Self, Error>> = relative.into_iter().collect();
        for path in candidates() {
            let is_known = |known: &Result<Self, Error>| {
                known
                    .as_ref()
                    .is_ok_and(|known| path.canonicalize().is_ok_and(|path| path == known.path))
            };
            if !fs::exists(&path).unwrap_or(true) || found.iter().any(is_known) {
                continue;
            }
            found.push(Self::readable(&path).map_err(|problem| Error::StoreUnread {
                path: path.display().to_string(),
                problem,
            }));
        }
        found
    }

    fn readable(path: &Path) -> Result<Self, String> {
        let path = files::existing(path).map_err(|error| error.to_string())?;
        fs::read_dir(&path).map_err(|error| error.to_string())?;
        Ok(Self { path })
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a journal's file.
    #[must_use]
    pub fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}.json"))
    }

    /// Writes a journal. After a power cut there is either this version or the one before,
    /// complete. When this returns, the journal is on disk.
    pub fn write(&self, journal: &Journal) -> Result<(), Error> {
        let (file, bytes) = (self.file(&journal.id), journal.encode()?);
        let beside = self.beside(&journal.id);
        let replacement = Replacement {
            beside: beside.file_name(),
            ..Replacement::of(&file, OWN_RIGHTS)
        };
        let written = files::replace(&replacement, |to| to.write_all(&bytes));
        written.map(drop).map_err(Error::file("write", &file))
    }

    /// Reads a journal.
    pub fn read(&self, id: &str) -> Result<Journal, Error> {
        let path = self.file(id);
        let about = fs::symlink_metadata(&path).map_err(Error::file("read", &path))?;
        let problem = if !about.is_file() {
            "it is not a file"
        } else if about.len() > LONGEST {
            "it is too long"
        } else if about.uid() != geteuid().as_raw() || about.mode() & WRITABLE_BY_OTHERS != 0 {
            "others can write to it"
        } else {
            let bytes = fs::read(&path).map_err(Error::file("read", &path))?;
            return Journal::decode(&bytes, &path);
        };
        Err(Error::Journal {
            path: path.display().to_string(),
            problem: problem.to_owned(),
        })
    }

    /// Names of all journals, the newest first as far as their names show.
    pub fn list(&self) -> Result<Vec<String>, Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::file("list", &self.path))?;
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = name.strip_suffix(".json")?;
            is_id(id).then(|| id.to_owned())
        });
        let mut names: Vec<_> = names.collect();
        names.sort_by(|one, two| two.cmp(one));
        Ok(names)
    }

    /// Removes a journal and an incomplete copy of it. A missing journal is no error.
    pub fn remove(&self, id: &str) -> Result<(), Error> {
        let _ = fs::remove_file(self.beside(id));
        let file = self.file(id);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::file("remove", &file)(error))
            }
            _ => files::sync_folder_of(&file).map_err(Error::file("sync", &self.path)),
        }
    }

    /// Takes the lock of a journal, held by whoever changes the journal.
    pub(crate) fn lock(&self, id: &str, holder: &str) -> Result<Lock, Error> {
        Lock::take(
            self,
            &format!("journal-{id}"),
            &format!("the journal {id}"),
            holder,
        )
    }

    /// Whether a command is at work with a journal.
    #[must_use]
    pub(crate) fn is_in_use(&self, id: &str) -> bool {
        Lock::is_held(self, &format!("journal-{id}"))
    }

    /// Journals of commands that were killed, with something left to restore. Kept changes do not
    /// count, nor do settings that a reboot has reset.
    pub fn left(&self) -> Result<Vec<Journal>, Error> {
        let boot = boot_id()?;
        let journals = self
            .list()?
            .into_iter()
            .filter_map(|id| self.read(&id).ok());
        let is_left = |journal: &Journal| {
            journal.state != State::Kept
                && !self.is_in_use(&journal.id)
                && (journal.boot_id == boot
                    || !journal.files.is_empty()
                    || !journal.commands.is_empty())
        };
        Ok(journals.filter(is_left).collect())
    }

    /// The path for the earlier contents of a file that has to be restored by hand.
    pub(crate) fn copy(&self, id: &str, number: usize) -> PathBuf {
        self.path.join(format!("{id}.before-{number}"))
    }

    /// Writes the earlier contents of a file that has to be restored by hand.
    pub(crate) fn write_copy(
        &self,
        id: &str,
        number: usize,
        bytes: &[u8],
    ) -> Result<PathBuf, Error> {
        let copy = self.copy(id, number);
        let written = files::replace(&Replacement::of(&copy, OWN_RIGHTS), |to| {
            to.write_all(bytes)
        });
        written.map_err(Error::file("write", &copy))?;
        Ok(copy)
    }

    fn beside(&self, id: &str) -> PathBuf {
        self.path.join(format!(".{id}.json.new"))
    }
}

/// Whether a name has the form of [`begin`](super::begin): other files may be in the folder.
fn is_id(name: &str) -> bool {
    let (time, process) = name.split_once('-').unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(time) && is_number(process)
}

fn unsafe_place(path: &Path, problem: &str) -> Error {
    Error::Store {
        path: path.display().to_string(),
        problem: problem.to_owned(),
    }
}
