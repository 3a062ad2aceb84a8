//! Which frames stay when a lane has too many.
//!
//! Frames have a rank, and each rank is thinned evenly, to every second, fourth, eighth frame. The lowest rank that is
//! not small already is thinned first: so frames of the rank `Telling` stay as long as there is room, and some frames
//! of each rank always stay.

use super::Left;
use super::record::{Rank, Record};

/// A rank with fewer frames than this part of the limit is not thinned.
const SMALL: usize = 8;

/// The frames of a lane that stay.
#[derive(Debug)]
pub(super) struct Thinned {
    limit: usize,
    kept: Vec<(Rank, Record)>,
    /// Of each rank, one frame in `1 << shift` stays.
    shifts: [u32; 3],
    left: [u64; 3],
}

impl Thinned {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(SMALL),
            kept: Vec::new(),
            shifts: [0; 3],
            left: [0; 3],
        }
    }

    /// Adds a frame, if it is one of those that stay.
    pub(super) fn add(&mut self, rank: Rank, record: Record) {
        if !stays(self.shifts[rank as usize], record.ordinal) {
            self.left[rank as usize] += 1;
            return;
        }
        self.kept.push((rank, record));
        while self.kept.len() > self.limit {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let size = |rank: &Rank| self.kept.iter().filter(|(r, _)| r == rank).count();
        let is_large = |rank: &Rank| size(rank) > self.limit / SMALL;
        let ranks = [Rank::Plain, Rank::Merged, Rank::Telling];
        let Some(rank) = ranks.into_iter().find(is_large) else {
            return;
        };
        let shift = self.shifts[rank as usize] + 1;
        self.shifts[rank as usize] = shift;
        let before = self.kept.len();
        self.kept
            .retain(|(r, record)| *r != rank || stays(shift, record.ordinal));
        self.left[rank as usize] += (before - self.kept.len()) as u64;
    }

    /// The frames in order, and the counts of those left out.
    pub(super) fn finish(self) -> (Vec<Record>, Left) {
        let mut records: Vec<_> = self.kept.into_iter().map(|(_, record)| record).collect();
        records.sort_unstable_by_key(|record| record.ordinal);
        let [plain, merged, telling] = self.left;
        let left = Left {
            plain,
            merged,
            telling,
        };
        (records, left)
    }
}

/// Whether a frame stays. Its number is mixed first: if each second frame is answered, every second number would have
/// frames of one sort only.
fn stays(shift: u32, ordinal: u64) -> bool {
    ordinal.wrapping_mul(0x9E37_79B9_7F4A_7C15).leading_zeros() >= shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ordinal: u64) -> Record {
        Record {
            ordinal,
            ..Record::default()
        }
    }

    fn thinned(limit: usize, ranks: impl Iterator<Item = Rank>) -> (Vec<Record>, Left) {
        let mut thinned = Thinned::new(limit);
        for (ordinal, rank) in ranks.enumerate() {
            thinned.add(rank, record(ordinal as u64));
        }
        thinned.finish()
    }

    #[test]
    fn few_frames_all_stay() {
        let (kept, left) = thinned(100, (0..100).map(|_| Rank::Plain));
        assert_eq!((kept.len(), left), (100, Left::default()));
    }

    #[test]
    fn plain_frames_go_first_and_all_that_tell_stay() {
        let rank = |i: u64| match i % 100 {
            0 => Rank::Telling,
            1 | 2 => Rank::Merged,
            _ => Rank::Plain,
        };
        let (kept, left) = thinned(1_000, (0..10_000).map(rank));
        assert!(kept.len() <= 1_000, "{}", kept.len());
        for ordinal in (0..10_000).filter(|i| rank(*i) != Rank::Plain) {
            assert!(kept.iter().any(|r| r.ordinal == ordinal), "{ordinal}");
        }
        assert_eq!((left.merged, left.telling), (0, 0));
        assert_eq!(left.plain + kept.len() as u64, 10_000);
    }

    #[test]
    fn merged_frames_are_thinned_when_there_are_too_many_and_some_plain_ones_stay() {
        let rank = |i: u64| match i % 10 {
            0 => Rank::Plain,
            1 => Rank::Telling,
            _ => Rank::Merged,
        };
        let (kept, left) = thinned(800, (0..5_000).map(rank));
        assert!(kept.len() <= 800, "{}", kept.len());
        assert_eq!(left.all() + kept.len() as u64, 5_000);
        assert_eq!(left.telling, 0);
        assert!(left.merged > 0);
        assert!(kept.iter().any(|r| rank(r.ordinal) == Rank::Plain));
    }

    #[test]
    fn what_stays_is_spread_evenly() {
        let (kept, _) = thinned(500, (0..100_000).map(|_| Rank::Plain));
        let first_half = kept.iter().filter(|r| r.ordinal < 50_000).count();
        let share = first_half as f64 / kept.len() as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
    }
}
