//! A capture as batches of rows.

use arrow_array::RecordBatch;
use coalescope_capture::file::Source;
use coalescope_capture::rows::{Digests, FileEnd};

use crate::columns::RowColumns;
use crate::error::Error;
use crate::files::PointFile;
use crate::place::Place;
use crate::shard::{shard_of, shards_with_fragments, waiting};

/// Rows in a batch of a shard: with 64 shards or more, 70 MB of rows wait for their batches.
const ROWS: usize = 8192;

/// Rows of one shard, in the order of their frames.
#[derive(Clone, Debug)]
pub struct ShardBatch {
    /// The shard.
    pub shard: u32,
    /// The rows, with the columns of [`crate::rows_schema`].
    pub rows: RecordBatch,
}

/// Turns a capture into rows. No other file is needed, so that each file may be digested anywhere.
#[must_use]
pub fn digest(name: String, source: Source, place: Place) -> Digest {
    let shards = 0..shards_with_fragments(place.shards);
    let rows = waiting(ROWS, place.shards);
    let columns = shards.map(|shard| RowColumns::new(shard, place.point, rows));
    Digest {
        columns: columns.collect(),
        digests: Digests::new(place.file, name, source, place.heads()),
        place,
        ready: Vec::new(),
        is_read: false,
    }
}

/// A capture that is being turned into rows: an iterator over batches.
pub struct Digest {
    place: Place,
    digests: Digests,
    columns: Vec<RowColumns>,
    ready: Vec<ShardBatch>,
    is_read: bool,
}

impl Digest {
    /// The place of the file.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The file's entry for the table of files, after its last batch.
    #[must_use]
    pub fn finish(self) -> PointFile {
        let end: FileEnd = self.digests.finish();
        PointFile {
            given: self.place.file,
            place: self.place,
            end,
        }
    }

    fn fill(&mut self) -> Result<(), Error> {
        let (columns, shards) = (&mut self.columns, self.place.shards);
        let more = self.digests.read(|row| {
            columns[shard_of(row, shards) as usize].push(row);
        });
        self.is_read = !more;
        let is_read = self.is_read;
        let due = |columns: &&mut RowColumns| columns.is_full() || is_read && columns.len() > 0;
        for (shard, columns) in (0..).zip(&mut self.columns) {
            if due(&columns) {
                let rows = columns.take()?;
                self.ready.push(ShardBatch { shard, rows });
            }
        }
        Ok(())
    }
}

impl Iterator for Digest {
    type Item = Result<ShardBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.is_read {
            if let Err(error) = self.fill() {
                self.is_read = true;
                return Some(Err(error));
            }
        }
        self.ready.pop().map(Ok)
    }
}
