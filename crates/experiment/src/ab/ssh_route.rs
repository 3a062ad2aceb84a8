//! Whether the user's own ssh session goes over an interface that is changed.

use super::Error;
use coalescope_change::settings::{Setting, Space, What, read_named, related};
use coalescope_netlink::route::Route;
use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;

/// The variable that sshd(8) sets: the client's address and port, then the server's.
const SESSION: &str = "SSH_CONNECTION";
/// How many ancestors are searched for the variable, which sudo(8) removes.
const ANCESTORS: usize = 32;

/// The other end of the ssh session that this process is run in, if there is one.
#[must_use]
pub fn session_address() -> Option<IpAddr> {
    let own = std::env::var(SESSION).ok();
    own.or_else(of_ancestors)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn of_ancestors() -> Option<String> {
    let mut pid = std::process::id().to_string();
    for _ in 0..ANCESTORS {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let found = environment.split(|&byte| byte == 0).find_map(|variable| {
            let text = std::str::from_utf8(variable).ok()?;
            text.strip_prefix(SESSION)?.strip_prefix('=')
        });
        if let Some(found) = found {
            return Some(found.to_owned());
        }
        pid = parent(&pid)?;
    }
    None
}

/// The field after the state, which follows the name in its last bracket (proc(5)).
fn parent(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_owned())
}

/// The settings of interfaces on the route to `address`, or of interfaces above or beneath these.
///
/// # Errors
///
/// If interfaces or routes cannot be read.
pub fn at_risk(settings: &[Setting], address: IpAddr) -> Result<Vec<String>, Error> {
    let space = Space::open(None)?;
    let on_the_way: BTreeSet<u32> = space
        .run(|| Ok(Route::open()?.interfaces_to(address)?))?
        .into_iter()
        .collect();
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
