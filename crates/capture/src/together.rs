//! How many bytes arrived in frames that left together.
//!
//! A bucket or a queue has room for some bytes at a time, in whatever frames they come; what cannot carry long frames
//! carries the same bytes in several shorter ones.

use crate::lengths::Lengths;

/// Frames this close together left together: in this time a bucket that is refilled at 40 Mbit/s gains one segment.
const TOGETHER_NS: i64 = 300_000;

/// The frames of one direction that arrived, in the order in which that became known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Together {
    /// Those that left together last.
    began_ns: i64,
    frames: u32,
    bytes: u32,
    /// Those before them, two frames and more, by their bytes in all.
    before: Lengths,
}

impl Together {
    /// A frame arrived that left at this time.
    pub(crate) fn arrived(&mut self, left_ns: i64, bytes: u32) {
        let since = left_ns.saturating_sub(self.began_ns);
        if self.frames == 0 || !(0..=TOGETHER_NS).contains(&since) {
            self.end();
            (self.began_ns, self.frames, self.bytes) = (left_ns, 0, 0);
        }
        self.frames += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn end(&mut self) {
        if self.frames > 1 {
            self.before.add(self.bytes, 1, 0);
        }
    }

    /// Frames that left together and arrived, by their bytes in all.
    pub(crate) fn lengths(&self) -> Lengths {
        let mut all = self.clone();
        all.end();
        all.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_together_is_summed_up() {
        let mut together = Together::default();
        let frames = [
            (0, 1448),
            (100, 2896),
            (300, 1448),
            (301, 1448),
            (900, 1448),
            (800, 700),
            (850, 700),
        ];
        for (us, bytes) in frames {
            together.arrived(i64::from(us) * 1_000, bytes);
        }
        let lengths = together.lengths();
        let sums: Vec<_> = lengths
            .iter()
            .map(|sum| (sum.bytes, sum.passed, sum.lost))
            .collect();
        assert_eq!(sums, [(1_536, 1, 0), (5_888, 1, 0)]);
    }
}
