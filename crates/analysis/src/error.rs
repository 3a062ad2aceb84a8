//! Errors.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use coalescope_capture::TraceError;
use coalescope_capture::file::OpenError;
use coalescope_host::sources;
use coalescope_knowledge::rules::RulesError;

use coalescope_report::with_causes;

/// Why an analysis failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has `=` with an empty side.
    #[error("{0} lacks a name or a file: write NAME=FILE")]
    HalfNamed(String),
    /// Standard input was given twice.
    #[error("- was given twice: standard input can be read only once")]
    StdinTwice,
    /// A folder was given in the place of a capture.
    #[error("{0} is a directory: name the captures in it, such as {0}/*.pcap")]
    Directory(String),
    /// A capture could not be opened.
    #[error(transparent)]
    Capture(#[from] OpenError),
    /// A file could not be read.
    #[error("{name}")]
    Io {
        /// Its name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A capture could not be opened; the error is returned each time it is used.
    #[error("{}", with_causes(&**.0))]
    NotOpened(Arc<Error>),
    /// All captures that cannot be used.
    #[error("{}", lines(.0))]
    Refused(Vec<Error>),
    /// An archive was given as a point, or other files beside an archive.
    #[error("{0} is an archive, which has its points in it: give it alone, and without a name")]
    Beside(String),
    /// More points than an archive can have.
    #[error("{0} points are more than an archive can have")]
    Points(usize),
    /// `--compare` needs exactly two captures.
    #[error(
        "--compare sets two transfers side by side, {0} given: give two captures, such as \
         DIRECT=direct.pcap VIP=vip.pcap"
    )]
    Compare(usize),
    /// One of the two transfers has no data.
    #[error(
        "there is nothing to compare: one of the two captures shows no TCP connection that carries data; trace it alone to \
         see what is in it"
    )]
    NothingToCompare,
    /// A thread panicked.
    #[error("digesting ended early because of a bug in coalescope: please report it")]
    Broken,
    /// Settings of this host can be read on Linux only.
    #[error("settings are read live on Linux only: give what commands of a host printed")]
    OnlyLinux,
    /// Reading.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// An archive.
    #[error(transparent)]
    Archive(#[from] coalescope_archive::Error),
    /// Saved output of hosts.
    #[error(transparent)]
    Saved(#[from] sources::Error),
    /// Rules.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// All errors of the inputs, one a line.
fn lines(errors: &[Error]) -> String {
    let mut text = String::new();
    for (at, error) in errors.iter().enumerate() {
        let prefix = if at == 0 { "" } else { "\nerror: " };
        let _ = write!(text, "{prefix}{}", with_causes(error));
    }
    text
}
