//! The end of an output.

/// Keeps the last bytes of its input.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    cut: bool,
}

impl Tail {
    /// Keeps `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            cut: false,
        }
    }

    pub(super) fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        // Trimmed only at twice the limit, so that each byte is moved at most once.
        if self.bytes.len() > 2 * self.limit {
            self.trim();
        }
    }

    /// The last bytes, and whether earlier ones were dropped.
    pub(super) fn into_bytes(mut self) -> (Vec<u8>, bool) {
        self.trim();
        (self.bytes, self.cut)
    }

    fn trim(&mut self) {
        let over = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..over);
        self.cut |= over > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_more_is_told() {
        let mut tail = Tail::new(4);
        tail.push(b"abcd");
        assert_eq!(
            Tail {
                bytes: b"abcd".to_vec(),
                ..Tail::new(4)
            }
            .into_bytes(),
            (b"abcd".to_vec(), false)
        );
        for letter in b"efghijklmno" {
            tail.push(&[*letter]);
            assert!(tail.bytes.len() <= 8);
        }
        assert_eq!(tail.into_bytes(), (b"lmno".to_vec(), true));
    }
}
