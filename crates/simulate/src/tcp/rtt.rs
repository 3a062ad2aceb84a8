//! Round-trip time and timeouts (RFC 6298).

use crate::schedule::{MILLISECOND, Nanos, SECOND};

/// Linux's TCP_RTO_MIN; RFC 6298 would have a second.
const LEAST: Nanos = 200 * MILLISECOND;
const MOST: Nanos = 120 * SECOND;

/// The estimate and the back-off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    smoothed: Nanos,
    variation: Nanos,
    least: Nanos,
    backoff: u32,
}

impl Rtt {
    /// An estimate from the first sample.
    pub(crate) fn new(sample: Nanos) -> Self {
        Self {
            smoothed: sample,
            variation: sample / 2,
            least: sample,
            backoff: 0,
        }
    }

    /// The smoothed estimate.
    pub(crate) fn smoothed(&self) -> Nanos {
        self.smoothed
    }

    /// The smallest sample.
    pub(crate) fn least(&self) -> Nanos {
        self.least
    }

    /// Adds a sample (RFC 6298 section 2.3).
    pub(crate) fn sample(&mut self, sample: Nanos) {
        let error = self.smoothed.abs_diff(sample);
        self.variation = (3 * self.variation + error) / 4;
        self.smoothed = (7 * self.smoothed + sample) / 8;
        self.least = self.least.min(sample);
    }

    /// The retransmission timeout, with the back-off. As in Linux it's the variation that has a
    /// floor of 200 ms, not the sum.
    pub(crate) fn timeout(&self) -> Nanos {
        let base = self.smoothed + (4 * self.variation).max(LEAST);
        (base << self.backoff.min(16)).min(MOST)
    }

    /// Timeout of a tail loss probe (RFC 8985 section 7.2): two round trips, and the peer's delayed ACK on top if only
    /// one segment is to be acknowledged.
    pub(crate) fn probe_timeout(&self, segments: usize) -> Nanos {
        let delayed = if segments == 1 {
            LEAST
        } else {
            2 * MILLISECOND
        };
        2 * self.smoothed + delayed
    }

    /// Doubles the timeout.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Called when new data was acknowledged.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}
