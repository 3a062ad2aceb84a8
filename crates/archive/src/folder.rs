//! An archive on disk: `rows/shard=S/PPPPP-FFFFFFFFFF.parquet` for each shard, point and file with
//! rows there, and the table of files. The table is written last: without it the archive is
//! incomplete.

mod read;
mod write;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::error::Error;
use crate::files::{PointFile, file_ends};
pub(crate) use read::FolderRows;
pub use write::Write;

/// Rows that are read from one file at a time.
const ROWS: usize = 1024;

/// The table of files.
pub(crate) const FILES: &str = "files.parquet";

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

    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// If there is no archive, or its table of files cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let table = path.join(FILES);
        if !table.is_file() {
            return Err(Error::NoArchive {
                path: path.to_owned(),
            });
        }
        let mut files = Vec::new();
        for batch in batches(&table)? {
            files.extend(file_ends(&batch?)?);
        }
        files.sort_by_key(|file| (file.place.point, file.place.file));
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
    let builder = ParquetRecordBatchReaderBuilder::try_new(file);
    let batches = builder.and_then(|builder| builder.with_batch_size(ROWS).build());
    batches.map_err(Error::parquet(path))
}

fn shard_path(folder: &Path, shard: u32) -> PathBuf {
    folder.join("rows").join(format!("shard={shard}"))
}

fn rows_path(folder: &Path, point: u16, file: u32, shard: u32) -> PathBuf {
    shard_path(folder, shard).join(format!("{point:05}-{file:010}.parquet"))
}
