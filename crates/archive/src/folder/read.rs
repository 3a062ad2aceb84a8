//! Rows of a point from Parquet files: of all shards, in the order of the frames.

use std::path::{Path, PathBuf};
use std::{fs, io};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use coalescope_capture::rows::{Row, Rows};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::{Folder, batches};
use crate::columns::RowViews;
use crate::error::Error;
use crate::files::PointFile;
use crate::place::Place;
use crate::shard::{shard_of, shards_with_fragments};

/// Rows of one file and shard.
struct Lane {
    path: PathBuf,
    place: Place,
    shard: u32,
    batches: ParquetRecordBatchReader,
    rows: RowViews,
    at: usize,
}

impl Lane {
    /// Opens the rows of a file in a shard, if there are any.
    fn open(path: PathBuf, place: &Place, shard: u32) -> Result<Option<Self>, Error> {
        if !is_there(&path)? {
            return Ok(None);
        }
        let mut batches = batches(&path)?;
        let Some(first) = batches.next() else {
            return Ok(None);
        };
        let lane = Self {
            rows: views(&path, first)?,
            path,
            place: place.clone(),
            shard,
            batches,
            at: 0,
        };
        lane.check(0)?;
        Ok(Some(lane))
    }

    fn number(&self) -> Option<u64> {
        (self.at < self.rows.len()).then(|| self.rows.place(self.at).1)
    }

    /// Reads the next row.
    fn next(&mut self, row: &mut Row) -> Result<(), Error> {
        self.rows.read(self.at, row);
        self.at += 1;
        if self.at == self.rows.len()
            && let Some(batch) = self.batches.next()
        {
            (self.rows, self.at) = (views(&self.path, batch)?, 0);
            self.check(row.number)?;
        }
        Ok(())
    }

    /// Checks that a batch is of this file and shard, and follows the frame of this number. All rows of a Parquet file are of one
    /// shard: the first one of a batch tells.
    fn check(&self, behind: u64) -> Result<(), Error> {
        let mut first = Row::default();
        if !self.rows.is_empty() {
            self.rows.read(0, &mut first);
        }
        let is_here = self.rows.is_empty() || shard_of(&first, self.place.shards) == self.shard;
        let elsewhere = (!is_here).then_some("rows of another shard");
        let why = self.rows.misplaced(&self.place, behind).or(elsewhere);
        why.map_or(Ok(()), |why| Err(misplaced(&self.path, why)))
    }
}

/// Whether there is a file; an error for anything else, since nothing else may be read from.
fn is_there(path: &Path) -> Result<bool, Error> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(misplaced(path, "no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path)(error)),
    }
}

fn views(path: &Path, batch: Result<RecordBatch, ArrowError>) -> Result<RowViews, Error> {
    let batch = batch.map_err(Error::arrow(path))?;
    RowViews::of(&batch).map_err(|error| misplaced(path, &error.to_string()))
}

fn misplaced(path: &Path, why: &str) -> Error {
    Error::Misplaced {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

/// The rows of a point, in order.
pub(crate) struct FolderRows {
    folder: Folder,
    /// The one shard that is read; `None` for all.
    shard: Option<u32>,
    files: std::vec::IntoIter<PointFile>,
    lanes: Vec<Lane>,
    /// The lane of the last row, and the frame number up to which it has the next rows.
    current: usize,
    until: u64,
    /// Frames of the present file that are still to come.
    left: u64,
}

impl FolderRows {
    /// The rows of all shards.
    pub(crate) fn new(folder: &Folder, point: u16) -> Self {
        let files = folder.files().iter();
        let files = files.filter(|file| file.place.point == point).cloned();
        Self {
            folder: folder.clone(),
            shard: None,
            files: files.collect::<Vec<_>>().into_iter(),
            lanes: Vec::new(),
            current: 0,
            until: 0,
            left: 0,
        }
    }

    /// The rows of one shard.
    pub(crate) fn of_shard(folder: &Folder, point: u16, shard: u32) -> Self {
        Self {
            shard: Some(shard),
            ..Self::new(folder, point)
        }
    }

    /// Reads the next row; false at the end.
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        loop {
            let here = self.lanes.get(self.current).and_then(Lane::number);
            if here.is_none_or(|number| number >= self.until) {
                self.choose();
            }
            let lane = self.lanes.get_mut(self.current);
            if let Some(lane) = lane.filter(|lane| lane.number().is_some()) {
                lane.next(row)?;
                return self.count().map(|()| true);
            }
            if self.shard.is_none() && self.left > 0 {
                return Err(self.lacks());
            }
            let Some(file) = self.files.next() else {
                return Ok(false);
            };
            self.begin(&file)?;
        }
    }

    /// Counts a row of the present file. Those of all shards are counted together.
    fn count(&mut self) -> Result<(), Error> {
        if self.shard.is_some() {
            return Ok(());
        }
        let left = self.left.checked_sub(1);
        self.left =
            left.ok_or_else(|| self.miscounted("there are more rows than frames".to_owned()))?;
        Ok(())
    }

    fn lacks(&self) -> Error {
        self.miscounted(format!("rows of {} frames are missing", self.left))
    }

    fn miscounted(&self, how: String) -> Error {
        Error::Io {
            path: self.folder.path.clone(),
            source: io::Error::other(how),
        }
    }

    fn begin(&mut self, file: &PointFile) -> Result<(), Error> {
        self.lanes.clear();
        let all = 0..shards_with_fragments(file.place.shards);
        for shard in self.shard.map_or(all, |one| one..one + 1) {
            let path = self.folder.rows_of(file, shard);
            self.lanes.extend(Lane::open(path, &file.place, shard)?);
        }
        self.left = file.end.frames;
        (self.current, self.until) = (0, 0);
        Ok(())
    }

    /// Chooses the lane with the lowest frame number, up to the second lowest.
    fn choose(&mut self) {
        let mut lowest = (u64::MAX, 0);
        self.until = u64::MAX;
        for (at, lane) in self.lanes.iter().enumerate() {
            let Some(number) = lane.number() else {
                continue;
            };
            if number < lowest.0 {
                self.until = lowest.0;
                lowest = (number, at);
            } else {
                self.until = self.until.min(number);
            }
        }
        self.current = lowest.1;
    }
}

impl Rows for FolderRows {
    fn next(&mut self, row: &mut Row) -> Result<bool, String> {
        self.read(row).map_err(|error| error.to_string())
    }
}
