//! Random choices of a scenario: drawn from its seed, the same on every platform.

use std::ops::RangeInclusive;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A stream of draws.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Pcg32);

impl Dice {
    /// The draws of a family's scenario with a seed.
    pub(crate) fn new(family: &str, seed: u64) -> Self {
        // Neighbouring seeds, and families, give streams that have nothing to do with each other.
        let stream = family.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice = Self(Pcg32::new(seed ^ stream, stream));
        for _ in 0..4 {
            dice.0.next_u32();
        }
        dice
    }

    fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// True with probability `p`.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A whole number of a range, all equally likely.
    pub(crate) fn whole(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = range.into_inner();
        low + (self.unit() * (high - low + 1) as f64) as u64
    }

    /// A number of a range, all equally likely.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// A number of a range, each order of magnitude equally likely.
    pub(crate) fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    /// Like [`Self::scaled`], as a whole number.
    pub(crate) fn scaled_whole(&mut self, low: u64, high: u64) -> u64 {
        self.scaled(low as f64, high as f64).round() as u64
    }

    /// One element of a list.
    pub(crate) fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.whole(0..=some.len() as u64 - 1) as usize]
    }

    /// The numbers below `count` in some order.
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.whole(0..=last as u64) as usize;
            order.swap(last, other);
        }
        order
    }

    /// A seed for the simulator.
    pub(crate) fn seed(&mut self) -> u64 {
        (u64::from(self.0.next_u32()) << 32) | u64::from(self.0.next_u32())
    }
}
