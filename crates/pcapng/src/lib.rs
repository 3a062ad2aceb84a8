//! Writes pcapng as draft-ietf-opsawg-pcapng describes it: one section, interfaces as they are needed, enhanced
//! packet blocks, times in nanoseconds.
//!
//! `coalescope-capture` reads pcapng; `coalescope-simulate` has a writer of its own, so that the
//! two share no mistake.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Options of every block.
const COMMENT: u16 = 1;
/// Options of a section header.
const SHB_USERAPPL: u16 = 4;
/// Options of an interface description.
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
/// Options of an enhanced packet block.
const EPB_FLAGS: u16 = 2;

/// Ticks of 10^-9 seconds.
const NANOSECONDS: u8 = 9;

/// An interface on which frames were captured.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// Its link type (LINKTYPE_...): 1 for Ethernet.
    pub link_number: u16,
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Snap length: how many bytes of a frame are captured at most; 0 for all.
    pub snap_len: u32,
}

/// A frame to write.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its interface, as [`Writer::interface`] numbered it.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// The frame's length on the wire in bytes.
    pub original_len: u32,
    /// The captured bytes.
    pub data: &'a [u8],
    /// Whether the capturing host received the frame, or sent it; `None` if this is not known.
    pub inbound: Option<bool>,
    /// A comment on the frame.
    pub comment: Option<&'a str>,
}

/// Writes one section. The file is complete after each frame.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a section, with a comment about its contents.
    ///
    /// # Errors
    ///
    /// Errors of `out`, as with all methods here.
    pub fn new(out: W, comment: Option<&str>) -> io::Result<Self> {
        let mut writer = Self {
            out,
            block: Vec::new(),
            interfaces: 0,
        };
        // Byte order, version 1.0, length of the section unknown.
        writer.word(0x1a2b_3c4d);
        writer.half(1);
        writer.half(0);
        writer.word(u32::MAX);
        writer.word(u32::MAX);
        if let Some(comment) = comment {
            writer.option(COMMENT, comment.as_bytes());
        }
        let program = concat!("coalescope ", env!("CARGO_PKG_VERSION"));
        writer.option(SHB_USERAPPL, program.as_bytes());
        writer.end_of_options();
        writer.end_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Writes an interface description; returns the interface's number.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        self.half(interface.link_number);
        self.half(0);
        self.word(interface.snap_len);
        if let Some(name) = interface.name {
            self.option(IF_NAME, name.as_bytes());
        }
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.end_of_options();
        self.end_block(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a frame.
    pub fn packet(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.word(record.interface);
        self.word((record.time_ns >> 32) as u32);
        self.word(record.time_ns as u32);
        self.word(record.data.len() as u32);
        self.word(record.original_len);
        self.padded(record.data);
        self.packet_options(record);
        self.end_block(ENHANCED_PACKET)
    }

    fn packet_options(&mut self, record: &Record<'_>) {
        if let Some(inbound) = record.inbound {
            let flags: u32 = if inbound { 1 } else { 2 };
            self.option(EPB_FLAGS, &flags.to_le_bytes());
        }
        if let Some(comment) = record.comment {
            self.option(COMMENT, comment.as_bytes());
        }
        if record.inbound.is_some() || record.comment.is_some() {
            self.end_of_options();
        }
    }

    /// Flushes the buffer of `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn half(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends bytes, padded with zeros to a multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Appends an option, cut to the longest length of its length field.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.half(code);
        self.half(value.len() as u16);
        self.padded(value);
    }

    fn end_of_options(&mut self) {
        self.word(0);
    }

    /// Writes the prepared block, with its length in front and behind.
    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        let len = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&len)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&len)?;
        self.block.clear();
        Ok(())
    }
}
