//! Repeated timeouts on the same bytes.

/// Bytes that the sender repeats at each timeout without getting through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stuck {
    /// Where the frame that was last repeated begins.
    at: u64,
    /// Timeouts on this frame in a row, and the time waited for them.
    row: u32,
    row_ns: i64,
    /// Payload of the longest of them.
    row_length: u32,
    /// Most timeouts in a row on any bytes.
    pub(crate) most: u32,
    /// Time waited for timeouts on bytes that had two or more.
    pub(crate) waited_ns: i64,
    /// Payload of the longest frame that had two or more.
    pub(crate) length: u32,
    /// Places in the stream that had two or more.
    pub(crate) places: u32,
}

impl Stuck {
    /// Counts a timeout, after `waited_ns`, on these bytes.
    #[cold]
    pub(crate) fn add(&mut self, start: u64, end: u64, waited_ns: i64) {
        if start != self.at {
            (self.at, self.row, self.row_ns, self.row_length) = (start, 0, 0, 0);
        }
        self.row += 1;
        self.row_length = self.row_length.max((end - start) as u32);
        self.row_ns = self.row_ns.saturating_add(waited_ns);
        if self.row >= 2 {
            let row_ns = std::mem::take(&mut self.row_ns);
            self.waited_ns = self.waited_ns.saturating_add(row_ns);
            self.length = self.length.max(self.row_length);
            self.places += u32::from(self.row == 2);
        }
        self.most = self.most.max(self.row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_timeouts_on_the_same_bytes_make_it_stuck() {
        let mut stuck = Stuck::default();
        stuck.add(0, 100, 200);
        stuck.add(100, 200, 200);
        assert_eq!((stuck.most, stuck.waited_ns, stuck.length), (1, 0, 0));
        stuck.add(100, 200, 400);
        stuck.add(100, 180, 800);
        assert_eq!((stuck.most, stuck.waited_ns, stuck.length), (3, 1400, 100));
        assert_eq!(stuck.places, 1);
    }

    /// A sender that goes on with smaller segments at the second timeout was stuck with the larger ones.
    #[test]
    fn the_first_of_a_row_counts_for_the_length() {
        let mut stuck = Stuck::default();
        stuck.add(0, 2_896, 200);
        stuck.add(0, 1_448, 400);
        assert_eq!((stuck.most, stuck.length), (2, 2_896));
        stuck.add(1_448, 2_896, 200);
        stuck.add(1_448, 2_896, 400);
        assert_eq!((stuck.length, stuck.places), (2_896, 2));
    }
}
