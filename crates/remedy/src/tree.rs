//! Files below a root, and over them those that a plan would write: what is read next sees both.

use crate::error::Error;
use crate::model::Manager;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Longest file that is read: dpkg's list of packages is by far the longest.
const LONGEST: u64 = 32 << 20;
/// Links that are followed, as the kernel does.
const LINKS: usize = 40;

/// What a plan would write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) mode_if_new: u32,
    pub(crate) manager: Manager,
    pub(crate) why: String,
}

/// A machine's files. Paths are absolute, as that machine has them.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    written: BTreeMap<PathBuf, Written>,
}

impl Tree {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            written: BTreeMap::new(),
        }
    }

    /// The path of a file below the root.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn write(&mut self, path: PathBuf, written: Written) {
        self.written.insert(path, written);
    }

    pub(crate) fn written(&self) -> impl Iterator<Item = (&Path, &Written)> {
        self.written
            .iter()
            .map(|(path, written)| (path.as_path(), written))
    }

    /// Whether a path exists, even as a dangling link.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.written.contains_key(path) || fs::symlink_metadata(self.real(path)).is_ok()
    }

    /// Whether a path is a folder.
    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        fs::metadata(self.real(&self.target(path))).is_ok_and(|about| about.is_dir())
    }

    /// A file's text; `None` if it is not there.
    pub(crate) fn text(&self, path: &Path) -> Result<Option<String>, Error> {
        match self.written.get(path) {
            Some(written) => Ok(Some(written.text.clone())),
            None => self.on_disk(path),
        }
    }

    /// The text on disk, whatever the plan would write.
    pub(crate) fn on_disk(&self, path: &Path) -> Result<Option<String>, Error> {
        let unreadable = |problem: String| Error::Unreadable {
            path: path.to_owned(),
            problem,
        };
        let real = self.real(&self.target(path));
        let about = match fs::metadata(&real) {
            Err(error) if is_missing(error.kind()) => return Ok(None),
            about => about.map_err(|error| unreadable(error.to_string()))?,
        };
        if about.len() > LONGEST {
            return Err(unreadable("it is longer than 32 MiB".to_owned()));
        }
        // A pipe without a writer would block for ever. A link to /dev/null masks a file.
        if !about.is_file() && !real.ends_with("dev/null") {
            return Err(unreadable("it is not a plain file".to_owned()));
        }
        let bytes = fs::read(&real).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::Damaged {
            path: path.to_owned(),
            problem: "it is not UTF-8".to_owned(),
        })?;
        Ok(Some(text))
    }

    /// A line of a small file, for what the kernel and daemons say of themselves.
    pub(crate) fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.text(path.as_ref()).ok()??;
        Some(text.trim().to_owned())
    }

    /// Names in a folder, in order; none if it is not there.
    pub(crate) fn names(&self, folder: &Path) -> Vec<String> {
        let list = fs::read_dir(self.real(folder));
        let on_disk = list.into_iter().flatten().flatten();
        let mut names: Vec<_> = on_disk
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        let written = self.written.keys();
        let written = written.filter(|path| path.parent() == Some(folder));
        names.extend(written.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
        names.sort();
        names.dedup();
        names
    }

    /// Behind links of the last part, which lead from this root and not from ours.
    fn target(&self, path: &Path) -> PathBuf {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let Ok(link) = fs::read_link(self.real(&path)) else {
                break;
            };
            path = plain(&path.parent().unwrap_or(Path::new("/")).join(link));
        }
        path
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The path without `..`, which must not lead out of the root.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain
}
