//! Sysctls of a namespace.

use super::parse::{dotted, sysctl_path};
use super::state::device;
use super::{Error, Space};
use coalescope_host::glob;
use std::fs;
use std::io::ErrorKind;

/// Writing these sysctls writes others as well, or loses addresses, and writing them back does not undo that.
const SPREADS: [(&str, &str); 6] = [
    (
        "net/ipv4/ip_forward",
        "it resets the settings of all interfaces and turns their LRO off",
    ),
    (
        "net/ipv4/conf/*/forwarding",
        "it turns LRO off and writes to other interfaces",
    ),
    ("net/ipv4/conf/all/*", "it writes to all interfaces"),
    ("net/ipv6/conf/all/*", "it writes to all interfaces"),
    (
        "net/ipv6/conf/*/disable_ipv6",
        "it takes addresses and routes away",
    ),
    (
        "net/ipv6/conf/*/forwarding",
        "it drops routes that were learned",
    ),
];

/// The value, without the newline.
pub(crate) fn read(space: &Space, key: &str) -> Result<String, Error> {
    sysctl_path(key).map_err(|problem| not_reversible(key, problem))?;
    let path = path(key);
    let text = space.run(|| Ok(fs::read_to_string(&path)))?;
    text.map(|text| text.trim_end().to_owned())
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
                Error::UnknownSysctl {
                    key: dotted(key),
                    namespace: space.id().name.clone(),
                }
            }
            ErrorKind::PermissionDenied => Error::NoRights {
                message: format!("cannot read {path}, so that it could not be restored: {error}"),
            },
            _ => not_reversible(key, &format!("it cannot be read: {error}")),
        })
}

/// Writes a value; the inner error is a refusal, in the kernel's words.
pub(crate) fn write(space: &Space, key: &str, value: &str) -> Result<Result<(), String>, Error> {
    let path = path(key);
    let done = space.run(|| Ok(fs::write(&path, value)))?;
    match done {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(Error::NoRights {
            message: format!("cannot write {path}: {error}; run as root"),
        }),
        done => Ok(done.map_err(|error| format!("{path}: {error}"))),
    }
}

/// The inode in /sys of the interface that is named in a path, if one is and can be seen.
pub(crate) fn owner(space: &Space, key: &str) -> Result<Option<u64>, Error> {
    let parts: Vec<_> = key.split('/').collect();
    match parts[..] {
        ["net", _, "conf" | "neigh", name, _] if space.shows_sys() => {
            space.run(|| Ok(device(name)))
        }
        _ => Ok(None),
    }
}

/// Refuses a sysctl that is known to change more than itself.
pub(super) fn check(key: &str) -> Result<(), Error> {
    let found = SPREADS.iter().find(|(pattern, _)| matches(key, pattern));
    found.map_or(Ok(()), |(_, why)| Err(not_reversible(key, why)))
}

/// Whether two values are equal; several numbers may be separated by spaces or tabs.
pub(crate) fn is_same(one: &str, two: &str) -> bool {
    one.split_whitespace().eq(two.split_whitespace())
}

fn matches(key: &str, pattern: &str) -> bool {
    let alike = |(part, wanted): (&str, &str)| glob::fits(wanted, part);
    key.split('/').count() == pattern.split('/').count()
        && key.split('/').zip(pattern.split('/')).all(alike)
}

fn not_reversible(key: &str, why: &str) -> Error {
    Error::NotReversible {
        what: format!("sysctl {}", dotted(key)),
        why: why.to_owned(),
    }
}

fn path(key: &str) -> String {
    format!("/proc/sys/{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spreads_is_left_alone() {
        assert!(check("net/ipv4/ip_forward").is_err());
        assert!(check("net/ipv6/conf/eth0/disable_ipv6").is_err());
        assert!(check("net/ipv4/conf/eth0/rp_filter").is_ok());
        assert!(check("net/ipv4/tcp_reordering").is_ok());
        assert!(is_same("1\t2  3", "1 2 3") && !is_same("1 2", "12"));
    }
}
