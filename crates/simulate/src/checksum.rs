//! The Internet checksum (RFC 1071).

/// A ones' complement sum under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Zero.
    pub(crate) fn new() -> Self {
        Self(0)
    }

    /// Adds bytes as big-endian 16-bit words; an odd last byte counts as the high half of a word.
    pub(crate) fn add(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<4>();
        let sum: u64 = words
            .iter()
            .map(|word| u64::from(u32::from_be_bytes(*word)))
            .sum();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        Self(self.0 + sum + u64::from(u32::from_be_bytes(last)))
    }

    /// Adds a number such as a length.
    pub(crate) fn word(self, value: u64) -> Self {
        Self(self.0 + value)
    }

    /// The sum folded to 16 bits, not complemented.
    pub(crate) fn fold(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::new().add(&bytes).fold(), 0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_a_high_half() {
        assert_eq!(Sum::new().add(&[0x12, 0x34, 0x56]).fold(), 0x6834);
    }
}
