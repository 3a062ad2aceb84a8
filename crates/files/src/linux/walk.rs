//! Walking a path folder by folder.

use super::inside::open_inside;
use super::{is_trusted, refused};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The kernel's limit of symbolic links.
const MOST_LINKS: u32 = 40;
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The place of a file, with all links resolved.
#[derive(Debug)]
pub(super) struct Place {
    /// Its folder, open.
    pub(super) folder: OwnedFd,
    /// The folder's path.
    pub(super) path: PathBuf,
    /// The file's name in the folder; empty for the root folder.
    pub(super) name: OsString,
    /// The file's status; `None` if there is no file.
    pub(super) there: Option<Stat>,
    /// If folders are missing: the first missing one is `name`, and these are the names after it.
    pub(super) missing: Vec<OsString>,
}

/// Called with every folder on the way, to check it.
pub(super) type Look<'a> = &'a dyn Fn(&Path, &Stat) -> io::Result<()>;

pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    let place = walk(path, &|_, _| Ok(()))?;
    let mut real = place.path.join(&place.name);
    real.extend(place.missing);
    Ok(real)
}

/// Walks to a file. If folders are missing, the walk ends in the last existing one.
pub(super) fn walk(path: &Path, look: Look<'_>) -> io::Result<Place> {
    let absolute = std::path::absolute(path)?;
    let mut walk = Walk::begin(look)?;
    walk.put_before(&absolute);
    while let Some(name) = walk.rest.pop_front() {
        if let Some(place) = walk.step(name)? {
            return Ok(place);
        }
    }
    let there = Some(fstat(&walk.folder)?);
    Ok(Place {
        folder: walk.folder,
        path: walk.path,
        name: OsString::new(),
        there,
        missing: Vec::new(),
    })
}

struct Walk<'a> {
    folder: OwnedFd,
    path: PathBuf,
    rest: VecDeque<OsString>,
    links: u32,
    look: Look<'a>,
}

impl<'a> Walk<'a> {
    fn begin(look: Look<'a>) -> io::Result<Self> {
        let path = PathBuf::from("/");
        let folder = open(&path, LOOK | OFlags::DIRECTORY, Mode::empty())?;
        look(&path, &fstat(&folder)?)?;
        Ok(Self {
            folder,
            path,
            rest: VecDeque::new(),
            links: 0,
            look,
        })
    }

    /// Puts the names of a path before the rest that is still to be walked.
    fn put_before(&mut self, path: &Path) {
        for part in path.components().rev() {
            if let Component::Normal(_) | Component::ParentDir = part {
                self.rest.push_front(part.as_os_str().to_owned());
            }
        }
    }

    fn step(&mut self, name: OsString) -> io::Result<Option<Place>> {
        if name == ".." {
            return self.up();
        }
        let next = match open_inside(&self.folder, &name, LOOK, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Some(self.end(name, None)?)),
            next => next?,
        };
        let about = fstat(&next)?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => self.follow(&name, &next, &about),
            FileType::Directory if !self.rest.is_empty() => self.enter(&name, next, &about),
            _ if self.rest.is_empty() => Ok(Some(self.end(name, Some(about))?)),
            _ => Err(Errno::NOTDIR.into()),
        }
    }

    /// Moves to the parent folder: `..` has no name in a folder.
    fn up(&mut self) -> io::Result<Option<Place>> {
        self.folder = openat(&self.folder, "..", LOOK, Mode::empty())?;
        self.path.pop();
        Ok(None)
    }

    fn enter(&mut self, name: &OsStr, folder: OwnedFd, about: &Stat) -> io::Result<Option<Place>> {
        self.folder = folder;
        self.path.push(name);
        (self.look)(&self.path, about)?;
        Ok(None)
    }

    /// Follows a symbolic link, if its owner is trusted: whoever makes a link chooses where is written.
    fn follow(&mut self, name: &OsStr, link: &OwnedFd, about: &Stat) -> io::Result<Option<Place>> {
        let shown = self.path.join(name);
        if !is_trusted(about) {
            return Err(refused(format!(
                "{} is a link of the user {}, which is not followed: name what is meant itself",
                shown.display(),
                about.st_uid
            )));
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = readlinkat(link, "", Vec::new())?.into_bytes();
        let target = PathBuf::from(OsString::from_vec(target));
        if target.is_absolute() {
            let root = Self::begin(self.look)?;
            (self.folder, self.path) = (root.folder, root.path);
        }
        self.put_before(&target);
        Ok(None)
    }

    fn end(&mut self, name: OsString, there: Option<Stat>) -> io::Result<Place> {
        let missing: Vec<_> = self.rest.drain(..).collect();
        // A missing folder has no parent.
        if missing.iter().any(|name| name == "..") {
            return Err(Errno::NOENT.into());
        }
        Ok(Place {
            folder: self.folder.try_clone()?,
            path: self.path.clone(),
            name,
            there,
            missing,
        })
    }
}
