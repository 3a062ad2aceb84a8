//! The facts of an archive, equal to those of a trace of its captures.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use coalescope_capture::facts::Trace;
use coalescope_capture::rows::{self, PointRows, Row, Rows};
use coalescope_capture::{Options, Progress};

use crate::columns::RowViews;
use crate::error::Error;
use crate::files::{PointFile, ends_of};
use crate::folder::{Folder, FolderRows};
use crate::parts::trace_parts;
use crate::whole::check_files;

/// Reads the rows of all points in parallel and returns the facts of one trace of the captures.
/// With several threads, the shards of an archive with one point are followed in parallel, if this
/// gives the same facts.
///
/// # Errors
///
/// If rows are missing or damaged.
pub fn trace(
    folder: &Folder,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, Error> {
    match trace_parts(folder, options)? {
        Some(trace) => Ok(trace),
        None => trace_in_order(folder, options, progress),
    }
}

/// The facts from all rows in order.
pub(crate) fn trace_in_order(
    folder: &Folder,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Trace, Error> {
    let points = by_point(folder.files()).into_iter();
    let points = points.map(|(point, files)| {
        let rows = Box::new(FolderRows::new(folder, point));
        point_rows(&files, rows)
    });
    Ok(rows::trace(points.collect(), options, progress)?)
}

/// The facts from rows in memory, in any order.
///
/// # Errors
///
/// If a table has no rows' columns, or rows or their files are missing.
pub fn trace_batches(
    batches: &[RecordBatch],
    files: &[PointFile],
    options: &Options,
) -> Result<Trace, Error> {
    check_files(files)?;
    if files.is_empty() && !batches.is_empty() {
        return Err(Error::NoFiles);
    }
    let points = by_point(files).into_iter();
    let points = points.map(|(point, files)| {
        let rows = BatchRows::new(batches, point)?;
        let wanted = files.iter().map(|file| file.end.frames).sum::<u64>();
        if rows.order.len() as u64 != wanted {
            return Err(Error::Rows {
                point: files[0].place.point_name.clone(),
                wanted,
                found: rows.order.len() as u64,
            });
        }
        Ok(point_rows(&files, Box::new(rows)))
    });
    let points = points.collect::<Result<_, Error>>()?;
    Ok(rows::trace(points, options, &mut |_| {})?)
}

pub(crate) fn by_point(files: &[PointFile]) -> BTreeMap<u16, Vec<&PointFile>> {
    let mut points = BTreeMap::<u16, Vec<&PointFile>>::new();
    for file in files {
        points.entry(file.place.point).or_default().push(file);
    }
    for files in points.values_mut() {
        files.sort_by_key(|file| file.place.file);
    }
    points
}

fn point_rows(files: &[&PointFile], rows: Box<dyn Rows>) -> PointRows {
    PointRows {
        name: files[0].place.point_name.clone(),
        files: ends_of(files.iter().copied()),
        rows,
    }
}

/// Rows of a point in memory.
pub(crate) struct BatchRows {
    views: Vec<RowViews>,
    /// For each row in order: its file's and frame's number, its batch, and its index in the batch.
    order: Vec<(u32, u64, u32, u32)>,
    next: usize,
}

impl BatchRows {
    pub(crate) fn new(batches: &[RecordBatch], point: u16) -> Result<Self, Error> {
        let views: Vec<_> = batches.iter().map(RowViews::of).collect::<Result<_, _>>()?;
        let mut order = Vec::new();
        for (batch, rows) in (0..).zip(&views) {
            let of_point = (0..rows.len()).filter(|at| rows.point(*at) == point);
            order.extend(of_point.map(|at| {
                let (file, number) = rows.place(at);
                (file, number, batch, at as u32)
            }));
        }
        order.sort_unstable();
        Ok(Self {
            views,
            order,
            next: 0,
        })
    }

    /// Whether all rows are of files of the point.
    pub(crate) fn are_of(&self, files: &[PointFile]) -> bool {
        let last = self.order.last().map(|(file, ..)| *file as usize);
        last.is_none_or(|last| last < files.len())
    }

    /// Whether any row is of a fragment.
    pub(crate) fn has_fragments(&self) -> bool {
        self.views.iter().any(RowViews::has_fragments)
    }
}

impl Rows for BatchRows {
    fn next(&mut self, row: &mut Row) -> Result<bool, String> {
        let Some((.., batch, at)) = self.order.get(self.next) else {
            return Ok(false);
        };
        self.views[*batch as usize].read(*at as usize, row);
        self.next += 1;
        Ok(true)
    }
}
