//! Rows of one point as batches of digests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coalescope_wire::LinkType;

use super::twice::Twice;
use super::{FileEnd, Rows};
use crate::frame::replayed::Replayed;
use crate::numbering::Numbering;
use crate::reader::{BATCH, Batch, End, Frames, words_of_set_back};
use crate::row::Row;

/// The rows of a point.
pub(super) struct ReplayedRows {
    rows: Box<dyn Rows>,
    numbering: Option<Numbering>,
    files: Vec<FileEnd>,
    replayed: Replayed,
    twice: Twice,
    row: Row,
    stop: Arc<AtomicBool>,
    failed: Option<String>,
    /// Frames in a batch.
    batch: usize,
    consumed: u64,
}

impl ReplayedRows {
    pub(super) fn new(
        rows: Box<dyn Rows>,
        files: Vec<FileEnd>,
        is_alone: bool,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let replayed = if is_alone {
            Replayed::alone()
        } else {
            Replayed::default()
        };
        Self {
            rows,
            numbering: None,
            twice: Twice::new(&files),
            files,
            replayed,
            row: Row::default(),
            stop,
            failed: None,
            batch: BATCH,
            consumed: 0,
        }
    }

    /// Numbers frames through all files.
    pub(super) fn numbered(mut self, numbering: Numbering) -> Self {
        self.numbering = Some(numbering);
        self
    }

    /// Reads the next row that stands in no file before, if there is one.
    fn next(&mut self) -> bool {
        while self.read() {
            if !self.twice.has(&self.row) {
                return true;
            }
        }
        false
    }

    /// Reads the next row, if there is one.
    fn read(&mut self) -> bool {
        match self.rows.next(&mut self.row) {
            Ok(is_there) => {
                if let Some(numbering) = &self.numbering {
                    self.row.number = numbering.through_all(self.row.file, self.row.number);
                }
                is_there
            }
            Err(why) => {
                self.failed.get_or_insert(why);
                false
            }
        }
    }
}

impl Frames for ReplayedRows {
    fn fill(&mut self, batch: &mut Batch) {
        batch.begin(self.batch);
        for _ in 0..self.batch {
            if self.stop.load(Ordering::Relaxed) || self.failed.is_some() || !self.next() {
                break;
            }
            if let Some(slot) = batch.slot() {
                slot.point = 0;
                slot.link = LinkType::from_dlt(self.row.link);
                slot.digest = self.replayed.read(&self.row, &mut slot.frame);
                self.consumed += u64::from(self.row.bytes);
            }
        }
        batch.consumed = self.consumed;
    }

    fn set_batch(&mut self, frames: usize) {
        self.batch = frames;
    }

    fn finish(self: Box<Self>) -> End {
        let mut end = End {
            incomplete_datagrams: vec![self.replayed.incomplete_datagrams()],
            failed: self.failed,
            ..end_of(&self.files, |file| self.twice.words(file))
        };
        let set_back = self.replayed.set_back_ns();
        end.warnings.extend(set_back.map(words_of_set_back));
        end
    }
}

/// Warnings and counts of some files, of which there is more to say.
pub(super) fn end_of(files: &[FileEnd], more: impl Fn(&FileEnd) -> Option<String>) -> End {
    let mut end = End::default();
    for file in files {
        end.unreadable_bytes += file.unreadable_bytes;
        end.warnings.extend(file.warnings.iter().cloned());
        end.warnings.extend(more(file));
        end.files.push(file.name.clone());
    }
    end
}
