//! Why rules could not be read.

use std::io;
use std::path::{Path, PathBuf};

use coalescope_host::safe::printable_line;
use thiserror::Error;

/// A path in messages.
pub(super) fn shown(path: &Path) -> String {
    printable_line(&path.display().to_string()).into_owned()
}

/// Why rules could not be read.
#[derive(Debug, Error)]
pub enum RulesError {
    /// A file or folder cannot be read.
    #[error(
        "{}: {error}; --rules wants a YAML file or a folder of such, see docs/rules.md",
        shown(path)
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not YAML, or its content is no rule.
    #[error("{file}: {error}")]
    Malformed {
        /// Which file, and which line where that is known.
        file: String,
        /// Where and why.
        error: String,
    },
    /// A rule that cannot work.
    #[error("{file}: rule {id}: {error}")]
    Wrong {
        /// Which file and line.
        file: String,
        /// Which rule.
        id: String,
        /// Why, and what to do.
        error: String,
    },
}
