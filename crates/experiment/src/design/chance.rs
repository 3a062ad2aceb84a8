//! Seeded chance, the same on every platform.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// A random stream for each use and each number within it (a block, an effect). So any block can be
/// drawn without those before it, and no stream shifts the numbers of another.
#[derive(Clone, Debug)]
pub(crate) struct Chance(Pcg64);

impl Chance {
    /// Stream `number` of the use `purpose` of a seed.
    pub(crate) fn new(seed: u64, purpose: u64, number: u64) -> Self {
        let wide = u128::from(mixed(seed)) << 64 | u128::from(mixed(seed ^ mixed(number)));
        Self(Pcg64::new(wide, u128::from(mixed(purpose))))
    }

    /// Any 64 bits.
    pub(crate) fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit`, 0 if that is 0. The bias of the modulus is below `limit` x 2^-64.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        self.any()
            .checked_rem(limit)
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(0)
    }

    /// Any order of `items` with equal chance (Fisher and Yates; Knuth, volume 2, algorithm P).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// `SplitMix64`'s finaliser: neighbouring seeds become unlike ones, which a PCG does not do itself
/// (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
fn mixed(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_is_about_equally_frequent() {
        let mut seen = std::collections::BTreeMap::new();
        for number in 0..6000 {
            let mut items = [0, 1, 2];
            Chance::new(7, 1, number).shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&n| (880..1120).contains(&n)), "{seen:?}");
    }

    #[test]
    fn nothing_below_nothing() {
        assert_eq!(Chance::new(1, 1, 1).below(0), 0);
    }
}
