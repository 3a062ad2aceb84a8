//! Captures as rows, and rows in the place of captures.
//!
//! A [`Row`] has what the analysis keeps of a frame, and a file's rows know of no other file. So files can be turned
//! into rows where they lie, each by itself, and [`trace()`] of all the rows is the same as [`crate::trace()`] of all
//! the files.

mod digests;
mod heads;
mod parts;
mod replayed;
mod twice;

use std::sync::Arc;

pub use crate::counts::Counts;
use crate::facts::trace::Trace;
use crate::lockstep::{Input, Options, Progress, TraceError, follow};
pub use crate::parts::Part;
pub use crate::row::{Checksum, Ends, Kind, Row};
pub use digests::{Digests, FileEnd};
pub use heads::Heads;
pub use parts::{follow_part, join_facts, join_parts};
use replayed::ReplayedRows;

/// A source of a point's rows.
pub trait Rows: Send {
    /// Writes the next row into `row`; false if there is none.
    ///
    /// # Errors
    ///
    /// In words, if a row that should be there is not.
    fn next(&mut self, row: &mut Row) -> Result<bool, String>;
}

/// One observation point whose frames are rows.
pub struct PointRows {
    /// Its name.
    pub name: String,
    /// The end of each of its files, in order of time.
    pub files: Vec<FileEnd>,
    /// Its rows, by file and number.
    pub rows: Box<dyn Rows>,
}

/// Reads all rows once and returns the facts, the same as [`crate::trace()`] returns for the files behind the rows.
///
/// # Errors
///
/// Those of [`crate::trace()`], and if not all rows could be read.
pub fn trace(
    points: Vec<PointRows>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, TraceError> {
    let is_alone = points.len() == 1;
    let input = |point: PointRows| Input {
        name: point.name,
        frames: Box::new(ReplayedRows::new(
            point.rows,
            point.files,
            is_alone,
            Arc::clone(&options.stop),
        )),
    };
    follow(points.into_iter().map(input).collect(), options, progress)
}
