//! The headers of one segment, rewritten in place.

use coalescope_wire::checksum;

/// Header bytes of a segment at most: two levels of Ethernet, IPv6 and a tunnel, and TCP with all
/// its options, come to less than 200.
pub const MAX_SEGMENT_HEADER: usize = 256;

/// Header bytes. Offsets come from a checked layout; writes to an offset outside are ignored.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    bytes: [u8; MAX_SEGMENT_HEADER],
    len: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            bytes: [0; MAX_SEGMENT_HEADER],
            len: 0,
        }
    }
}

impl Buffer {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.range(0, self.len)
    }

    /// Appends bytes; `false` if they do not fit.
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let end = self.len + bytes.len();
        let Some(space) = self.bytes.get_mut(self.len..end) else {
            return false;
        };
        space.copy_from_slice(bytes);
        self.len = end;
        true
    }

    pub(super) fn range(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// The sum of a range's 16-bit words.
    pub(super) fn sum(&self, from: usize, to: usize) -> u64 {
        checksum::sum(self.range(from, to))
    }

    pub(super) fn get16(&self, at: usize) -> u16 {
        self.array(at).map_or(0, u16::from_be_bytes)
    }

    pub(super) fn get32(&self, at: usize) -> u32 {
        self.array(at).map_or(0, u32::from_be_bytes)
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    pub(super) fn put16(&mut self, at: usize, value: u16) {
        self.put(at, &value.to_be_bytes());
    }

    pub(super) fn put32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_be_bytes());
    }

    pub(super) fn put(&mut self, at: usize, value: &[u8]) {
        if let Some(field) = self.bytes.get_mut(at..at + value.len()) {
            field.copy_from_slice(value);
        }
    }
}
