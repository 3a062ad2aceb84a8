//! Why counters could not be read.

use coalescope_change::{settings, workload};

/// Why counters could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] settings::Error),
    /// The other host could not be asked.
    #[error("cannot read the counters: {0}")]
    Remote(#[from] workload::Error),
    /// A file is missing, not readable or not parsed.
    #[error("cannot read {file} at {place}: {problem}")]
    File {
        /// The file.
        file: &'static str,
        /// The vantage.
        place: String,
        /// Why not.
        problem: String,
    },
}
