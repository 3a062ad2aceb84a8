//! Packed bytes, and how many of them the decoder has consumed.

use std::io::{self, BufRead, BufReader, Read};

/// Bytes that one `read` requests from the file.
const CHUNK: usize = 64 * 1024;

pub(crate) struct Packed<R> {
    reader: BufReader<R>,
    pub(crate) consumed: u64,
}

impl<R: Read> Packed<R> {
    pub(crate) fn new(whole: R) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, whole),
            consumed: 0,
        }
    }

    /// Reads and drops the remaining bytes; returns their number.
    pub(crate) fn drain(&mut self) -> u64 {
        let rest = io::copy(&mut self.reader, &mut io::sink()).unwrap_or(0);
        self.consumed += rest;
        rest
    }
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.consumed += count as u64;
        Ok(count)
    }
}

impl<R: Read> BufRead for Packed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count as u64;
        self.reader.consume(count);
    }
}
