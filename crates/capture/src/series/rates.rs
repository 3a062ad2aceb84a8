//! Data over time, in as many bins as a plot is wide.

/// Bins of one direction at most; with one more, neighbours merge and the width doubles.
const BINS: usize = 256;
/// Width of a bin at first: with all of them 25 ms, a few round trips of a short path.
const WIDTH_NS: i64 = 100_000;

/// Data of one direction over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// When the first bin begins, in nanoseconds since the connection began.
    pub start_ns: i64,
    /// Width of each bin in nanoseconds.
    pub width_ns: i64,
    /// The bins, without gaps.
    pub bins: Vec<Bin>,
}

/// The counts of one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Payload bytes not seen before.
    pub new_bytes: u64,
    /// Payload bytes seen before.
    pub again_bytes: u64,
    /// Most bytes that had passed this point and were not acknowledged here yet; `None` if no data
    /// passed in this bin.
    pub in_flight_bytes: Option<u64>,
    /// What was in flight after the last frame of this bin that carried data or acknowledged some.
    pub left_bytes: Option<u64>,
    /// The window that the receiver advertised last, in bytes, scaled; `None` if no frame of it
    /// passed in this bin, or the scale is not known.
    pub window_bytes: Option<u64>,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            start_ns: 0,
            width_ns: WIDTH_NS,
            bins: Vec::new(),
        }
    }
}

impl Rates {
    /// The bin of a time since `start_ns`; what is before that belongs to the first.
    pub(super) fn at(&mut self, since_ns: i64) -> &mut Bin {
        let since_ns = since_ns.max(0);
        while since_ns / self.width_ns >= BINS as i64 {
            self.widen();
        }
        let index = (since_ns / self.width_ns) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let pairs = self.bins.chunks(2);
        self.bins = pairs
            .map(|pair| pair[1..].iter().fold(pair[0], |sum, bin| sum.with(*bin)))
            .collect();
    }
}

impl Bin {
    fn with(self, later: Self) -> Self {
        Self {
            new_bytes: self.new_bytes + later.new_bytes,
            again_bytes: self.again_bytes + later.again_bytes,
            in_flight_bytes: self.in_flight_bytes.max(later.in_flight_bytes),
            left_bytes: later.left_bytes.or(self.left_bytes),
            window_bytes: later.window_bytes.or(self.window_bytes),
        }
    }

    /// Notes how much is in flight once data has passed.
    pub(super) fn note_in_flight(&mut self, bytes: u64) {
        self.in_flight_bytes = self.in_flight_bytes.max(Some(bytes));
        self.left_bytes = Some(bytes);
    }

    /// Notes how much an acknowledgment leaves in flight.
    pub(super) fn note_left(&mut self, bytes: u64) {
        self.left_bytes = Some(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_widen_and_keep_all_bytes() {
        let mut rates = Rates::default();
        for ms in 0..10_000 {
            let bin = rates.at(ms * 1_000_000);
            bin.new_bytes += 3;
            bin.note_in_flight(ms as u64);
            bin.note_left(ms as u64 / 2);
            bin.window_bytes = Some(ms as u64);
        }
        assert!(rates.bins.len() <= BINS && rates.bins.len() > BINS / 2);
        let bytes: u64 = rates.bins.iter().map(|bin| bin.new_bytes).sum();
        assert_eq!(bytes, 30_000);
        let last = rates.bins.last().unwrap();
        assert_eq!(
            (last.in_flight_bytes, last.window_bytes),
            (Some(9_999), Some(9_999))
        );
        assert_eq!(last.left_bytes, Some(4_999));
    }

    #[test]
    fn a_clock_that_goes_back_stays_in_the_first_bin() {
        let mut rates = Rates::default();
        rates.at(-5).new_bytes = 1;
        assert_eq!(rates.bins.len(), 1);
    }
}
