//! The offset at a time by either clock.

use super::Clock;

/// The offset of a clock, known or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets<'a> {
    clock: &'a Clock,
    /// The offset while only one frame shows how the clocks differ.
    rough_ns: i64,
}

impl<'a> Offsets<'a> {
    pub(crate) fn new(clock: &'a Clock, rough_ns: i64) -> Self {
        Self { clock, rough_ns }
    }

    /// The second clock less the first, at a time by the first.
    fn at_first(self, time_ns: i64) -> i64 {
        let clock = self.clock;
        let index = (time_ns - clock.origin_ns).div_euclid(clock.width_ns);
        let offset_ns = clock.offset_at_ns(index).unwrap_or(self.rough_ns);
        let since_middle_ns = time_ns - clock.middle_ns(index);
        offset_ns + (since_middle_ns as f64 * clock.drift.slope) as i64
    }

    /// Like `at_first`, at a time by the second clock.
    pub(crate) fn at_second(self, time_ns: i64) -> i64 {
        // The drift over a time as short as the offset is negligible.
        let offset_ns = self.clock.now_ns().unwrap_or(self.rough_ns);
        self.at_first(time_ns - offset_ns)
    }
}
