//! The bytes of a capture, unpacked if it is packed.

use coalescope_unpack::{Packing, Unpacked};
use std::io::{self, Chain, Cursor, Read};

/// What a capture is read from.
pub(super) type Raw = Box<dyn Read + Send>;

/// The underlying file with its first bytes put back.
type Replayed = Chain<Cursor<Vec<u8>>, Raw>;

/// Plain or packed bytes, recognised by the first bytes.
pub(super) enum Stream {
    Plain(Replayed),
    Packed(Unpacked<Replayed>),
}

impl Stream {
    /// Reads the first bytes and recognises the packing.
    pub(super) fn open(mut raw: Raw) -> io::Result<Stream> {
        let first = read_magic(&mut raw)?;
        let packing = Packing::of(&first);
        let whole = Cursor::new(first).chain(raw);
        Ok(match packing {
            Some(packing) => Stream::Packed(Unpacked::new(packing, whole)),
            None => Stream::Plain(whole),
        })
    }

    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Stream::Packed(_))
    }

    /// Packed bytes that the decoder has taken. `None` for a plain file.
    pub(super) fn packed_consumed(&self) -> Option<u64> {
        match self {
            Stream::Plain(_) => None,
            Stream::Packed(packed) => Some(packed.consumed()),
        }
    }

    /// Reads and drops the packed bytes that the decoder has not taken. 0 for a plain file.
    pub(super) fn drain_packed(&mut self) -> u64 {
        match self {
            Stream::Plain(_) => 0,
            Stream::Packed(packed) => packed.drain(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(plain) => plain.read(into),
            Stream::Packed(packed) => packed.read(into),
        }
    }
}

/// The first four bytes, or fewer if there are no more: gzip and zstd are recognised by them.
fn read_magic(raw: &mut Raw) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(4);
    raw.take(4).read_to_end(&mut first)?;
    Ok(first)
}
