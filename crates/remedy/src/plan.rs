//! Changes of files, refused wishes, and whether wishes hold already.

use crate::device::Device;
use crate::error::Error;
use crate::model::{Manager, Reload, Wish};
use crate::tree::{Tree, Written};
use crate::{manager, owner};
use coalescope_change::restore::FileWrite;
use coalescope_host::safe;
use schemars::JsonSchema;
use serde::Serialize;
use similar::TextDiff;
use std::path::{Path, PathBuf};

/// Files that would change so that wishes last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Plan {
    /// The files; empty if all of it is so already, or refused.
    pub files: Vec<FileChange>,
    /// What makes their managers read them, for whoever does not want to wait for the next start.
    pub reload: Vec<Reload>,
    /// What cannot be made to last here.
    pub refused: Vec<Refused>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// Where it really is, below the root that was given.
    pub path: PathBuf,
    /// As it is now; `None` if it is new.
    #[serde(skip)]
    pub before: Option<Vec<u8>>,
    /// As it would be.
    #[serde(skip)]
    pub after: Vec<u8>,
    /// Permissions if it is new; one that is there keeps its own.
    pub mode_if_new: u32,
    /// Whose file it is.
    pub owner: Manager,
    /// Why this file.
    pub why: String,
    /// The change as a unified diff, with paths as the machine has them.
    pub diff: String,
}

/// A wish that cannot be made to last here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    /// The wish.
    pub wish: Wish,
    /// Why not.
    pub why: String,
    /// What to do instead.
    pub what_to_do: String,
}

/// Whether files say what was wished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Held {
    /// The wish.
    pub wish: Wish,
    /// They do.
    pub persistent: bool,
    /// The file that has the last word, or would have; `None` if no file can be named.
    pub at: Option<PathBuf>,
    /// How that is known.
    pub why: String,
}

impl Plan {
    /// All changes as one unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        self.files.iter().map(|file| file.diff.as_str()).collect()
    }

    /// The files as `restore::apply_files` of coalescope-change takes them.
    #[must_use]
    pub fn writes(&self) -> Vec<FileWrite> {
        let write = |file: &FileChange| FileWrite {
            path: file.path.clone(),
            before: file.before.clone(),
            bytes: file.after.clone(),
            mode_if_new: file.mode_if_new,
        };
        self.files.iter().map(write).collect()
    }
}

/// Which files would have to change so that wishes hold after every start of the machine whose files
/// are below `root`. Wishes that hold already need none. Nothing is changed.
#[must_use]
pub fn plan(root: &Path, wishes: &[Wish]) -> Plan {
    let mut tree = Tree::new(root);
    let mut plan = Plan::default();
    for wish in wishes {
        match grant(&tree, wish) {
            Ok(None) => {}
            Ok(Some((granted, reload))) => {
                tree = granted;
                let new = reload.into_iter();
                let new: Vec<_> = new.filter(|one| !plan.reload.contains(one)).collect();
                plan.reload.extend(new);
            }
            Err(error) => plan.refused.push(Refused {
                wish: wish.clone(),
                why: error.to_string(),
                what_to_do: error.what_to_do(),
            }),
        }
    }
    for (path, written) in tree.written() {
        plan.files.extend(change(&tree, path, written));
    }
    plan
}

/// The tree with a wish granted; `None` if it holds already.
fn grant(tree: &Tree, wish: &Wish) -> Result<Option<(Tree, Vec<Reload>)>, Error> {
    let device = device(tree, wish)?;
    let found = owner::detect(tree, &device)?;
    let configured = manager::configured(&found.owner, tree, &device, &wish.feature)?;
    if configured.on == Some(wish.on) {
        return Ok(None);
    }
    let mut granted = tree.clone();
    manager::set(&found.owner, &mut granted, &device, &wish.feature, wish.on)?;
    // The owner's file may be another one now.
    let owner = owner::detect(&granted, &device)?.owner;
    let configured = manager::configured(&owner, &granted, &device, &wish.feature)?;
    if configured.on == Some(wish.on) {
        let reload = manager::reload(&owner, &wish.interface);
        return Ok(Some((granted, reload)));
    }
    Err(Error::Overridden {
        path: configured.at.unwrap_or(found.file),
        feature: wish.feature.clone(),
    })
}

fn device(tree: &Tree, wish: &Wish) -> Result<Device, Error> {
    match &wish.namespace {
        None if is_in_files(&wish.interface) => Device::read(tree, &wish.interface),
        None => Err(Error::OddName(wish.interface.clone())),
        Some(namespace) => Err(Error::InNamespace {
            interface: wish.interface.clone(),
            namespace: namespace.clone(),
        }),
    }
}

/// Whether a name can stand in any manager's file as it is: some are run by a shell, others have quotes,
/// sections and comments of their own, and names of files are made of it.
fn is_in_files(name: &str) -> bool {
    safe::is_plain(name) && !name.contains('/')
}

fn change(tree: &Tree, path: &Path, written: &Written) -> Option<FileChange> {
    let before = tree.on_disk(path).ok()?;
    if before.as_ref() == Some(&written.text) {
        return None;
    }
    Some(FileChange {
        path: tree.real(path),
        diff: diff(path, before.as_deref(), &written.text),
        before: before.map(String::into_bytes),
        after: written.text.clone().into_bytes(),
        mode_if_new: written.mode_if_new,
        owner: written.manager,
        why: written.why.clone(),
    })
}

fn diff(path: &Path, before: Option<&str>, after: &str) -> String {
    let path = path.display();
    let from = before.map_or_else(|| "/dev/null".to_owned(), |_| format!("a{path}"));
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
    diff.unified_diff()
        .header(&from, &format!("b{path}"))
        .to_string()
}

/// Whether the files of a machine below `root` say what was wished, one answer a wish. What the
/// interfaces are set to now is not looked at.
#[must_use]
pub fn holds(root: &Path, wishes: &[Wish]) -> Vec<Held> {
    let tree = Tree::new(root);
    wishes.iter().map(|wish| hold(&tree, wish)).collect()
}

fn hold(tree: &Tree, wish: &Wish) -> Held {
    let configured = device(tree, wish).and_then(|device| {
        let found = owner::detect(tree, &device)?;
        let configured = manager::configured(&found.owner, tree, &device, &wish.feature)?;
        Ok((found, configured))
    });
    let (persistent, at, why) = match configured {
        Err(error) => (false, None, error.to_string()),
        Ok((found, configured)) => {
            let is_as_wished = configured.on == Some(wish.on);
            (
                is_as_wished,
                configured.at,
                words(configured.on, wish, &found.reason),
            )
        }
    };
    Held {
        wish: wish.clone(),
        persistent,
        at,
        why,
    }
}

fn words(on: Option<bool>, wish: &Wish, reason: &str) -> String {
    let word = crate::shell::word;
    match on {
        None => format!("nothing there settles {}; {reason}", wish.feature),
        Some(on) => format!("{} is {} there; {reason}", wish.feature, word(on)),
    }
}
