//! Rows of a point from Parquet files: of all shards, in the order of the frames.

use std::path::PathBuf;

use coalescope_capture::rows::{Row, Rows};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::{Folder, batches};
use crate::columns::RowViews;
use crate::error::Error;
use crate::files::PointFile;
use crate::shard::shards_with_fragments;

/// Rows of one file and shard.
struct Lane {
    path: PathBuf,
    batches: ParquetRecordBatchReader,
    rows: RowViews,
    at: usize,
}

impl Lane {
    /// Opens the rows at a path, if there are any.
    fn open(path: PathBuf) -> Result<Option<Self>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let mut batches = batches(&path)?;
        let Some(first) = batches.next() else {
            return Ok(None);
        };
        let rows = RowViews::of(&first?)?;
        Ok(Some(Self {
            path,
            batches,
            rows,
            at: 0,
        }))
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
            let batch = batch.map_err(|error| Error::Io {
                path: self.path.clone(),
                source: std::io::Error::other(error),
            })?;
            (self.rows, self.at) = (RowViews::of(&batch)?, 0);
        }
        Ok(())
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
                self.left = self.left.saturating_sub(1);
                return Ok(true);
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

    fn lacks(&self) -> Error {
        let path = self.folder.path.clone();
        let lacking = format!("rows of {} frames are missing", self.left);
        Error::Io {
            path,
            source: std::io::Error::other(lacking),
        }
    }

    fn begin(&mut self, file: &PointFile) -> Result<(), Error> {
        self.lanes.clear();
        let all = 0..shards_with_fragments(file.place.shards);
        for shard in self.shard.map_or(all, |one| one..one + 1) {
            let path = self.folder.rows_of(file, shard);
            self.lanes.extend(Lane::open(path)?);
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
