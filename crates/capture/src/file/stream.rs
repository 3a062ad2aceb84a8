//! The bytes of a capture, unpacked if it is packed.

use super::zstd::ZstdFrames;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// What a capture is read from.
pub(super) type Raw = Box<dyn Read + Send>;

/// How much of a gzip stream is unpacked at once. A damaged stream loses what the last call had
/// unpacked before the damage (the decoder returns an error instead), so that is kept small.
const GZIP_CHUNK: usize = 16 * 1024;

/// The underlying file with its first bytes put back.
type Replayed = Chain<Cursor<Vec<u8>>, Raw>;

/// Plain bytes or packed ones, told by the first bytes.
pub(super) enum Stream {
    Plain(Replayed),
    Gzip(Box<MultiGzDecoder<Packed>>),
    Zstd(Box<ZstdFrames<Packed>>),
}

impl Stream {
    /// Reads enough to tell what it is.
    pub(super) fn open(mut raw: Raw) -> io::Result<Stream> {
        let first = read_magic(&mut raw)?;
        let is_gzip = first.starts_with(&[0x1f, 0x8b]);
        let is_zstd = first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        let whole = Cursor::new(first).chain(raw);
        Ok(match (is_gzip, is_zstd) {
            (true, _) => Stream::Gzip(Box::new(MultiGzDecoder::new(Packed::new(whole)))),
            (_, true) => Stream::Zstd(Box::new(ZstdFrames::new(Packed::new(whole)))),
            _ => Stream::Plain(whole),
        })
    }

    pub(super) fn is_packed(&self) -> bool {
        !matches!(self, Stream::Plain(_))
    }

    /// How much to ask for in one `read` where `preferred` is what suits a plain file.
    pub(super) fn chunk(&self, preferred: usize) -> usize {
        match self {
            Stream::Gzip(_) => GZIP_CHUNK,
            Stream::Plain(_) | Stream::Zstd(_) => preferred,
        }
    }

    /// Packed bytes that the decoder has taken. `None` for a plain file.
    pub(super) fn packed_consumed(&self) -> Option<u64> {
        match self {
            Stream::Plain(_) => None,
            Stream::Gzip(gzip) => Some(gzip.get_ref().consumed),
            Stream::Zstd(zstd) => Some(zstd.get_ref().consumed),
        }
    }

    /// Reads and drops the packed bytes that the decoder has not taken. 0 for a plain file.
    pub(super) fn drain_packed(&mut self) -> u64 {
        match self {
            Stream::Plain(_) => 0,
            Stream::Gzip(gzip) => gzip.get_mut().drain(),
            Stream::Zstd(zstd) => zstd.get_mut().drain(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(plain) => plain.read(into),
            Stream::Gzip(gzip) => gzip.read(into),
            Stream::Zstd(zstd) => zstd.read(into),
        }
    }
}

/// The first four bytes, or fewer if there are no more.
fn read_magic(raw: &mut Raw) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(4);
    raw.take(4).read_to_end(&mut first)?;
    Ok(first)
}

/// Packed bytes, and how many of them the decoder has taken.
pub(super) struct Packed {
    reader: BufReader<Replayed>,
    consumed: u64,
}

impl Packed {
    fn new(whole: Replayed) -> Packed {
        Packed {
            reader: BufReader::with_capacity(64 * 1024, whole),
            consumed: 0,
        }
    }

    fn drain(&mut self) -> u64 {
        let rest = io::copy(&mut self.reader, &mut io::sink()).unwrap_or(0);
        self.consumed += rest;
        rest
    }
}

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.consumed += count as u64;
        Ok(count)
    }
}

impl BufRead for Packed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count as u64;
        self.reader.consume(count);
    }
}
