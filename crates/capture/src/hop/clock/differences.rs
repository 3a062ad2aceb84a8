//! The median delay of a hop.

use super::{Clock, Sample};
use crate::median::median;

/// Differences kept.
const KEPT: usize = 512;

/// Differences of some frames' times at both points, for the median of their delays: the clocks'
/// offset is taken off at the end, when it is known best.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differences {
    kept: Vec<Sample>,
    stride: usize,
    skipped: usize,
}

impl Differences {
    pub(crate) fn push(&mut self, time_ns: i64, difference_ns: i64) {
        self.skipped += 1;
        if self.skipped < self.stride {
            return;
        }
        self.skipped = 0;
        if self.kept.len() == KEPT {
            let mut odd = false;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride = self.stride.max(1) * 2;
        }
        self.kept.push(Sample {
            time_ns,
            difference_ns,
        });
    }

    /// Median of one way's delays less the smallest: the clocks' offset cancels out.
    pub(crate) fn spread_ns(&self, clock: &Clock, forth: bool) -> Option<i64> {
        let slope = clock.drift.slope;
        let way = |sample: &Sample| {
            let difference = sample.at(clock.origin_ns, slope);
            if forth { difference } else { -difference }
        };
        let least = self.kept.iter().map(way).min()?;
        Some(median(self.kept.iter().map(way))? - least)
    }

    /// The median delay.
    pub(crate) fn median_ns(&self, clock: &Clock) -> Option<i64> {
        let start = clock.fit().0?;
        let slope = clock.drift.slope;
        let delay = |sample: &Sample| (sample.at(clock.origin_ns, slope) - start).max(0);
        median(self.kept.iter().map(delay))
    }
}
