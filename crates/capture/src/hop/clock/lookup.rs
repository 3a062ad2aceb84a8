//! The offset at one time after another.

use super::Clock;

/// Offsets at times that mostly lie close together.
#[derive(Debug)]
pub(crate) struct Offsets<'a> {
    clock: &'a Clock,
    /// The offset while only one frame shows how the clocks differ.
    rough_ns: i64,
    /// A window, and the offset at its middle.
    last: Option<(i64, i64)>,
}

impl<'a> Offsets<'a> {
    pub(crate) fn new(clock: &'a Clock, rough_ns: i64) -> Self {
        Self {
            clock,
            rough_ns,
            last: None,
        }
    }

    /// The second clock less the first, at a time by the first.
    pub(crate) fn at_first(&mut self, time_ns: i64) -> i64 {
        let clock = self.clock;
        let index = (time_ns - clock.origin_ns).div_euclid(clock.width_ns);
        let middle_ns = clock.origin_ns + index * clock.width_ns + clock.width_ns / 2;
        let offset_ns = match self.last {
            Some((last, offset_ns)) if last == index => offset_ns,
            _ => clock.offset_ns(middle_ns).unwrap_or(self.rough_ns),
        };
        self.last = Some((index, offset_ns));
        offset_ns + ((time_ns - middle_ns) as f64 * clock.drift.slope) as i64
    }

    /// Like `at_first`, at a time by the second clock.
    pub(crate) fn at_second(&mut self, time_ns: i64) -> i64 {
        // The drift over a time as short as the offset is negligible.
        let offset_ns = self.clock.now_ns().unwrap_or(self.rough_ns);
        self.at_first(time_ns - offset_ns)
    }
}
