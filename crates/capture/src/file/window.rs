//! The part of the stream that is in memory: filled by `read`, consumed from the front.
//!
//! Why `read` into a buffer and no `mmap`: a file truncated while mapped is SIGBUS, pipes and
//! packed files cannot be mapped, and walking 10 million records is not slower this way
//! (17 ns a record of 96 bytes either way, the page cache copy is most of it).

use super::stream::Stream;
use std::io::{self, ErrorKind, Read};

/// How much one `read` asks for. Small enough that the copy stays in the second level cache until
/// it is walked, large enough that the system call does not show.
const CHUNK: usize = 256 * 1024;

/// Bytes of the (unpacked) stream, in order.
pub(super) struct Window {
    stream: Stream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the stream of `buffer[0]`.
    base: u64,
    /// Size of the stream, known for plain files only.
    size: Option<u64>,
    ended: bool,
    failure: Option<io::Error>,
}

impl Window {
    pub(super) fn new(stream: Stream, size: Option<u64>) -> Window {
        Window {
            stream,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            base: 0,
            size,
            ended: false,
            failure: None,
        }
    }

    /// Makes `need` bytes available, reading no more often than that takes: a live pipe must give
    /// a record when it is complete. False if the stream ends before.
    #[inline]
    pub(super) fn ensure(&mut self, need: usize) -> bool {
        self.end - self.start >= need || self.fill(need)
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, need: usize) -> bool {
        self.move_to_front();
        while self.end < need {
            if !self.read_more(need) {
                return false;
            }
        }
        true
    }

    /// At most `need` bytes are moved, once for each time the buffer runs out.
    fn move_to_front(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
    }

    fn read_more(&mut self, need: usize) -> bool {
        if self.ended {
            return false;
        }
        self.make_room(need);
        let room = self.buffer.len().min(self.end + CHUNK);
        match self.stream.read(&mut self.buffer[self.end..room]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.end = room.min(self.end + count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.ended = true;
                self.failure = Some(error);
            }
        }
        !self.ended
    }

    /// Doubles a full buffer at most: a wrong length in the file gets no memory before its bytes have come.
    fn make_room(&mut self, need: usize) {
        if self.end == self.buffer.len() {
            let size = need.min(self.end * 2).max(self.end + 1);
            self.buffer.resize(size, 0);
        }
    }

    /// What is available.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Where the available bytes begin, for [`Window::at`].
    #[inline]
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Bytes that were consumed and not overwritten yet: until the next [`Window::ensure`].
    #[inline]
    pub(super) fn at(&self, start: usize, len: usize) -> &[u8] {
        &self.buffer[start..start + len]
    }

    /// Passes over `count` bytes that are available.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(
            self.start + count <= self.end,
            "consumed more than is there"
        );
        self.start += count;
    }

    /// Passes over bytes that need not be available yet, without holding them. False if the
    /// stream ends before.
    pub(super) fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 {
            if !self.ensure(1) {
                return false;
            }
            let step = usize::try_from(count).map_or(usize::MAX, |c| c.min(self.bytes().len()));
            let step = step.min(self.bytes().len());
            self.consume(step);
            count -= step as u64;
        }
        true
    }

    /// Offset in the (unpacked) stream of the first available byte.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// The error that ended the stream; `None` at the end of the file.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Bytes of the underlying file consumed so far.
    pub(super) fn consumed(&self) -> u64 {
        self.stream
            .packed_consumed()
            .unwrap_or_else(|| self.offset())
    }

    /// Gives up on the stream and counts what is left of it: bytes available, and bytes to come
    /// (of a packed stream that is damaged, packed bytes).
    pub(super) fn abandon(&mut self) -> u64 {
        let left = self.left();
        self.start = self.end;
        self.ended = true;
        left
    }

    fn left(&mut self) -> u64 {
        let available = (self.end - self.start) as u64;
        let seen = self.base + self.end as u64;
        if self.ended && self.failure.is_none() {
            return available;
        }
        match self.size {
            Some(size) if size >= seen => available + (size - seen),
            _ => available + self.drain(),
        }
    }

    /// Reads and drops the rest of the stream. The bytes go into the buffer, which is not needed any more.
    fn drain(&mut self) -> u64 {
        let mut count = 0;
        while !self.ended {
            match self.stream.read(&mut self.buffer) {
                Ok(0) => self.ended = true,
                Ok(read) => count += read as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(error);
                }
            }
        }
        if self.failure.is_some() {
            count += self.stream.drain_packed();
        }
        count
    }
}
