//! An archive on disk: `rows/shard=S/PPPPP-FFFFFFFFFF.parquet` for each shard, point and file with
//! rows there, and the table of files. The table is written last: without it the archive is
//! incomplete.

mod read;
mod write;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::columns::check_version;
use crate::error::Error;
use crate::files::{PointFile, file_ends};
use crate::whole::check_files;
pub(crate) use read::FolderRows;
pub use write::Write;

/// Rows that are read from one file at a time.
const ROWS: usize = 1024;

/// The table of files.
pub(crate) const FILES: &str = "files.parquet";
/// The folder of rows.
const ROWS_OF_SHARDS: &str = "rows";

/// An existing archive.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    files: Vec<PointFile>,
}

impl Folder {
    /// Whether a path is a folder with an archive.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        path.join(FILES).is_file()
    }

    /// Whether a path is a folder with rows, whose digest may not have ended.
    #[must_use]
    pub fn is_begun(path: &Path) -> bool {
        path.join(ROWS_OF_SHARDS).is_dir()
    }

    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// If there is no archive, or its table of files cannot be read, or cannot be right.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let table = path.join(FILES);
        if !table.is_file() {
            return Err(Error::NoArchive {
                path: path.to_owned(),
            });
        }
        let mut files = Vec::new();
        for batch in batches(&table)? {
            let batch = batch.map_err(Error::arrow(&table))?;
            files.extend(file_ends(&batch)?);
        }
        files.sort_by_key(|file| (file.place.point, file.place.file));
        check_files(&files)?;
        Ok(Self {
            path: path.to_owned(),
            files,
        })
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of points.
    #[must_use]
    pub fn points(&self) -> usize {
        let numbers: BTreeSet<u16> = self.files.iter().map(|file| file.place.point).collect();
        numbers.len()
    }

    /// Its files, by point and number.
    #[must_use]
    pub fn files(&self) -> &[PointFile] {
        &self.files
    }

    /// Points whose files were given in another order than that of time, and how many files each has.
    #[must_use]
    pub fn reordered(&self) -> Vec<(String, usize)> {
        let points = self
            .files
            .chunk_by(|one, next| one.place.point == next.place.point);
        let reordered = points.filter(|files| !files.is_sorted_by_key(|file| file.given));
        reordered
            .map(|files| (files[0].place.point_name.clone(), files.len()))
            .collect()
    }

    /// Whether there are rows of fragments.
    pub(crate) fn has_fragments(&self) -> bool {
        let is_there = |file: &PointFile| self.rows_of(file, file.place.shards).exists();
        self.files.iter().any(is_there)
    }

    /// The path of a file's rows in a shard; there may be no such file.
    fn rows_of(&self, file: &PointFile, shard: u32) -> PathBuf {
        rows_path(&self.path, file.place.point, file.place.file, shard)
    }
}

/// The batches of a Parquet file.
fn batches(path: &Path) -> Result<ParquetRecordBatchReader, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(Error::parquet(path))?;
    check_version(path, builder.schema())?;
    let batches = builder.with_batch_size(ROWS).build();
    batches.map_err(Error::parquet(path))
}

fn shard_path(folder: &Path, shard: u32) -> PathBuf {
    folder.join(ROWS_OF_SHARDS).join(format!("shard={shard}"))
}

fn rows_path(folder: &Path, point: u16, file: u32, shard: u32) -> PathBuf {
    shard_path(folder, shard).join(format!("{point:05}-{file:010}.parquet"))
}
