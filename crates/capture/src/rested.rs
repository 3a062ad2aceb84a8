//! What became of single frames, by the pause in front of them in which no data left.
//!
//! A queue drains and a bucket fills in a pause, how soon is a matter of their rate. Bits change after a pause as
//! often as before.

use crate::lengths::Fate;

/// The first class begins here, and each further one at four times as much.
const SHORTEST_NS: i64 = 1_000_000;
/// The last class: pauses of a second and more.
const CLASSES: usize = 6;

/// Frames by pause, the shortest first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rested([Fate; CLASSES]);

impl Rested {
    /// A frame in front of which nothing left for so long.
    pub(crate) fn add(&mut self, pause_ns: i64, fate: Fate) {
        if let Some(times) = u64::try_from(pause_ns / SHORTEST_NS)
            .ok()
            .and_then(u64::checked_ilog2)
        {
            self.0[(times as usize / 2).min(CLASSES - 1)].add(fate);
        }
    }

    /// Adds the counts to others.
    pub(crate) fn add_to(&self, others: &mut Vec<Fate>) {
        others.resize(CLASSES, Fate::default());
        for (all, own) in others.iter_mut().zip(self.0) {
            all.add(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_fall_into_classes_of_four_times_the_length() {
        let mut rested = Rested::default();
        for pause_us in [-5, 0, 999, 1_000, 3_999, 4_000, 70_000, 1_024_000, 1 << 40] {
            rested.add(pause_us * 1_000, Fate { passed: 1, lost: 0 });
        }
        let mut all = Vec::new();
        rested.add_to(&mut all);
        rested.add_to(&mut all);
        let passed: Vec<_> = all.iter().map(|fate| fate.passed).collect();
        assert_eq!(passed, [4, 2, 0, 2, 0, 4]);
    }
}
