//! Whether the user's own ssh session goes over an interface that is changed.

use super::Error;
use coalescope_change::settings::{Setting, Space, What, read_named, related};
use coalescope_netlink::route::Route;
use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The variable that sshd(8) sets: the client's address and port, then the server's.
const SESSION: &str = "SSH_CONNECTION";
/// How many ancestors are searched for the variable, which sudo(8) removes.
const ANCESTORS: usize = 32;

/// The other end of the ssh session that this process is run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    address: IpAddr,
    /// The interface of a link-local address, which sshd writes behind a `%` (getnameinfo(3)): its name, or its number
    /// where it has none.
    zone: Option<String>,
}

impl Session {
    /// The session, if there is one over interfaces of this process's network namespace.
    #[must_use]
    pub fn own() -> Option<Self> {
        let own = std::env::var(SESSION).ok();
        let all: Vec<(PathBuf, String)> = ancestors().collect();
        let text = own.or_else(|| Some(all.first()?.1.clone()))?;
        // The outermost process of the session is in the namespace that sshd has accepted the connection in.
        let outermost = all.iter().rfind(|(_, known)| *known == text);
        if outermost.is_some_and(|(process, _)| is_elsewhere(process)) {
            return None;
        }
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let client = text.split_whitespace().next()?;
        let (address, zone) = match client.split_once('%') {
            Some((address, zone)) => (address, Some(zone.to_owned())),
            None => (client, None),
        };
        Some(Self {
            address: address.parse().ok()?,
            zone,
        })
    }

    /// The interfaces among settings that are on the way to the client, or above or beneath one that is.
    ///
    /// # Errors
    ///
    /// If interfaces or routes cannot be read.
    pub fn at_risk(&self, settings: &[Setting]) -> Result<Vec<String>, Error> {
        let space = Space::open(None)?;
        let on_the_way = self.on_the_way(&space)?;
        let mut names = BTreeSet::new();
        for setting in settings {
            let (None, What::Interface { name, .. }) =
                (&setting.subject.namespace, &setting.subject.what)
            else {
                continue;
            };
            let index = read_named(&space, name)?.index;
            let mut touched = related(&space, index)?;
            touched.insert(index);
            if !touched.is_disjoint(&on_the_way) {
                names.insert(name.clone());
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Numbers of the interfaces that frames to the client leave by. Without a route there are none: the session goes
    /// over another namespace.
    fn on_the_way(&self, space: &Space) -> Result<BTreeSet<u32>, Error> {
        space
            .run(|| {
                let route = Route::open()?;
                let Some(zone) = &self.zone else {
                    return Ok(match route.interfaces_to(self.address) {
                        Err(error) if error.is_unreachable() => BTreeSet::new(),
                        found => found?.into_iter().collect(),
                    });
                };
                let links = route.links()?.into_iter();
                let of_zone =
                    links.filter(|link| link.name == *zone || link.index.to_string() == *zone);
                Ok(of_zone.map(|link| link.index).collect())
            })
            .map_err(Error::from)
    }
}

impl Display for Session {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.address)?;
        match &self.zone {
            Some(zone) => write!(to, "%{zone}"),
            None => Ok(()),
        }
    }
}

/// This process and those above it that have the variable, with its value.
fn ancestors() -> impl Iterator<Item = (PathBuf, String)> {
    let own = Some(std::process::id().to_string());
    let all = std::iter::successors(own, |pid| parent(pid)).take(ANCESTORS);
    all.filter_map(|pid| {
        let process = Path::new("/proc").join(&pid);
        Some((process.clone(), variable(&process)?))
    })
}

fn variable(process: &Path) -> Option<String> {
    let environment = fs::read(process.join("environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|variable| {
        let text = std::str::from_utf8(variable).ok()?;
        let value = text.strip_prefix(SESSION)?.strip_prefix('=')?;
        Some(value.to_owned())
    })
}

/// Whether a process is in another network namespace; not where nobody may know.
fn is_elsewhere(process: &Path) -> bool {
    let namespace = |of: &Path| fs::read_link(of.join("ns/net")).ok();
    let here = namespace(Path::new("/proc/thread-self"));
    let there = namespace(process);
    here.is_some() && there.is_some() && here != there
}

/// The field after the state, which follows the name in its last bracket (proc(5)).
fn parent(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_of_a_link_local_address_is_part_of_the_session() {
        let session = |text| Session::parse(text).map(|session| session.to_string());
        let texts = [
            ("192.0.2.7 50022 192.0.2.1 22", Some("192.0.2.7")),
            ("fe80::1%br0 1 fe80::2%br0 22", Some("fe80::1%br0")),
            ("fe80::1%3 1 fe80::2%3 22", Some("fe80::1%3")),
            ("garbage", None),
            ("", None),
        ];
        for (text, expected) in texts {
            assert_eq!(session(text).as_deref(), expected, "{text}");
        }
    }
}
