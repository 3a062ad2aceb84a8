//! Unpacks, and counts what is read.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::rc::Rc;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::content::Packing;

/// Memory that an xz stream may ask for: `xz -9` takes 65 MiB, and sosreports are made with less.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks a stream, and all that are joined to it.
pub(super) fn unpack<'a>(packing: Packing, packed: impl Read + 'a) -> Box<dyn Read + 'a> {
    let packed = BufReader::with_capacity(64 * 1024, packed);
    match packing {
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        Packing::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(
            packed,
            true,
            XZ_MEMORY_KIB,
        )),
        Packing::Zstd => Box::new(ZstdFrames::new(packed)),
    }
}

/// What may still be read of one path.
#[derive(Clone, Debug)]
pub(super) struct Budget(Rc<Cell<u64>>);

impl Budget {
    pub(super) fn new(bytes: u64) -> Budget {
        Budget(Rc::new(Cell::new(bytes)))
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    pub(super) fn spend(&self, bytes: u64) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }

    /// A reader that fails once the budget is spent.
    pub(super) fn meter<R: Read>(&self, inner: R) -> Metered<R> {
        Metered {
            inner,
            budget: self.clone(),
        }
    }
}

/// See [`Budget::meter`].
pub(super) struct Metered<R> {
    inner: R,
    budget: Budget,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::Error::other("too much to read in one path"));
        }
        let count = self.inner.read(into)?;
        self.budget.spend(count as u64);
        Ok(count)
    }
}

/// All frames of a zstd file (RFC 8878 section 3); `ruzstd` unpacks single ones. Its window is
/// bounded by the decoder.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> ZstdFrames<R> {
        ZstdFrames {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Goes to the next frame with content. False at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let mut skipped = (&mut self.source).take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn unpack_block(&mut self) -> io::Result<()> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        self.decoder
            .decode_blocks(&mut self.source, one)
            .map_err(damaged)?;
        Ok(())
    }

    fn close_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let announced = self.decoder.get_checksum_from_data();
        if announced.is_some() && announced != self.decoder.get_calculated_checksum() {
            return Err(damaged("the checksum of a zstd frame does not match"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            if self.in_frame && !self.decoder.is_finished() {
                self.unpack_block()?;
                continue;
            }
            if self.in_frame {
                self.close_frame()?;
            }
            if !self.next_frame()? {
                return Ok(0);
            }
        }
    }
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
