//! Captures as a stream of frames: pcap and pcapng, plain or packed with gzip or zstd.
//!
//! [`Source`] reads forward only and holds one buffer, so that pipes, packed files and files
//! larger than memory are the same to it. What is damaged ends reading or is left out, with a
//! [`Warning`]; nothing in a file makes it panic or grow without bound.
//!
//! Records and blocks are parsed here; `pcap-parser` reads the file header and options. That crate wants a
//! whole block in memory before it says what the block is, so it cannot pass over one.

mod again;
mod byte_order;
mod error;
mod interfaces;
mod options;
mod pcap;
mod pcapng;
mod stream;
mod time_units;
mod warning;
mod window;

pub(crate) use time_units::LATEST_NS;

pub use again::{Again, file_again};
pub use error::OpenError;
pub use interfaces::Interface;
pub use warning::{Warning, WarningKind};

use coalescope_wire::LinkType;
use interfaces::Interfaces;
use pcap::Pcap;
use pcapng::Pcapng;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use stream::Stream;
use warning::Log;
use window::Window;

/// One captured frame.
#[derive(Clone, Copy, Debug)]
pub struct RawFrame<'a> {
    /// Its number in the file, from 1, as in Wireshark: packets left out, and custom blocks and journal entries of
    /// pcapng, take a number too, although no frame is returned for them.
    pub number: u64,
    /// When it was captured, in nanoseconds since 1970.
    pub time_ns: i64,
    /// The interface that captured it: an index into [`Source::interfaces`].
    pub interface: u32,
    /// Its link type, the header that it begins with.
    pub link: LinkType,
    /// Bytes on the wire; `data` may be shorter.
    pub original_len: u32,
    /// The bytes that were captured.
    pub data: &'a [u8],
    /// Which way it went through the interface, if the file says.
    pub direction: Direction,
}

/// Which way a frame went through the interface (pcapng's `epb_flags`, bits 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// The file does not say.
    #[default]
    Unknown,
    /// It was received.
    Inbound,
    /// It was sent.
    Outbound,
}

/// A frame whose bytes are still in the window.
struct Head {
    time_ns: i64,
    interface: u32,
    link: LinkType,
    original_len: u32,
    start: usize,
    len: usize,
    direction: Direction,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// A capture that is being read.
pub struct Source {
    window: Window,
    format: Format,
    interfaces: Interfaces,
    log: Log,
    size: Option<u64>,
    again: Option<Again>,
}

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or does not begin like a capture.
    pub fn open(path: &Path) -> Result<Source, OpenError> {
        if path.as_os_str() == "-" {
            return Source::from_reader("standard input", Box::new(std::io::stdin()), None);
        }
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = match opened {
            Ok(opened) => opened,
            Err(source) => return Err(OpenError::Open { name, source }),
        };
        let size = metadata.is_file().then_some(metadata.len());
        let file = Arc::new(file);
        let again = size.and_then(|_| file_again(&file));
        let source = Source::from_reader(&name, Box::new(file), size)?;
        Ok(Source { again, ..source })
    }

    /// Says how to read the same bytes once more: a frame that stands in a capture twice is found only where that is known.
    #[must_use]
    pub fn with_again(mut self, again: Option<Again>) -> Source {
        self.again = again;
        self
    }

    /// How to read the same bytes once more, if that is known.
    pub(crate) fn again(&self) -> Option<Again> {
        self.again.clone()
    }

    /// Reads from anything. `size` is the number of bytes in the reader, if that is known; it is trusted where bytes
    /// that were left out are counted.
    ///
    /// # Errors
    ///
    /// If it does not begin like a capture.
    pub fn from_reader(
        name: &str,
        reader: Box<dyn Read + Send>,
        size: Option<u64>,
    ) -> Result<Source, OpenError> {
        let stream = Stream::open(reader).map_err(|source| OpenError::Read {
            name: name.to_owned(),
            source,
        })?;
        let packed = stream.is_packed();
        let mut window = Window::new(stream, size.filter(|_| !packed));
        let mut interfaces = Interfaces::default();
        let format = open_format(name, &mut window, &mut interfaces, packed)?;
        Ok(Source {
            window,
            format,
            interfaces,
            log: Log::default(),
            size,
            again: None,
        })
    }

    /// The next frame, until the end or until damage that ends reading (see [`Source::warnings`]). The frame is valid
    /// until the next call.
    #[inline(always)]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows from the source, which an Iterator cannot say"
    )]
    pub fn next(&mut self) -> Option<RawFrame<'_>> {
        if self.log.ended {
            return None;
        }
        let (window, log) = (&mut self.window, &mut self.log);
        let head = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(window, log),
            Format::Pcapng(pcapng) => pcapng.next(window, log, &mut self.interfaces),
        }?;
        Some(RawFrame {
            number: self.log.frames,
            time_ns: head.time_ns,
            interface: head.interface,
            link: head.link,
            original_len: head.original_len,
            data: self.window.at(head.start, head.len),
            direction: head.direction,
        })
    }

    /// Passes the next frames to `take`, at half the cost of [`Source::next`], as long as they are Ethernet frames, lie
    /// in memory, are sound, and `take` accepts them; returns how many. [`Source::next`] continues behind them.
    #[inline(always)]
    pub(crate) fn each_in_memory(&mut self, mut take: impl FnMut(&RawFrame<'_>) -> bool) -> usize {
        let Format::Pcap(pcap) = &self.format else {
            return 0;
        };
        if self.log.ended || !pcap.is_ethernet() {
            return 0;
        }
        let mut rest = self.window.bytes();
        let available = rest.len();
        let known = self.log.frames;
        let mut number = known + 1;
        while let Some((frame, after)) = pcap.split(rest)
            && take(&RawFrame { number, ..frame })
        {
            number += 1;
            rest = after;
        }
        let consumed = available - rest.len();
        self.log.frames = number - 1;
        self.window.consume(consumed);
        (self.log.frames - known) as usize
    }

    /// The interfaces described up to now. In pcapng more may come with every frame.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        self.interfaces.as_slice()
    }

    /// The damage found up to now, each sort once.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.log.warnings
    }

    /// Bytes of the unpacked file that were not read because of damage. If the packing itself is
    /// damaged: packed bytes that could not be unpacked, and bytes of a record that was begun.
    /// Packets left out from sound blocks do not count.
    #[must_use]
    pub fn unreadable_bytes(&self) -> u64 {
        self.log.unreadable
    }

    /// Bytes of the underlying file consumed so far, for a progress bar.
    #[must_use]
    pub fn consumed_bytes(&self) -> u64 {
        self.window.consumed()
    }

    /// Bytes of the underlying file when it was opened. `None` for a pipe.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.size
    }
}

fn open_format(
    name: &str,
    window: &mut Window,
    interfaces: &mut Interfaces,
    packed: bool,
) -> Result<Format, OpenError> {
    window.ensure(12);
    if pcap::is_pcap(window.bytes()) {
        let (pcap, interface) = Pcap::open(name, window)?;
        interfaces.add(interface);
        return Ok(Format::Pcap(pcap));
    }
    if pcapng::is_pcapng(window.bytes()) {
        return Pcapng::open(name, window).map(Format::Pcapng);
    }
    Err(not_a_capture(name, window, packed))
}

fn not_a_capture(name: &str, window: &mut Window, packed: bool) -> OpenError {
    let name = name.to_owned();
    window.ensure(error::STRANGER_BYTES);
    let first = window.bytes();
    if let Some(error) = window.failure().filter(|_| first.len() < 4) {
        let source = std::io::Error::new(error.kind(), error.to_string());
        return OpenError::Read { name, source };
    }
    if first.is_empty() {
        return OpenError::Empty { name };
    }
    OpenError::NotACapture {
        name,
        place: if packed {
            "unpacked, it begins with"
        } else {
            "it begins with"
        },
        seen: error::show_bytes(first),
        advice: error::advice(first),
    }
}
