//! Seeded chance, the same on every platform.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Chance(Pcg32);

impl Chance {
    /// The stream of a seed. The multiplier (of splitmix64) keeps neighbouring seeds apart.
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg32::new(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            0x006c_6162,
        ))
    }

    /// Any 32 bits.
    pub(super) fn any(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.any() as usize % limit.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// True in `permille` of 1,000 cases.
    pub(super) fn permille(&mut self, permille: usize) -> bool {
        self.below(1000) < permille
    }

    /// One of several.
    pub(super) fn pick<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N)]
    }
}
