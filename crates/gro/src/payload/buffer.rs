//! A frame that payload is copied into.

use core::ops::Range;

use alloc::vec::Vec;

use coalescope_wire::checksum::copy_and_sum;

/// Bytes in memory that was initialised once, so that payload can be copied and summed in one pass.
/// It grows to the next power of two behind the longest frame that it ever held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
    len: usize,
}

impl Buffer {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    /// Keeps so many bytes at most.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Holds these bytes, and none of those before.
    #[inline]
    pub(crate) fn become_copy(&mut self, bytes: &[u8]) {
        self.len = 0;
        self.append(bytes);
    }

    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends bytes if their sum (RFC 1071) is right, which is known only after they are copied.
    #[inline]
    pub(crate) fn append_if(&mut self, bytes: &[u8], is_right: impl FnOnce(u64) -> bool) -> bool {
        let before = self.len;
        let right = is_right(copy_and_sum(bytes, self.room(bytes.len())));
        if !right {
            self.truncate(before);
        }
        right
    }

    /// Replaces a range of bytes by others, which may be more or fewer.
    #[inline]
    pub(crate) fn replace(&mut self, range: Range<usize>, bytes: &[u8]) {
        match self.memory[..self.len].get_mut(range.clone()) {
            Some(old) if old.len() == bytes.len() => old.copy_from_slice(bytes),
            Some(old) => {
                self.len = self.len - old.len() + bytes.len();
                self.memory.splice(range, bytes.iter().copied());
            }
            None => {}
        }
    }

    /// Room for so many more bytes, with arbitrary content.
    #[inline]
    fn room(&mut self, len: usize) -> &mut [u8] {
        let from = self.len;
        self.len += len;
        if self.memory.len() < self.len {
            self.memory.resize(self.len.next_power_of_two(), 0);
        }
        &mut self.memory[from..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(bytes: &[u8]) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.become_copy(bytes);
        buffer
    }

    #[test]
    fn what_is_left_of_longer_frames_does_not_show() {
        let mut buffer = holding(&[7; 100]);
        buffer.become_copy(&[1, 2, 3]);
        buffer.truncate(2);
        buffer.append(&[4]);
        assert_eq!(buffer.as_slice(), [1, 2, 4]);
    }

    #[test]
    fn bytes_are_put_in_the_place_of_fewer_and_of_more() {
        let mut buffer = holding(&[1, 2, 3, 4]);
        buffer.replace(0..2, &[7, 8, 9]);
        assert_eq!(buffer.as_slice(), [7, 8, 9, 3, 4]);
        buffer.replace(1..4, &[]);
        assert_eq!(buffer.as_slice(), [7, 4]);
        buffer.append(&[5]);
        assert_eq!(buffer.as_slice(), [7, 4, 5]);
    }

    #[test]
    fn what_lies_behind_the_frame_is_not_replaced() {
        let mut buffer = holding(&[7; 100]);
        buffer.become_copy(&[1]);
        buffer.replace(0..2, &[8, 9, 10]);
        assert_eq!(buffer.as_slice(), [1]);
        buffer.append(&[2]);
        assert_eq!(buffer.as_slice(), [1, 2]);
    }

    #[test]
    fn bytes_with_another_sum_are_not_there() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1501).collect();
        let sum = coalescope_wire::checksum::sum(&bytes);
        let mut buffer = holding(&[9]);
        assert!(!buffer.append_if(&bytes, |found| found != sum));
        assert_eq!(buffer.as_slice(), [9]);
        assert!(buffer.append_if(&bytes, |found| found == sum));
        assert_eq!(buffer.as_slice()[1..], bytes);
    }
}
