//! What can keep a trace from being made.

/// Why a trace could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Nothing to read.
    #[error("no capture given: name at least one file, or - for standard input")]
    NoInput,
    /// Interfaces can be points only within one input.
    #[error(
        "--points-by-interface takes one capture, {given} were given: leave the option out, or give one file"
    )]
    OneInput {
        /// How many were given.
        given: usize,
    },
    /// Rows that were to be read are not there.
    #[error("not all rows of {name} could be read: {why}")]
    Rows {
        /// The point.
        name: String,
        /// Why the rows could not be read.
        why: String,
    },
    /// A reading thread ended early; its panic message is on standard error.
    #[error("reading {name} ended early because of a bug in coalescope: please report it")]
    Reader {
        /// The point.
        name: String,
    },
}
