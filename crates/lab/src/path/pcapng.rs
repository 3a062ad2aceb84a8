//! pcapng as draft-ietf-opsawg-pcapng describes it: one section, one Ethernet interface, times in
//! nanoseconds.
//!
//! `replay` and `simulate` have writers of their own, private ones; this crate depends on neither.

use std::io::{self, Write};

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// Block types.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Options: of an interface its name and the unit of its times, of a packet its flags.
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    /// The frame's length in bytes.
    pub(super) original: usize,
    /// What is kept of it.
    pub(super) bytes: &'a [u8],
    /// It came in to the host whose capture this is, or went out; unknown between hosts.
    pub(super) inbound: Option<bool>,
}

/// Writes a file.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file with one interface; `snap` is the most that is kept of a frame.
    pub(super) fn new(out: W, interface: &str, snap: u32) -> io::Result<Self> {
        let block = Vec::new();
        let mut writer = Self { out, block };
        // Byte order, version 1.0, length of the section not given.
        writer.put(&0x1a2b_3c4d_u32.to_le_bytes());
        writer.put(&[1, 0, 0, 0]);
        writer.put(&[0xff; 8]);
        writer.end_block(SECTION_HEADER)?;
        writer.put(&ETHERNET.to_le_bytes());
        writer.put(&[0, 0]);
        writer.put(&snap.to_le_bytes());
        writer.option(IF_NAME, interface.as_bytes());
        writer.option(IF_TSRESOL, &[9]);
        writer.put(&[0; 4]);
        writer.end_block(INTERFACE)?;
        Ok(writer)
    }

    /// Writes a frame.
    pub(super) fn packet(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.put(&0_u32.to_le_bytes());
        self.put(&((record.time >> 32) as u32).to_le_bytes());
        self.put(&(record.time as u32).to_le_bytes());
        self.put(&(record.bytes.len() as u32).to_le_bytes());
        self.put(&(record.original as u32).to_le_bytes());
        self.padded(record.bytes);
        if let Some(inbound) = record.inbound {
            // 1 is inbound, 2 outbound.
            let flags: u32 = if inbound { 1 } else { 2 };
            self.option(EPB_FLAGS, &flags.to_le_bytes());
            self.put(&[0; 4]);
        }
        self.end_block(ENHANCED_PACKET)
    }

    /// Hands on what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    /// Bytes, and zeros up to the next multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.put(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// An option, no longer than its length field can say.
    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.put(&code.to_le_bytes());
        self.put(&length.to_le_bytes());
        self.padded(value.get(..length.into()).unwrap_or(value));
    }

    /// Writes the block with its length in front and behind.
    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}
