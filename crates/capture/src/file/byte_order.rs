//! Byte order of pcapng sections.

use pcap_parser::BOM_MAGIC;

/// Byte order of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    #[inline]
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let raw = [bytes[at], bytes[at + 1]];
        match self {
            Order::Little => u16::from_le_bytes(raw),
            Order::Big => u16::from_be_bytes(raw),
        }
    }

    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(raw),
            Order::Big => u32::from_be_bytes(raw),
        }
    }

    /// 0 where the bytes end before.
    pub(super) fn u16_if_there(self, bytes: &[u8], at: usize) -> u16 {
        bytes.get(at..at + 2).map_or(0, |two| self.u16(two, 0))
    }
}

/// The byte order of a section from its header (section 4.1).
pub(super) fn byte_order(block: &[u8]) -> Option<Order> {
    let mark = block.get(8..12)?;
    if mark == BOM_MAGIC.to_le_bytes() {
        return Some(Order::Little);
    }
    (mark == BOM_MAGIC.to_be_bytes()).then_some(Order::Big)
}
