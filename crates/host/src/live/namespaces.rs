//! Which network namespaces there are, and under which names.

use super::Options;
use super::identity::Identity;
use super::processes::{self, pids};
use super::unread::{Unreads, denied, why};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where ip-netns(8) keeps names.
const NAMED: &str = "/run/netns";
/// Name of the snapshot's main namespace, as seen from another one.
pub(super) const MAIN: &str = "host";
/// What one is called that only processes hold: the lowest of them is behind this.
const PID: &str = "pid ";

/// A namespace to look into.
#[derive(Debug)]
pub(super) struct Space {
    /// Its name; `None` is the main one.
    pub(super) key: Option<String>,
    pub(super) identity: Option<Identity>,
    /// The file that stands for it; `None` is where we are.
    pub(super) path: Option<PathBuf>,
}

impl Space {
    /// Where it is, in words.
    pub(super) fn place(&self) -> String {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        self.key.clone().or(path).unwrap_or_else(|| MAIN.to_owned())
    }

    /// Whether the file that stood for it does no more.
    pub(super) fn is_gone(&self) -> bool {
        let now = self.path.as_deref().map(identity);
        now.is_some_and(|now| now != self.identity)
    }

    pub(super) fn name(&self) -> &str {
        self.key.as_deref().unwrap_or(MAIN)
    }
}

/// All known namespaces.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    /// Those that are looked into, the main one first.
    pub(super) collected: Vec<Space>,
    /// Names and files of all, to name what is at the other end of a link.
    pub(super) known: BTreeMap<Identity, Known>,
}

impl Spaces {
    /// All that are known, the main one first: most links into another namespace lead there.
    pub(super) fn main_first(&self) -> impl Iterator<Item = (&Identity, &Known)> {
        let main = |known: &Known| known.name == MAIN;
        let first = self.known.iter().filter(move |(_, known)| main(known));
        first.chain(self.known.iter().filter(move |(_, known)| !main(known)))
    }
}

/// A namespace that has a name here.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Known {
    /// Opens the file that stands for it, if it still does: a process may have ended, and its number
    /// be another's.
    pub(super) fn open(&self, identity: Identity) -> Option<File> {
        let file = File::open(&self.path).ok()?;
        let opened = file.metadata().ok()?;
        ((opened.dev(), opened.ino()) == identity).then_some(file)
    }
}

/// Finds the namespaces to look into, and the names of the others.
pub(super) fn find(options: &Options, unread: &mut Unreads) -> Spaces {
    let mut spaces = Spaces::default();
    let main = main_path(options);
    spaces.collected.push(Space {
        key: None,
        identity: identity(&main),
        path: options.netns.is_some().then(|| main.clone()),
    });
    know(&mut spaces, MAIN.to_owned(), &main);
    know_named(&mut spaces, unread);
    let hidden = know_unnamed(&mut spaces);
    if options.all_netns {
        collect_others(&mut spaces);
        if !hidden.is_empty() {
            let spaces = if hidden.len() == 1 {
                "namespace"
            } else {
                "namespaces"
            };
            let what = format!("network {spaces} of {}", processes::named(&hidden));
            unread.note(what, denied());
        }
    }
    spaces
}

fn main_path(options: &Options) -> PathBuf {
    match &options.netns {
        None => own_path(),
        Some(path) if path.contains('/') => PathBuf::from(path),
        Some(name) => Path::new(NAMED).join(name),
    }
}

/// The file that stands for a namespace, by the name that a snapshot with these options has for it; the main one has none.
#[must_use]
pub fn namespace_file(name: Option<&str>, options: &Options) -> PathBuf {
    match name {
        None | Some(MAIN) => main_path(options),
        Some(name) => match name.strip_prefix(PID) {
            Some(pid) => of_process(pid),
            None => Path::new(NAMED).join(name),
        },
    }
}

fn of_process(pid: &str) -> PathBuf {
    Path::new("/proc").join(pid).join("ns/net")
}

/// That of the calling thread, by a path that other threads can use while it waits for them.
fn own_path() -> PathBuf {
    let thread = fs::read_link("/proc/thread-self").unwrap_or_else(|_| "thread-self".into());
    Path::new("/proc").join(thread).join("ns/net")
}

fn identity(path: &Path) -> Option<Identity> {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// The first name of a namespace is its name.
fn know(spaces: &mut Spaces, name: String, path: &Path) {
    let Some(identity) = identity(path) else {
        return;
    };
    if spaces.known.contains_key(&identity) {
        return;
    }
    let path = path.to_owned();
    spaces.known.insert(identity, Known { name, path });
}

fn know_named(spaces: &mut Spaces, unread: &mut Unreads) {
    let entries = match fs::read_dir(NAMED) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => return unread.note(NAMED, why(&error)),
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let path = Path::new(NAMED).join(&name);
        know(spaces, name.to_string_lossy().into_owned(), &path);
    }
}

/// Namespaces that only processes hold, by the lowest of them. Gives the processes that do not let us
/// look: those of other users, without root.
fn know_unnamed(spaces: &mut Spaces) -> Vec<u32> {
    let mut hidden = Vec::new();
    for pid in pids() {
        let path = of_process(&pid.to_string());
        match fs::metadata(&path) {
            Ok(_) => know(spaces, format!("{PID}{pid}"), &path),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => hidden.push(pid),
            Err(_) => {}
        }
    }
    hidden
}

fn collect_others(spaces: &mut Spaces) {
    let main = spaces.collected.first().and_then(|space| space.identity);
    let others = spaces
        .known
        .iter()
        .filter(|(identity, known)| Some(**identity) != main && known.name != MAIN);
    let others = others.map(|(identity, known)| Space {
        key: Some(known.name.clone()),
        identity: Some(*identity),
        path: Some(known.path.clone()),
    });
    let others: Vec<_> = others.collect();
    spaces.collected.extend(others);
}
