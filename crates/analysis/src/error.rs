//! What can go wrong.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use coalescope_capture::TraceError;
use coalescope_capture::file::OpenError;
use coalescope_host::sources;
use coalescope_knowledge::rules::RulesError;

use coalescope_report::with_causes;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has = and nothing on one side.
    #[error("{0} lacks a name or a file: write NAME=FILE")]
    HalfNamed(String),
    /// Standard input was given twice.
    #[error("- was given twice: standard input can be read only once")]
    StdinTwice,
    /// A folder in the place of a capture.
    #[error("{0} is a directory: name the captures in it, such as {0}/*.pcap")]
    Directory(String),
    /// A capture.
    #[error(transparent)]
    Capture(#[from] OpenError),
    /// A file.
    #[error("{name}")]
    Io {
        /// Its name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A capture that could not be opened, as often as somebody asks.
    #[error("{}", with_causes(&**.0))]
    NotOpened(Arc<Error>),
    /// All captures that are of no use.
    #[error("{}", lines(.0))]
    Refused(Vec<Error>),
    /// More is given beside an archive.
    #[error("{0} is an archive, which has its points in it: give nothing beside it")]
    Beside(String),
    /// The points of an archive.
    #[error("{0} points are more than an archive can have")]
    Points(usize),
    /// Two transfers are compared, no more and no fewer.
    #[error(
        "--compare sets two transfers side by side, {0} given: give two captures, such as \
         DIRECT=direct.pcap VIP=vip.pcap"
    )]
    Compare(usize),
    /// One of two transfers has nothing in it.
    #[error(
        "there is nothing to compare: one of the two captures shows no TCP connection that carries data; trace it alone to \
         see what is in it"
    )]
    NothingToCompare,
    /// A thread ended early.
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

/// Everything that is wrong with the inputs, a line each.
fn lines(errors: &[Error]) -> String {
    let mut text = String::new();
    for (at, error) in errors.iter().enumerate() {
        let prefix = if at == 0 { "" } else { "\nerror: " };
        let _ = write!(text, "{prefix}{}", with_causes(error));
    }
    text
}
