//! A network namespace as the place where settings are.

use super::Error;
use coalescope_netlink::namespace::{Namespace, cookie};
use coalescope_netlink::route::{Link, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The namespace of the calling thread.
const HERE: &str = "/proc/thread-self/ns/net";
const NAMED: &str = "/run/netns";

/// Which namespace: names and inode numbers are given anew, a cookie is not while the machine runs.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct NamespaceId {
    /// Its name in /run/netns; `None` is the one that the command ran in.
    pub name: Option<String>,
    /// Its inode number, by which the kernel knows it.
    pub inode: u64,
    /// Its cookie (`SO_NETNS_COOKIE`); `None` before Linux 5.14, and where one may not look.
    #[serde(default)]
    pub cookie: Option<u64>,
}

impl NamespaceId {
    /// Whether both are one namespace: by the cookie, or by the inode where the kernel has none.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.cookie == other.cookie && (self.cookie.is_some() || self.inode == other.inode)
    }

    /// The namespace's part in names of locks.
    pub(crate) fn key(&self) -> String {
        match self.cookie {
            Some(cookie) => format!("netns{cookie}"),
            None => format!("net{}", self.inode),
        }
    }
}

/// An open network namespace. A named one is kept alive by this value.
#[derive(Debug)]
pub struct Space {
    id: NamespaceId,
    room: Option<Namespace>,
    shows_sys: bool,
}

impl Space {
    /// Opens a namespace by its name, or the one of the calling thread.
    pub fn open(name: Option<&str>) -> Result<Self, Error> {
        let path = name.map_or_else(|| PathBuf::from(HERE), |name| Path::new(NAMED).join(name));
        let inode = inode(&path, name)?;
        let mut id = NamespaceId {
            name: name.map(str::to_owned),
            inode,
            cookie: None,
        };
        if name.is_none() {
            id.cookie = cookie()?;
            if sys_shows_this()? {
                return Ok(Self {
                    id,
                    room: None,
                    shows_sys: true,
                });
            }
        }
        Self::with_room(id, &path)
    }

    /// Opens the namespace of a journal; another one of the same name is an error.
    pub fn find(id: &NamespaceId) -> Result<Self, Error> {
        let space = Self::open(id.name.as_deref())?;
        if space.id.is_same(id) {
            return Ok(space);
        }
        let name = id.name.clone();
        Err(Error::NamespaceGone {
            detail: match name {
                Some(_) => "the one of that name now is another".to_owned(),
                None => "this is another one; run it where the command ran".to_owned(),
            },
            namespace: name.unwrap_or_else(|| format!("net:[{}]", id.inode)),
        })
    }

    fn with_room(mut id: NamespaceId, path: &Path) -> Result<Self, Error> {
        match Namespace::open(path) {
            Ok(room) => {
                id.cookie = room.enter(cookie)??;
                Ok(Self {
                    id,
                    shows_sys: room.shows_sys().is_ok(),
                    room: Some(room),
                })
            }
            // Without rights, the namespace of this process can still be read.
            Err(error) if id.name.is_none() && error.is_denied() => Ok(Self {
                id,
                room: None,
                shows_sys: false,
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// The identity of the namespace.
    #[must_use]
    pub fn id(&self) -> &NamespaceId {
        &self.id
    }

    /// Whether /sys shows the interfaces of this namespace to a thread in it.
    pub(crate) fn shows_sys(&self) -> bool {
        self.shows_sys
    }

    /// Runs `work` in the namespace.
    ///
    /// # Errors
    ///
    /// Errors of `work`, or if the namespace cannot be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        match &self.room {
            None => work(),
            Some(room) => room.enter(work)?,
        }
    }
}

fn inode(path: &Path, name: Option<&str>) -> Result<u64, Error> {
    let found = fs::metadata(path);
    found
        .map(|file| file.ino())
        .map_err(|error| Error::NamespaceGone {
            namespace: name.unwrap_or("of this process").to_owned(),
            detail: format!("{}: {error}; see `ip netns list`", path.display()),
        })
}

/// Whether /sys shows this namespace. It shows the one in which it was mounted (`nsenter --net`
/// does not change this): writing there could change an interface of the same name elsewhere.
fn sys_shows_this() -> Result<bool, Error> {
    let links = Route::open()?.links()?;
    let ours: BTreeSet<_> = links.iter().map(identity).collect();
    let Ok(list) = fs::read_dir("/sys/class/net") else {
        return Ok(false);
    };
    let folders = list.flatten().filter(|entry| entry.path().is_dir());
    let shown: BTreeSet<_> = folders.filter_map(|entry| shown(&entry.path())).collect();
    Ok(ours == shown)
}

fn identity(link: &Link) -> (String, u32, String) {
    (link.name.clone(), link.index, mac_text(&link.address))
}

fn shown(folder: &Path) -> Option<(String, u32, String)> {
    let name = folder.file_name()?.to_str()?.to_owned();
    let index = fs::read_to_string(folder.join("ifindex")).ok()?;
    let address = fs::read_to_string(folder.join("address")).ok()?;
    Some((name, index.trim().parse().ok()?, address.trim().to_owned()))
}

/// A hardware address in the usual notation.
pub(super) fn mac_text(address: &[u8]) -> String {
    let bytes: Vec<_> = address.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(":")
}
