//! The bytes of a packed file, unpacked.

use std::fmt;
use std::io::{self, Read};

use flate2::bufread::MultiGzDecoder;

use crate::packed::Packed;
use crate::packing::Packing;
use crate::zstd::ZstdFrames;

/// How much of a gzip stream is unpacked at once. At a damaged place the decoder returns an error and
/// loses the bytes that the same call had unpacked before, so the piece is small.
const GZIP_CHUNK: usize = 16 * 1024;

/// Memory limit of an xz stream: `xz -9` takes 65 MiB, and sosreports are packed with less.
#[cfg(feature = "archives")]
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks a stream, and further streams joined to it.
pub struct Unpacked<R: Read>(Decoder<R>);

enum Decoder<R: Read> {
    Gzip(Box<MultiGzDecoder<Packed<R>>>),
    Zstd(Box<ZstdFrames<Packed<R>>>),
    #[cfg(feature = "archives")]
    Bzip2(Box<bzip2::bufread::MultiBzDecoder<Packed<R>>>),
    #[cfg(feature = "archives")]
    Xz(Box<lzma_rust2::XzReader<Packed<R>>>),
}

impl<R: Read> Unpacked<R> {
    /// Unpacks a reader of this packing.
    pub fn new(packing: Packing, packed: R) -> Self {
        let packed = Packed::new(packed);
        Self(match packing {
            Packing::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(packed))),
            Packing::Zstd => Decoder::Zstd(Box::new(ZstdFrames::new(packed))),
            #[cfg(feature = "archives")]
            Packing::Bzip2 => Decoder::Bzip2(Box::new(bzip2::bufread::MultiBzDecoder::new(packed))),
            #[cfg(feature = "archives")]
            Packing::Xz => {
                let all = lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB);
                Decoder::Xz(Box::new(all))
            }
        })
    }

    /// Packed bytes that the decoder has consumed.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        match &self.0 {
            Decoder::Gzip(gzip) => gzip.get_ref().consumed,
            Decoder::Zstd(zstd) => zstd.get_ref().consumed,
            #[cfg(feature = "archives")]
            Decoder::Bzip2(bzip2) => bzip2.get_ref().consumed,
            #[cfg(feature = "archives")]
            Decoder::Xz(xz) => xz.inner().consumed,
        }
    }

    /// Reads and drops the packed bytes that the decoder has not consumed; returns their number.
    pub fn drain(&mut self) -> u64 {
        match &mut self.0 {
            Decoder::Gzip(gzip) => gzip.get_mut().drain(),
            Decoder::Zstd(zstd) => zstd.get_mut().drain(),
            #[cfg(feature = "archives")]
            Decoder::Bzip2(bzip2) => bzip2.get_mut().drain(),
            #[cfg(feature = "archives")]
            Decoder::Xz(xz) => xz.inner_mut().drain(),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Decoder::Gzip(gzip) => {
                let room = into.len().min(GZIP_CHUNK);
                gzip.read(&mut into[..room])
            }
            Decoder::Zstd(zstd) => zstd.read(into),
            #[cfg(feature = "archives")]
            Decoder::Bzip2(bzip2) => bzip2.read(into),
            #[cfg(feature = "archives")]
            Decoder::Xz(xz) => xz.read(into),
        }
    }
}

impl<R: Read> fmt::Debug for Unpacked<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let consumed = self.consumed();
        out.debug_struct("Unpacked")
            .field("consumed", &consumed)
            .finish_non_exhaustive()
    }
}
