//! Seeded chance, the same on every platform.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A stream of random numbers of its own for each part of the model, so that a change in one part
/// doesn't shift the numbers another part draws.
#[derive(Clone, Debug)]
pub(crate) struct Chance(Pcg32);

impl Chance {
    /// The stream numbered `stream` of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// Any 32 bits.
    pub(crate) fn any(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// True with probability `p`. Draws nothing when the answer is certain.
    pub(crate) fn happens(&mut self, p: f64) -> bool {
        if p <= 0.0 {
            return false;
        }
        p >= 1.0 || f64::from(self.any()) < p * 4_294_967_296.0
    }

    /// A number below `limit`; 0 if `limit` is 0. The bias of the modulus is below 2^-32 x limit
    /// and doesn't matter.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let wide = (u64::from(self.any()) << 32) | u64::from(self.any());
        if limit == 0 { 0 } else { wide % limit }
    }
}
