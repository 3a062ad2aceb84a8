//! Whether the netplan that is installed knows what would be written.

use crate::error::Error;
use crate::model::Manager;
use crate::tree::Tree;
use std::path::Path;

/// What dpkg knows of its packages; netplan is Ubuntu's and Debian's.
const PACKAGES: &str = "/var/lib/dpkg/status";
/// The first version with offload keys, and the first with `passthrough` (netplan(5)).
const WITH_OFFLOADS: (u32, u32) = (0, 104);
const WITH_PASSTHROUGH: (u32, u32) = (0, 102);

/// An older version refuses files with keys that it does not know, and then sets up nothing at all.
pub(super) fn check(tree: &Tree, renderer: Manager) -> Result<(), Error> {
    let needed = match renderer {
        Manager::NetworkManager => WITH_PASSTHROUGH,
        _ => WITH_OFFLOADS,
    };
    let status = tree.text(Path::new(PACKAGES)).ok().flatten();
    match status.as_deref().and_then(version) {
        Some(version) if version < needed => Err(Error::unsuitable(
            format!(
                "netplan {}.{} has no offload keys, and would refuse them",
                version.0, version.1
            ),
            format!("update it to {}.{} or later", needed.0, needed.1),
        )),
        _ => Ok(()),
    }
}

/// Major and minor version of the package, if dpkg has it.
fn version(status: &str) -> Option<(u32, u32)> {
    let mut packages = status.split("\n\n");
    let own = packages.find(|text| text.starts_with("Package: netplan.io\n"))?;
    let mut lines = own.lines();
    let version = lines.find_map(|line| line.strip_prefix("Version: "))?;
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}
