//! Which bytes of a stream have been seen.

use std::collections::BTreeMap;

/// Disjoint ranges, from start to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range; returns how many of its bytes are new.
    pub(crate) fn add(&mut self, start: u64, end: u64) -> u64 {
        let (mut left, mut right, mut known) = (start, end, 0);
        while let Some((&from, &to)) = self.0.range(..=right).next_back() {
            if to < left {
                break;
            }
            known += to.min(end).saturating_sub(from.max(start));
            left = left.min(from);
            right = right.max(to);
            self.0.remove(&from);
        }
        self.0.insert(left, right);
        end - start - known
    }

    /// Bytes in all ranges.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// The end of the last range.
    pub(crate) fn end(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, to)| *to)
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn counts_each_byte_once() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.add(10, 20), 10);
        assert_eq!(ranges.add(30, 40), 10);
        assert_eq!(ranges.add(15, 35), 10);
        assert_eq!(ranges.add(0, 50), 20);
        assert_eq!((ranges.total(), ranges.end()), (50, 50));
    }
}
