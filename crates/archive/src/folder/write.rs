//! Rows to Parquet files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::RecordBatch;
use coalescope_files::{Replacement, Rights, replace};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use super::{FILES, rows_path, shard_path};
use crate::columns::{ENDS, SCHEMA, stored};
use crate::digest::{Digest, ShardBatch};
use crate::error::Error;
use crate::files::{PointFile, file_ends_batch};
use crate::place::Place;
use crate::shard::{shards_with_fragments, waiting};
use crate::whole::check_files;

/// Rows in a row group: rows of one shard that wait in memory, about 3 MB where shards are few.
const GROUP: usize = 128 * 1024;
/// Rows in a page: a reader holds one page of each column and shard.
const PAGE: usize = 8192;

/// A file that is in the folder as long as the archive is not whole.
const UNFINISHED: &str = "unfinished";
/// Extension of rows that are not written to their end.
const PART: &str = "part";

/// Columns whose values grow slowly from row to row.
const GROWING: [&str; 2] = ["number", "time"];
/// Columns of two bytes, of which one changes more often than the other.
const BY_BYTE: [&str; 1] = ["ip_id"];
/// Columns of long values of which there are few. Of others, Zstandard finds the same in less time.
const FEW_VALUES: [&str; 1] = [ENDS.0];

/// An archive that is being written.
pub struct Write {
    path: PathBuf,
    shards: u32,
}

impl Write {
    /// Makes the folder, with folders for all shards: later writers need no right to make folders. Nobody else can begin an
    /// archive there from now on.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made, or has a file in it.
    pub fn begin(path: &Path, shards: u32) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(Error::io(path))?;
        let is_taken = has_file(path).map_err(Error::io(path))? || !take(path)?;
        if is_taken {
            return Err(Error::NotEmpty {
                path: path.to_owned(),
            });
        }
        Self::go_on(path, shards)
    }

    /// Opens a folder in which some rows may be written already. Rows of a file that is added again
    /// replace the earlier ones.
    ///
    /// # Errors
    ///
    /// If the folders cannot be made.
    pub fn go_on(path: &Path, shards: u32) -> Result<Self, Error> {
        for shard in 0..shards_with_fragments(shards) {
            let folder = shard_path(path, shard);
            fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        Ok(Self {
            path: path.to_owned(),
            shards,
        })
    }

    /// Writes all rows of a file. Several files may be added at the same time. `hear` is called
    /// with the number of rows after each batch, and returns whether to go on.
    ///
    /// # Errors
    ///
    /// If the rows cannot be written, or `hear` returned false.
    pub fn add(
        &self,
        mut digest: Digest,
        mut hear: impl FnMut(u64) -> bool,
    ) -> Result<PointFile, Error> {
        let place = digest.place().clone();
        let mut shards = BTreeMap::<u32, Shard>::new();
        for batch in &mut digest {
            let ShardBatch { shard, rows } = batch?;
            let rows = stored(&rows)?;
            match shards.entry(shard) {
                Entry::Occupied(mut known) => known.get_mut().write(&rows)?,
                Entry::Vacant(new) => {
                    let new = new.insert(Shard::begin(&self.path, &place, shard, &rows)?);
                    new.write(&rows)?;
                }
            }
            if !hear(rows.num_rows() as u64) {
                return Err(Error::Stopped);
            }
        }
        for (_, shard) in shards {
            shard.end()?;
        }
        Ok(digest.finish())
    }

    /// Writes the table of files, which completes the archive, and removes what writers left that were killed.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or cannot be right.
    pub fn finish(self, files: &[PointFile]) -> Result<(), Error> {
        check_files(files)?;
        let table = self.path.join(FILES);
        let batch = file_ends_batch(files)?;
        // Replaced in one instant, so that an incomplete table never marks an archive as complete.
        let replaced = replace(&Replacement::of(&table, Rights::Usual), |file| {
            let writer = ArrowWriter::try_new(file, batch.schema(), Some(properties(self.shards)));
            let written = writer.and_then(|mut writer| {
                writer.write(&batch)?;
                writer.close()
            });
            written.map(drop).map_err(io::Error::other)
        });
        replaced.map(drop).map_err(Error::io(&table))?;
        self.remove(|path| path.extension().is_some_and(|extension| extension == PART));
        Ok(())
    }

    /// Removes all rows, so that another archive can be begun in the folder: for one that was begun here, and will not be
    /// finished.
    pub fn abandon(self) {
        self.remove(|_| true);
    }

    /// Removes such files of rows, and what says that the archive is not whole. Whoever cannot remove a file could not write
    /// either, and has said why.
    fn remove(&self, is_meant: fn(&Path) -> bool) {
        let shards = 0..shards_with_fragments(self.shards);
        let folders = shards.filter_map(|shard| fs::read_dir(shard_path(&self.path, shard)).ok());
        let paths = folders.flatten().flatten().map(|entry| entry.path());
        for path in paths.filter(|path| is_meant(path)) {
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_file(self.path.join(UNFINISHED));
    }
}

/// Makes the file that says that somebody writes an archive there; false if it is there already.
fn take(folder: &Path) -> Result<bool, Error> {
    let path = folder.join(UNFINISHED);
    match File::create_new(&path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Error::io(&path)(error)),
    }
}

/// Whether a folder has anything but folders in it.
fn has_file(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || has_file(&entry.path())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rows of one file and shard. They have another name until they are complete, since the same
/// file may be added by two writers.
struct Shard {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
    unfinished: Unfinished,
}

/// A file that is removed where it is left under this name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Shard {
    fn begin(folder: &Path, place: &Place, shard: u32, rows: &RecordBatch) -> Result<Self, Error> {
        let path = rows_path(folder, place.point, place.file, shard);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos());
        let unfinished = path.with_extension(format!("{}-{now}.{PART}", std::process::id()));
        let file = File::create_new(&unfinished).map_err(Error::io(&unfinished))?;
        let unfinished = Unfinished(unfinished);
        // Types of Parquet say all of rows' types. Arrow's own description of them takes as much as the rows of a small file.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(place.shards))
            .with_skip_arrow_metadata(true);
        let file = BufWriter::new(file);
        let writer = ArrowWriter::try_new_with_options(file, rows.schema(), options);
        let writer = writer.map_err(Error::parquet(&path))?;
        Ok(Self {
            path,
            writer,
            unfinished,
        })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        self.writer.write(rows).map_err(Error::parquet(&self.path))
    }

    fn end(self) -> Result<(), Error> {
        let written = self.writer.into_inner();
        let file = written.map_err(Error::parquet(&self.path))?;
        let flushed = file.into_inner().map_err(io::IntoInnerError::into_error);
        let renamed = flushed.and_then(|_| fs::rename(&self.unfinished.0, &self.path));
        renamed.map_err(Error::io(&self.path))
    }
}

fn properties(shards: u32) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            SCHEMA.0.to_owned(),
            SCHEMA.1.to_owned(),
        )]))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE)
        .set_max_row_group_row_count(Some(waiting(GROUP, shards)));
    for column in FEW_VALUES {
        properties = properties.set_column_dictionary_enabled(column.into(), true);
    }
    let encodings = [
        (&GROWING[..], Encoding::DELTA_BINARY_PACKED),
        (&BY_BYTE[..], Encoding::BYTE_STREAM_SPLIT),
    ];
    for (columns, encoding) in encodings {
        for column in columns {
            properties = properties.set_column_encoding((*column).into(), encoding);
        }
    }
    properties.build()
}
