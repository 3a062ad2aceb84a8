//! A file of zstd frames, one after the other (RFC 8878 section 3), including skippable frames.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, ErrorKind, Read};

/// An empty last block (RFC 8878 section 3.1.1.2: `Last_Block` 1, `Raw_Block`, size 0), and four
/// bytes for the checksum that may be announced.
const END_OF_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Unpacks all frames of a file. `ruzstd` unpacks single ones.
///
/// Memory is bounded by the decoder's largest window (128 MiB unless set otherwise; a frame made
/// with a larger one is refused), whatever the frame unpacks to.
pub(crate) struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
    failure: Option<io::Error>,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(source: R) -> ZstdFrames<R> {
        ZstdFrames {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
            failure: None,
        }
    }

    pub(crate) fn get_ref(&self) -> &R {
        &self.source
    }

    pub(crate) fn get_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// Moves to the next frame with content; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    self.skip(u64::from(length))?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
        if skipped == length {
            return Ok(());
        }
        Err(ErrorKind::UnexpectedEof.into())
    }

    /// Unpacks one more block of the frame. The decoder holds back a whole window of bytes until
    /// the frame ends. At a damaged place, an end of frame made here releases these bytes; the
    /// error is returned after them.
    fn unpack_block(&mut self) {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
            self.failure = Some(damaged(error));
            let one = BlockDecodingStrategy::UptoBlocks(1);
            // If the decoder refuses, there are no bytes to release.
            let _ = self.decoder.decode_blocks(&END_OF_FRAME[..], one);
        }
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
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.in_frame && !self.decoder.is_finished() {
                self.unpack_block();
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
