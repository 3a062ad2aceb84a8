//! How far a point was read.

use crate::divisor::common_divisor;

/// Times that are looked at to find the resolution.
const LOOKED_AT: u32 = 64;

/// First and last time of a point, by its own clock, and the resolution of that clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    span_ns: Option<(i64, i64)>,
    looked_at: u32,
    resolution_ns: i64,
}

impl Reading {
    pub(super) fn note(&mut self, time_ns: i64) {
        if self.looked_at < LOOKED_AT {
            self.look_at(time_ns);
        }
        self.span_ns = Some(match self.span_ns {
            None => (time_ns, time_ns),
            Some((first, last)) => (first.min(time_ns), last.max(time_ns)),
        });
    }

    /// Narrows the resolution to the longest time, up to a second, that all times are multiples of: a clock may count
    /// ticks of a timer, which are no power of ten (15.625 ms, 4 ms).
    fn look_at(&mut self, time_ns: i64) {
        if self.looked_at == 0 {
            self.resolution_ns = 1_000_000_000;
        }
        self.looked_at += 1;
        let divisor = common_divisor(time_ns.unsigned_abs(), self.resolution_ns.unsigned_abs());
        self.resolution_ns = i64::try_from(divisor).unwrap_or(1);
    }

    pub(super) fn span_ns(&self) -> Option<(i64, i64)> {
        self.span_ns
    }

    pub(super) fn resolution_ns(&self) -> i64 {
        self.resolution_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of 64 a second.
    #[test]
    fn a_timer_divides_time_in_its_own_way() {
        let mut reading = Reading::default();
        (9..20).for_each(|tick| reading.note(tick * 15_625_000));
        assert_eq!(reading.resolution_ns(), 15_625_000);
    }

    #[test]
    fn the_resolution_is_what_all_times_are_multiples_of() {
        let mut reading = Reading::default();
        for (time_ns, resolution_ns) in
            [(5_000_000_000, 1_000_000_000), (7_250_000, 250_000), (3, 1)]
        {
            reading.note(time_ns);
            assert_eq!(reading.resolution_ns(), resolution_ns);
        }
        assert_eq!(reading.span_ns(), Some((3, 5_000_000_000)));
    }
}
