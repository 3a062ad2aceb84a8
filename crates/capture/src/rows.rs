//! Captures as rows, and rows in the place of captures.
//!
//! A [`Row`] has what the analysis keeps of a frame, and a file's rows know of no other file: so files can be turned
//! into rows where they lie, each by itself, and [`trace()`] of the rows of all is [`crate::trace()`] of all files.

mod digests;
mod heads;
mod parts;
mod replayed;

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

/// Where the rows of a point come from.
pub trait Rows: Send {
    /// Makes the row the next one; false if there is none.
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
    /// What was said at the end of each of its files, in order of time.
    pub files: Vec<FileEnd>,
    /// Its rows, by file and number.
    pub rows: Box<dyn Rows>,
}

/// Reads all rows once and gives the facts, those that [`crate::trace()`] gives of the files that they were made of.
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
