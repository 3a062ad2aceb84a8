//! Errors.

use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use coalescope_capture::TraceError;
use parquet::errors::ParquetError;

/// Why work on an archive failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A Parquet file could not be read or written.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        source: ParquetError,
    },
    /// An Arrow table could not be made.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A column is missing, or has another type.
    #[error("a table of {table} has no column {column} of {wanted}")]
    Column {
        /// What the table is of.
        table: &'static str,
        /// The column's name.
        column: String,
        /// What it should be of.
        wanted: String,
    },
    /// Rows are missing, or there are too many.
    #[error("point {point} has {wanted} frames, and rows of {found}")]
    Rows {
        /// The point.
        point: String,
        /// Frames, as the table of files says.
        wanted: u64,
        /// Rows.
        found: u64,
    },
    /// A cell of a table of facts has a value that is never written there.
    #[error("row {row} of a table of {table} holds what coalescope does not write there")]
    Cell {
        /// What the table is of.
        table: &'static str,
        /// The row, from 0.
        row: usize,
    },
    /// Rows do not belong to the file in whose place they are.
    #[error("{}: {why}: this is not what digest wrote there", path.display())]
    Misplaced {
        /// The path of the rows.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The table of files cannot be right.
    #[error("the table of files cannot be right: {0}")]
    Files(String),
    /// The archive was written by another version.
    #[error("{} is of the format {found}, which this version of coalescope does not read: read it with the version that wrote it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The name of the format.
        found: String,
    },
    /// Rows came without a table of files.
    #[error("rows need the table of files that they are of")]
    NoFiles,
    /// Facts of a shard are missing, or given twice.
    #[error("facts are missing or there twice: give those of all shards, each once")]
    Facts,
    /// Shards cannot be followed separately.
    #[error(
        "these shards have to be followed together: give the rows of all shards, and no shard (several points, fragments, \
         copies of frames, or a clock that was set back concern all of them)"
    )]
    Together,
    /// The folder is in use.
    #[error("{} is there already and not empty: name a folder that is not there yet", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no archive, or one that was not finished.
    #[error(
        "{} is no archive, or its digest did not end: it lacks {}; digest the captures into another folder",
        path.display(), crate::folder::FILES
    )]
    NoArchive {
        /// The folder.
        path: PathBuf,
    },
    /// The points or files cannot be right.
    #[error("{0}")]
    Plan(String),
    /// The caller stopped the work.
    #[error("stopped: the archive is not whole")]
    Stopped,
    /// The trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn arrow(path: &Path) -> impl FnOnce(ArrowError) -> Self {
        let parquet = Self::parquet(path);
        move |source| parquet(ParquetError::from(source))
    }

    pub(crate) fn parquet(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_owned();
        move |source| Self::Parquet { path, source }
    }
}
