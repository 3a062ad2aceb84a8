//! pcapng files: draft-ietf-opsawg-pcapng.
//!
//! Blocks are delimited and checked here and not by `pcap_parser::parse_block`; the crate is used for options only. It
//! needs a whole block in memory before it returns the type, so it cannot pass over a large block, and it collects the
//! options of each block, 40 bytes for 4 of the file (160 MiB for a block of 16 MiB of zeros). It is not quicker
//! either: 22 ns for an enhanced packet block of 96 bytes, where this code takes some 12 with all checks and the time.

mod packets;

use super::Head;
use super::byte_order::{Order, byte_order};
use super::error::OpenError;
use super::interfaces::{Interface, Interfaces, MAX_INTERFACES, name};
use super::options::Options;
use super::time_units::Clock;
use super::warning::{Log, WarningKind};
use super::window::Window;
use coalescope_wire::LinkType;
use pcap_parser::{CB_MAGIC, DCB_MAGIC, EPB_MAGIC, IDB_MAGIC, SHB_MAGIC, SJE_MAGIC, SPB_MAGIC};

/// Packet Block, obsolete: draft-ietf-opsawg-pcapng appendix A.
const OBSOLETE_PACKET: u32 = 2;

/// Type, length, and length again.
const SMALLEST_BLOCK: u32 = 12;

/// The largest block that is held in memory. A packet has at most 512 KiB (BIG TCP); the rest is
/// room for options.
const LARGEST_HELD: u32 = 16 << 20;

/// What is needed of an interface to read its packets.
#[derive(Clone, Copy)]
struct Known {
    index: u32,
    link: LinkType,
    snap_len: u32,
    clock: Clock,
}

/// A block whose type and length are known and sound.
#[derive(Clone, Copy)]
struct Block {
    kind: u32,
    length: u32,
    /// Offset in the file.
    from: u64,
}

/// What a block turned out to be.
enum Read {
    Frame(Head),
    Other,
    End,
}

/// Reads blocks.
pub(super) struct Pcapng {
    order: Order,
    /// Sections up to now.
    sections: u32,
    /// The interfaces of this section by their number; `None` for those that are damaged.
    known: Vec<Option<Known>>,
    /// The time of the last packet that had one.
    last_time: i64,
}

/// Whether a file begins like a pcapng file.
pub(super) fn is_pcapng(first: &[u8]) -> bool {
    first.starts_with(&SHB_MAGIC.to_le_bytes()) && (first.len() < 12 || byte_order(first).is_some())
}

impl Pcapng {
    /// Reads the byte order of the first section; the caller has checked `is_pcapng`.
    pub(super) fn open(name: &str, window: &Window) -> Result<Pcapng, OpenError> {
        let order = byte_order(window.bytes()).ok_or_else(|| OpenError::Cut {
            name: name.to_owned(),
            format: "pcapng",
            have: window.bytes().len() as u64,
            need: 28,
        })?;
        Ok(Pcapng {
            order,
            sections: 0,
            known: Vec::new(),
            last_time: 0,
        })
    }

    /// The next packet, with its bytes in the window.
    #[inline(never)]
    pub(super) fn next(
        &mut self,
        window: &mut Window,
        log: &mut Log,
        interfaces: &mut Interfaces,
    ) -> Option<Head> {
        loop {
            let block = self.block(window, log)?;
            match self.read(block, window, log, interfaces) {
                Read::Frame(head) => return Some(head),
                Read::Other => {}
                Read::End => return None,
            }
        }
    }

    /// Type and length of the next block. `None` ends reading.
    #[inline]
    fn block(&mut self, window: &mut Window, log: &mut Log) -> Option<Block> {
        let from = window.offset();
        if !window.ensure(SMALLEST_BLOCK as usize) {
            log.end(window, from);
            return None;
        }
        let kind = self.order.u32(window.bytes(), 0);
        if kind == SHB_MAGIC {
            self.begin_section(window, log)?;
        }
        let length = self.order.u32(window.bytes(), 4);
        let held = kind == SHB_MAGIC || kind == IDB_MAGIC;
        if length < SMALLEST_BLOCK || !length.is_multiple_of(4) || held && length > LARGEST_HELD {
            stop_at_length(window, log, length);
            return None;
        }
        Some(Block { kind, length, from })
    }

    /// Reads the byte order of a section, before anything else of the section can be read.
    #[cold]
    fn begin_section(&mut self, window: &mut Window, log: &mut Log) -> Option<()> {
        let from = window.offset();
        let Some(order) = byte_order(window.bytes()) else {
            log.stop(window, from, |left_out| WarningKind::SectionHeader {
                left_out,
            });
            return None;
        };
        self.order = order;
        self.sections = self.sections.saturating_add(1);
        self.known.clear();
        Some(())
    }

    #[inline]
    fn read(
        &mut self,
        block: Block,
        window: &mut Window,
        log: &mut Log,
        interfaces: &mut Interfaces,
    ) -> Read {
        let is_packet = matches!(block.kind, EPB_MAGIC | SPB_MAGIC | OBSOLETE_PACKET);
        let is_needed = is_packet || matches!(block.kind, SHB_MAGIC | IDB_MAGIC);
        if !is_needed || block.length > LARGEST_HELD {
            return self.pass_over(block, is_packet, window, log);
        }
        if !window.ensure(block.length as usize) {
            log.end(window, block.from);
            return Read::End;
        }
        let trailing = self.order.u32(window.bytes(), block.length as usize - 4);
        if trailing != block.length {
            return stop_at_trailing(block, trailing, window, log);
        }
        self.read_held(block, window, log, interfaces)
    }

    /// Passes over a block without holding it.
    #[cold]
    fn pass_over(
        &mut self,
        block: Block,
        is_packet: bool,
        window: &mut Window,
        log: &mut Log,
    ) -> Read {
        if !window.skip(u64::from(block.length) - 4) || !window.ensure(4) {
            log.end(window, block.from);
            return Read::End;
        }
        let trailing = self.order.u32(window.bytes(), 0);
        if trailing != block.length {
            return stop_at_trailing(block, trailing, window, log);
        }
        window.consume(4);
        // tshark 4.0.17 shows custom blocks and journal entries as frames with numbers; frames have the same numbers
        // here, so that users of tshark find them.
        let is_numbered = matches!(block.kind, CB_MAGIC | DCB_MAGIC | SJE_MAGIC);
        log.frames += u64::from(is_packet || is_numbered);
        if is_packet {
            let length = block.length;
            log.note(WarningKind::HugePacketBlock { length }, block.from);
        }
        Read::Other
    }

    #[inline]
    fn read_held(
        &mut self,
        block: Block,
        window: &mut Window,
        log: &mut Log,
        interfaces: &mut Interfaces,
    ) -> Read {
        let start = window.start();
        window.consume(block.length as usize);
        let bytes = window.at(start, block.length as usize);
        let head = match block.kind {
            EPB_MAGIC | OBSOLETE_PACKET => self.packet(bytes, block, log),
            SPB_MAGIC => self.simple_packet(bytes, block, log),
            IDB_MAGIC => {
                self.interface(bytes, block, log, interfaces);
                return Read::Other;
            }
            _ => {
                self.section(bytes, block, log);
                return Read::Other;
            }
        };
        head.map_or(Read::Other, |head| {
            Read::Frame(Head {
                start: start + head.start,
                ..head
            })
        })
    }

    /// Checks the version (section 4.1): another major version may have changed anything. None has been made.
    #[cold]
    fn section(&mut self, bytes: &[u8], block: Block, log: &mut Log) {
        let major = self.order.u16_if_there(bytes, 12);
        if major != 1 {
            log.note_ahead(WarningKind::SectionVersion { major }, block.from);
        }
    }

    /// Adds an interface (section 4.2). A damaged one takes a number too.
    #[cold]
    fn interface(&mut self, bytes: &[u8], block: Block, log: &mut Log, all: &mut Interfaces) {
        if all.is_full() || self.known.len() == MAX_INTERFACES {
            log.note_ahead(WarningKind::TooManyInterfaces, block.from);
        }
        if self.known.len() == MAX_INTERFACES {
            return;
        }
        let described = self.describe(bytes, block, log);
        if described.is_none() {
            log.note_ahead(WarningKind::InterfaceBlock, block.from);
        }
        let known = described.and_then(|interface| keep(interface, all));
        self.known.push(known);
    }

    fn describe(&self, bytes: &[u8], block: Block, log: &mut Log) -> Option<Interface> {
        let area = bytes.get(16..bytes.len() - 4)?;
        let link_number = self.order.u16(bytes, 8);
        let snap_len = self.order.u32(bytes, 12);
        let mut interface = Interface {
            section: self.sections.saturating_sub(1),
            ..Interface::new(link_number, snap_len)
        };
        let mut options = Options::new(area, self.order);
        for (code, value) in &mut options {
            self.apply(&mut interface, code, value);
        }
        if options.damaged {
            log.note_ahead(WarningKind::BlockOptions, block.from);
        }
        Some(interface)
    }

    /// Section 4.2, table of options: 2 `if_name`, 3 `if_description`, 9 `if_tsresol`,
    /// 14 `if_tsoffset`.
    fn apply(&self, interface: &mut Interface, code: u16, value: &[u8]) {
        match (code, value) {
            (2, text) => interface.name = name(text),
            (3, text) => interface.description = name(text),
            (9, &[resolution, ..]) => interface.time_resolution = resolution,
            (14, &[a, b, c, d, e, f, g, h, ..]) => {
                let raw = [a, b, c, d, e, f, g, h];
                interface.time_offset = match self.order {
                    Order::Little => i64::from_le_bytes(raw),
                    Order::Big => i64::from_be_bytes(raw),
                };
            }
            _ => {}
        }
    }
}

fn keep(interface: Interface, all: &mut Interfaces) -> Option<Known> {
    let (link, snap_len) = (interface.link, interface.snap_len);
    let clock = Clock::new(interface.time_resolution, interface.time_offset);
    Some(Known {
        index: all.add(interface)?,
        link,
        snap_len,
        clock,
    })
}

#[cold]
fn stop_at_length(window: &mut Window, log: &mut Log, claimed: u32) {
    let from = window.offset();
    log.stop(window, from, |left_out| WarningKind::BlockLength {
        claimed,
        left_out,
    });
}

#[cold]
fn stop_at_trailing(block: Block, trailing: u32, window: &mut Window, log: &mut Log) -> Read {
    log.stop(window, block.from, |left_out| WarningKind::LengthsDiffer {
        leading: block.length,
        trailing,
        left_out,
    });
    Read::End
}
