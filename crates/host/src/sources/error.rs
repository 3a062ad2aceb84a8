//! Why a path gave no host.

use std::io;

/// Why a path gave no host.
///
/// What the operating system said is the `source()`, it is not repeated in the text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It could not be opened or listed.
    #[error("cannot read {path}: check the path and that you may read it")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// It is neither a file nor a folder.
    #[error(
        "{path} is a {what}: give a file, a folder or an archive with saved output of a host's \
         commands"
    )]
    Special {
        /// The path as given.
        path: String,
        /// "device" or "socket".
        what: &'static str,
    },
    /// It was read, and nothing in it was understood.
    #[error(
        "nothing in {path} is understood{found}; give the output of commands such as ethtool -k, \
         ip -d link, sysctl -a, ifconfig or Get-NetAdapterRsc, a sosreport, or a bundle made by \
         collect.sh or collect.ps1"
    )]
    Nothing {
        /// The path as given.
        path: String,
        /// ": ", and what was there instead.
        found: String,
    },
}
