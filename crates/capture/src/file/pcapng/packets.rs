//! The blocks that hold packets.

use super::{Block, Known, Pcapng};
use crate::file::options::Options;
use crate::file::warning::{Log, WarningKind};
use crate::file::{Direction, Head};
use pcap_parser::EPB_MAGIC;

/// Offset of the packet in an enhanced or obsolete packet block (sections 4.3 and A).
const PACKET_AT: usize = 28;

/// Offset of the packet in a simple packet block (section 4.4).
const SIMPLE_PACKET_AT: usize = 12;

impl Pcapng {
    /// Enhanced (section 4.3) and obsolete (appendix A) packet blocks. They differ in the first field only: an
    /// interface of 32 bits, or an interface of 16 bits and a count of drops.
    #[inline]
    pub(super) fn packet(&mut self, bytes: &[u8], block: Block, log: &mut Log) -> Option<Head> {
        log.frames += 1;
        let Some(captured) = self.captured(bytes) else {
            log.note(WarningKind::PacketBlock, block.from);
            return None;
        };
        let id = match block.kind {
            EPB_MAGIC => self.order.u32(bytes, 8),
            _ => u32::from(self.order.u16(bytes, 8)),
        };
        let known = self.known_or_note(id, block, log)?;
        let head = Head {
            time_ns: self.time(bytes, &known, block, log),
            interface: known.index,
            link: known.link,
            original_len: self.order.u32(bytes, 24),
            start: PACKET_AT,
            len: captured,
            direction: self.direction(bytes, captured, block, log),
        };
        Some(with_sound_length(head, block, log))
    }

    /// How many bytes of the packet there are; `None` if they do not fit in the block.
    #[inline]
    fn captured(&self, bytes: &[u8]) -> Option<usize> {
        let room = bytes.len().checked_sub(PACKET_AT + 4)?;
        let captured = self.order.u32(bytes, 20) as usize;
        (captured <= room).then_some(captured)
    }

    #[inline]
    fn known_or_note(&self, id: u32, block: Block, log: &mut Log) -> Option<Known> {
        let known = self.known.get(id as usize).copied().flatten();
        if known.is_none() {
            log.note(WarningKind::UnknownInterface { id }, block.from);
        }
        known
    }

    #[inline]
    fn time(&mut self, bytes: &[u8], known: &Known, block: Block, log: &mut Log) -> i64 {
        let high = u64::from(self.order.u32(bytes, 12));
        let low = u64::from(self.order.u32(bytes, 16));
        let time = known.clock.nanoseconds(high << 32 | low);
        self.last_time = time.unwrap_or_else(|nearest| {
            log.note(WarningKind::TimeOutOfRange, block.from);
            nearest
        });
        self.last_time
    }

    /// `epb_flags`, option 2: section 4.3.1.
    #[inline]
    fn direction(&self, bytes: &[u8], captured: usize, block: Block, log: &mut Log) -> Direction {
        let options_at = PACKET_AT + captured.next_multiple_of(4);
        match bytes.get(options_at..bytes.len() - 4) {
            None | Some([]) => Direction::Unknown,
            Some(area) => self.direction_in(area, block, log),
        }
    }

    fn direction_in(&self, area: &[u8], block: Block, log: &mut Log) -> Direction {
        let mut options = Options::new(area, self.order);
        let flags = options.find(|(code, value)| *code == 2 && value.len() >= 4);
        if options.damaged {
            log.note(WarningKind::BlockOptions, block.from);
        }
        match flags.map_or(0, |(_, value)| self.order.u32(value, 0) & 3) {
            1 => Direction::Inbound,
            2 => Direction::Outbound,
            _ => Direction::Unknown,
        }
    }

    /// A simple packet block (section 4.4): always of interface 0, without a time, and without a captured length, which
    /// follows from the snap length.
    pub(super) fn simple_packet(
        &mut self,
        bytes: &[u8],
        block: Block,
        log: &mut Log,
    ) -> Option<Head> {
        log.frames += 1;
        let Some(room) = bytes.len().checked_sub(SIMPLE_PACKET_AT + 4) else {
            log.note(WarningKind::PacketBlock, block.from);
            return None;
        };
        let known = self.known_or_note(0, block, log)?;
        let original_len = self.order.u32(bytes, 8);
        let wanted = match known.snap_len {
            0 => original_len,
            limit => original_len.min(limit),
        };
        if wanted as usize > room {
            log.note(WarningKind::PacketBlock, block.from);
            return None;
        }
        log.note(WarningKind::NoTime, block.from);
        Some(Head {
            time_ns: self.last_time,
            interface: known.index,
            link: known.link,
            original_len,
            start: SIMPLE_PACKET_AT,
            len: wanted as usize,
            direction: Direction::Unknown,
        })
    }
}

#[inline]
fn with_sound_length(mut head: Head, block: Block, log: &mut Log) -> Head {
    if head.len > head.original_len as usize {
        log.note(WarningKind::CapturedOverOriginal, block.from);
        head.original_len = head.len as u32;
    }
    head
}
