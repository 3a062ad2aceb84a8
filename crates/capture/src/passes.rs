//! Whether a path carried full single frames while it lost merged ones.
//!
//! Single frames from before the first loss prove nothing: a path that fails when a transfer begins had carried such
//! frames, too. Frames are known by their numbers, since their fates become known in no order: a loss shows seconds
//! after later frames have arrived.

/// So many numbers are kept: of longer transfers every second, fourth and so on.
const KEPT: usize = 64;

/// What one direction of a connection shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// Numbers of full single frames that arrived.
    arrived: Vec<u64>,
    /// One of 2^thinned of these frames is kept.
    thinned: u32,
    /// How many there were.
    all: u64,
    /// Numbers of the first and the last merged frame that was lost.
    lost: Option<(u64, u64)>,
}

/// Where a connection went on after the loss of merged frames. For several connections the earliest of the one and the
/// latest of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amid {
    /// Number of a full single frame that arrived and left after the first merged one that was lost.
    pub resumed: Option<u64>,
    /// Number of the last merged frame that was lost.
    pub last_lost: Option<u64>,
}

impl Passes {
    /// A full single frame arrived.
    pub(crate) fn arrived(&mut self, number: u64) {
        if self.all.is_multiple_of(1 << self.thinned) {
            if self.arrived.len() == KEPT {
                self.thin();
            }
            self.arrived.push(number);
        }
        self.all += 1;
    }

    /// The frame that was said last to have arrived had not: its bytes are in this one again.
    pub(crate) fn arrived_only_now(&mut self, number: u64) {
        if let Some(last) = self.arrived.last_mut() {
            *last = number;
        }
    }

    fn thin(&mut self) {
        let mut keep = false;
        self.arrived.retain(|_| {
            keep = !keep;
            keep
        });
        self.thinned += 1;
    }

    /// A merged frame was lost.
    pub(crate) fn lost(&mut self, number: u64) {
        let (first, last) = self.lost.unwrap_or((number, number));
        self.lost = Some((first.min(number), last.max(number)));
    }

    /// Where full single frames arrived after the first loss: the one of them in this place, 1 the first.
    pub(crate) fn amid(&self, place: usize) -> Amid {
        let Some((first, last)) = self.lost else {
            return Amid::default();
        };
        let mut after: Vec<u64> = self.arrived.clone();
        after.retain(|number| *number > first);
        after.sort_unstable();
        Amid {
            resumed: after.get(place - 1).copied(),
            last_lost: Some(last),
        }
    }
}

impl Amid {
    /// Adds what another connection shows.
    pub fn add(&mut self, other: Self) {
        self.resumed = [self.resumed, other.resumed].into_iter().flatten().min();
        self.last_lost = self.last_lost.max(other.last_lost);
    }

    /// Whether single frames arrived between losses of merged ones.
    #[must_use]
    pub fn shows_passes(self) -> bool {
        self.resumed
            .zip(self.last_lost)
            .is_some_and(|(resumed, last)| resumed < last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amid(arrived: impl IntoIterator<Item = u64>, lost: &[u64]) -> Amid {
        let mut passes = Passes::default();
        arrived
            .into_iter()
            .for_each(|number| passes.arrived(number));
        lost.iter().for_each(|number| passes.lost(*number));
        passes.amid(2)
    }

    #[test]
    fn what_arrived_before_the_first_loss_proves_nothing() {
        assert!(!amid(1..=20, &[21, 22, 30]).shows_passes());
        assert!(!amid([1, 2, 25, 40, 41], &[30, 21]).shows_passes());
        assert!(amid([25, 1, 40, 26], &[30, 21]).shows_passes());
        assert_eq!(amid(1..=20, &[]), Amid::default());
    }

    #[test]
    fn connections_that_lose_one_burst_each_show_passes_together() {
        let mut early = amid([5, 6], &[1, 2]);
        let late = amid([15, 16], &[11, 12]);
        assert!(!early.shows_passes() && !late.shows_passes());
        early.add(late);
        assert!(early.shows_passes());
        // All at one time, and one of them for good.
        let mut outage = amid([20, 21], &[1, 2]);
        outage.add(amid([1, 2, 3, 4], &[9, 10]));
        assert!(!outage.shows_passes());
    }

    #[test]
    fn however_long_a_transfer_is_some_of_each_part_are_known() {
        assert!(amid((0..100_000).map(|n| 2 * n), &[20_001, 40_001]).shows_passes());
        assert!(!amid((0..100_000).map(|n| 2 * n), &[20_001, 20_003]).shows_passes());
    }

    #[test]
    fn what_was_sent_in_vain_had_not_arrived() {
        let mut passes = Passes::default();
        passes.lost(1);
        passes.arrived(5);
        passes.arrived(6);
        passes.arrived_only_now(20);
        passes.lost(9);
        assert!(!passes.amid(2).shows_passes());
    }
}
