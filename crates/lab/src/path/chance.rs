//! Seeded chance: the same frames give the same losses.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A random stream for each direction of each link, so that a change in one direction does not
/// shift the numbers of another.
#[derive(Clone, Debug)]
pub(super) struct Chance(Pcg32);

impl Chance {
    /// The stream numbered `stream` of a seed.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// True with this probability. Draws no number when the result is certain.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        if probability <= 0.0 || probability >= 1.0 {
            return probability >= 1.0;
        }
        f64::from(self.0.next_u32()) < probability * (f64::from(u32::MAX) + 1.0)
    }

    /// A number from 0 to `most`. The bias of the modulus is below 2^-32 for `most` below 4 s.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            None => self.0.next_u64(),
            Some(1) => 0,
            Some(count) => self.0.next_u64() % count,
        }
    }
}
