//! Counts that do not change.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Counts, and since when each has its value.
#[derive(Debug)]
pub(super) struct Idle<K> {
    since: BTreeMap<K, (u64, Instant)>,
}

impl<K> Default for Idle<K> {
    fn default() -> Self {
        let since = BTreeMap::new();
        Self { since }
    }
}

impl<K: Copy + Ord> Idle<K> {
    /// The keys of counts that have had the same value for this time.
    pub(super) fn idle(
        &mut self,
        all: impl Iterator<Item = (K, u64)>,
        now: Instant,
        long: Duration,
    ) -> Vec<K> {
        let before = std::mem::take(&mut self.since);
        for (key, count) in all {
            let known = before.get(&key).copied();
            let same = known.filter(|(was, _)| *was == count);
            self.since.insert(key, same.unwrap_or((count, now)));
        }
        let idle = self.since.iter();
        let idle = idle.filter(|(_, (_, since))| now.duration_since(*since) >= long);
        idle.map(|(key, _)| *key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_the_same_is_idle() {
        let (begun, long) = (Instant::now(), Duration::from_secs(10));
        let mut idle = Idle::default();
        let mut at = |s, counts: [(u8, u64); 2]| {
            let now = begun + Duration::from_secs(s);
            idle.idle(counts.into_iter(), now, long)
        };
        assert_eq!(at(0, [(1, 5), (2, 5)]), [0; 0]);
        assert_eq!(at(9, [(1, 5), (2, 6)]), [0; 0]);
        assert_eq!(at(10, [(1, 5), (2, 6)]), [1]);
        assert_eq!(at(19, [(3, 5), (2, 6)]), [2]);
        assert_eq!(
            at(20, [(1, 5), (3, 5)]),
            [0; 0],
            "one that came back is new"
        );
    }
}
