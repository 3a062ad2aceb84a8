//! pcapng as draft-ietf-opsawg-pcapng describes it: one section, interfaces as they are needed,
//! enhanced packet blocks, times in nanoseconds.

use std::io::{self, Write};

use coalescope_capture::file::Direction;

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

/// A packet to write.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    /// Its interface, as [`Writer::interface`] numbered it.
    pub(crate) interface: u32,
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// Its length on the wire in bytes.
    pub(crate) original_len: u32,
    /// What there is of it.
    pub(crate) data: &'a [u8],
    pub(crate) direction: Direction,
    pub(crate) comment: Option<&'a str>,
}

/// Writes one section.
pub(crate) struct Writer<W> {
    out: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a section. The comment says what is in it.
    pub(crate) fn new(out: W, comment: &str) -> io::Result<Self> {
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
        writer.option(COMMENT, comment.as_bytes());
        let program = concat!("coalescope ", env!("CARGO_PKG_VERSION"));
        writer.option(SHB_USERAPPL, program.as_bytes());
        writer.end_of_options();
        writer.end_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Describes an interface; gives its number.
    pub(crate) fn interface(&mut self, link_number: u16, name: Option<&str>) -> io::Result<u32> {
        self.half(link_number);
        self.half(0);
        // No snap length.
        self.word(0);
        if let Some(name) = name {
            self.option(IF_NAME, name.as_bytes());
        }
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.end_of_options();
        self.end_block(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet.
    pub(crate) fn packet(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.word(record.interface);
        let time = record.time_ns.max(0) as u64;
        self.word((time >> 32) as u32);
        self.word(time as u32);
        self.word(record.data.len() as u32);
        self.word(record.original_len);
        self.padded(record.data);
        self.packet_options(record);
        self.end_block(ENHANCED_PACKET)
    }

    fn packet_options(&mut self, record: &Record<'_>) {
        let flags: Option<u32> = match record.direction {
            Direction::Unknown => None,
            Direction::Inbound => Some(1),
            Direction::Outbound => Some(2),
        };
        if let Some(flags) = flags {
            self.option(EPB_FLAGS, &flags.to_le_bytes());
        }
        if let Some(comment) = record.comment {
            self.option(COMMENT, comment.as_bytes());
        }
        if flags.is_some() || record.comment.is_some() {
            self.end_of_options();
        }
    }

    /// Hands over what is buffered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn half(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes, and zeros up to the next multiple of four.
    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// An option, no longer than its length field can say.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.half(code);
        self.half(value.len() as u16);
        self.padded(value);
    }

    fn end_of_options(&mut self) {
        self.word(0);
    }

    /// Writes the block that was put together, with its length in front and behind.
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

#[cfg(test)]
mod tests {
    use super::*;
    use coalescope_capture::file::Source;
    use std::io::Cursor;

    fn written(records: &[Record<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, "test").unwrap();
        assert_eq!(writer.interface(1, Some("eth0")).unwrap(), 0);
        assert_eq!(writer.interface(101, None).unwrap(), 1);
        for record in records {
            writer.packet(record).unwrap();
        }
        writer.flush().unwrap();
        bytes
    }

    #[test]
    fn what_was_written_is_read() {
        let data: Vec<u8> = (0..=255).cycle().take(70_001).collect();
        let records = [
            Record {
                interface: 1,
                time_ns: 1_700_000_000_123_456_789,
                original_len: 70_001,
                data: &data,
                direction: Direction::Inbound,
                comment: Some("made of 3 frames"),
            },
            Record {
                interface: 0,
                time_ns: 0,
                original_len: 1_500,
                data: &data[..61],
                direction: Direction::Unknown,
                comment: None,
            },
        ];
        let bytes = written(&records);
        let mut source = Source::from_reader("x", Box::new(Cursor::new(bytes)), None).unwrap();
        for record in &records {
            let frame = source.next().unwrap();
            assert_eq!(frame.time_ns, record.time_ns);
            assert_eq!(frame.interface, record.interface);
            assert_eq!(frame.original_len, record.original_len);
            assert_eq!(frame.data, record.data);
            assert_eq!(frame.direction, record.direction);
        }
        assert!(source.next().is_none());
        assert_eq!(source.warnings(), []);
        assert_eq!(source.interfaces()[0].name.as_deref(), Some("eth0"));
        assert_eq!(source.interfaces()[1].link_number, 101);
    }
}
