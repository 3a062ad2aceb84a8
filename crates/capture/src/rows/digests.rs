//! A file as rows.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Heads;
use super::heads::Keeper;
use crate::file::Source;
use crate::reader::{Batch, Frames, Item, Reader};
use crate::row::Row;

/// Counts and warnings of a file when all of it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEnd {
    /// Name of the file.
    pub name: String,
    /// Its number among those of its point, from 0.
    pub file: u32,
    /// Frames read.
    pub frames: u64,
    /// Number of the last frame.
    pub last_number: u64,
    /// The earliest and the latest time, in nanoseconds since 1970; 0 without frames.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
    /// The most by which a time lies before an earlier one in the file.
    pub back_ns: i64,
    /// Numbers of the link types that it has, ascending.
    pub links: Vec<u16>,
    /// Bytes that could not be read.
    pub unreadable_bytes: u64,
    /// What was left out or looked odd.
    pub warnings: Vec<String>,
}

impl FileEnd {
    fn note(&mut self, row: &Row) {
        if self.frames == 0 {
            (self.first_ns, self.last_ns) = (row.time_ns, row.time_ns);
        }
        self.frames += 1;
        self.last_number = row.number;
        self.first_ns = self.first_ns.min(row.time_ns);
        self.last_ns = self.last_ns.max(row.time_ns);
        self.back_ns = self.back_ns.max(self.last_ns - row.time_ns);
        if let Err(place) = self.links.binary_search(&row.link) {
            self.links.insert(place, row.link);
        }
    }
}

/// Reads a file and returns its rows.
pub struct Digests {
    reader: Box<Reader>,
    batch: Batch,
    row: Row,
    keeper: Keeper,
    end: FileEnd,
}

impl Digests {
    /// Begins to read a file, which has a number among those of its point.
    #[must_use]
    pub fn new(file: u32, name: String, source: Source, heads: Heads) -> Self {
        let sources = vec![(name.clone(), source)];
        let reader = Reader::new(sources, false, Arc::new(AtomicBool::new(false)));
        Self {
            reader: Box::new(reader.unaltered()),
            batch: Batch::default(),
            row: Row {
                file,
                ..Row::default()
            },
            keeper: Keeper::new(heads),
            end: FileEnd {
                name,
                file,
                ..FileEnd::default()
            },
        }
    }

    /// Passes on the next rows, a hundred or so; false if there are none.
    pub fn read(&mut self, mut hear: impl FnMut(&Row)) -> bool {
        self.reader.fill(&mut self.batch);
        let items = self.batch.items();
        for item in items {
            write(item, &mut self.row);
            self.keeper.keep(&mut self.row);
            self.end.note(&self.row);
            hear(&self.row);
        }
        !items.is_empty()
    }

    /// Counts and warnings of the file.
    #[must_use]
    pub fn finish(mut self) -> FileEnd {
        let end = self.reader.finish();
        self.end.unreadable_bytes = end.unreadable_bytes;
        self.end.warnings = end.warnings;
        self.end
    }
}

#[inline]
fn write(item: &Item, row: &mut Row) {
    row.interface = item.point;
    row.link = item.link.dlt();
    item.frame.write(item.digest, row);
}
