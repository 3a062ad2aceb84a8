//! Rows of files that overlap in time: what stands in two of them is one frame. (What stands in one file twice has one row.)

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::FileEnd;
use crate::frame::SET_BACK_NS;
use crate::reader::words_of_copies;
use crate::row::Row;

/// Rows that are remembered of times in which two files were written.
const HELD: usize = 1 << 20;

/// Rows of times in which two files were written.
#[derive(Default)]
pub(super) struct Twice {
    /// Such times.
    spans: Vec<(i64, i64)>,
    /// The file of each row, by time and a hash of all that is compared.
    seen: HashMap<(i64, u64), u32, RandomState>,
    hasher: RandomState,
    /// Rows of each file that stand in a file in front of it.
    copies: HashMap<u32, u64>,
}

impl Twice {
    pub(super) fn new(files: &[FileEnd]) -> Self {
        Self {
            spans: overlaps(files),
            ..Self::default()
        }
    }

    /// Whether a row stands in a file in front of its own.
    #[inline]
    pub(super) fn has(&mut self, row: &Row) -> bool {
        let is_inside = |(first, last): &(i64, i64)| (*first..=*last).contains(&row.time_ns);
        self.spans.iter().any(is_inside) && self.has_seen(row)
    }

    #[cold]
    fn has_seen(&mut self, row: &Row) -> bool {
        let stamp = (row.time_ns, self.hasher.hash_one(compared(row)));
        let is_copy = self.seen.get(&stamp).is_some_and(|file| *file < row.file);
        if is_copy {
            *self.copies.entry(row.file).or_default() += 1;
        } else if self.seen.len() < HELD {
            self.seen.entry(stamp).or_insert(row.file);
        }
        is_copy
    }

    /// A warning about a file that has such rows.
    pub(super) fn words(&self, file: &FileEnd) -> Option<String> {
        let copies = self.copies.get(&file.file)?;
        Some(format!(
            "{}: {}",
            file.name,
            words_of_copies(*copies, false)
        ))
    }
}

/// The times in which a file was written beside one in front of it, unless disorder explains them.
fn overlaps(files: &[FileEnd]) -> Vec<(i64, i64)> {
    let mut latest_ns = i64::MIN;
    let mut spans = Vec::new();
    for file in files.iter().filter(|file| file.frames > 0) {
        let is_behind = file.first_ns < latest_ns.saturating_sub(SET_BACK_NS);
        spans.extend(is_behind.then_some((file.first_ns, latest_ns)));
        latest_ns = latest_ns.max(file.last_ns);
    }
    spans
}

/// What is compared of a row. How its payload begins is not kept of all rows alike.
fn compared(row: &Row) -> impl std::hash::Hash + '_ {
    let numbers = (row.seq, row.ack, row.tsval, row.tsecr);
    let carried = (row.payload, row.bytes, row.id, row.ttl);
    let header = (row.flags, row.window, row.tcp_header, row.marks);
    let kind = (row.kind as u8, row.checksum as u8, row.link);
    (row.ends, numbers, carried, header, kind, &row.rest)
}
