//! What can be wrong with an incident file: what, where, and what to do.

use std::path::PathBuf;

/// Why there is no incident.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It is not YAML, or not of this form; the text says line and column.
    #[error("{file}: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, with the place in the file.
        reason: String,
    },
    /// It is of this form, and contradicts itself.
    #[error("{file}{}: {reason}", line.map_or_else(String::new, |line| format!(", line {line}")))]
    Wrong {
        /// The file.
        file: String,
        /// The line, where the value stands in one.
        line: Option<usize>,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// No incident is built in under that name.
    #[error("there is no incident {name}; there are: {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
}
