//! Whether a path carried full frames while it lost merged ones: single frames, and merged ones shorter than all that were lost.
//!
//! Single frames from before the first loss prove nothing: a path that fails when a transfer begins had carried such
//! frames, too. Fates become known in no order, since a loss shows seconds after later frames have arrived. So each frame
//! has a place in the order of sending: when it left, or how far its direction had come by then. Numbers of frames would
//! not do, which begin anew in each file.

/// So many passes are kept: of longer transfers every second, fourth and so on.
const KEPT: usize = 64;

/// What one direction of a connection shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// Full frames that arrived.
    arrived: Vec<Pass>,
    /// One of 2^thinned of these frames is kept.
    thinned: u32,
    /// How many there were.
    all: u64,
    lost: Option<Lost>,
    /// Frames after the first loss that arrived at once, and were shorter than all that were lost; two are enough.
    spared: u32,
    /// The place of the last of them.
    last_spared: u64,
}

/// A full frame that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Frames of this place, or a later one, were sent after this frame.
    pub(crate) before: u64,
    pub(crate) time_ns: i64,
}

impl Pass {
    /// Of a frame that left at this time.
    pub(crate) fn left(time_ns: i64) -> Self {
        Self {
            before: place(time_ns) + 1,
            time_ns,
        }
    }
}

/// Merged frames that were lost.
#[derive(Clone, Copy, Debug)]
struct Lost {
    /// Places of the first and the last of them.
    first: u64,
    last: u64,
    /// The last was not sent before this time.
    last_ns: i64,
}

/// Where a connection went on after the loss of merged frames, by its point's clock. For several connections the
/// earliest of the one and the latest of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amid {
    /// When a full frame left that arrived, after the first merged one that was lost.
    pub resumed_ns: Option<i64>,
    /// When the last merged frame that was lost left, at the earliest.
    pub last_lost_ns: Option<i64>,
    /// Whether shorter merged frames of a connection arrived that were sent between two that were lost.
    pub spared: bool,
}

/// A place in the order of sending, by the time; times before 1970 are some clock's that was never set.
pub(crate) fn place(time_ns: i64) -> u64 {
    u64::try_from(time_ns).unwrap_or(0)
}

impl Passes {
    /// A full frame arrived, a single one or one that is shorter than all that were lost.
    pub(crate) fn arrived(&mut self, pass: Pass) {
        if self.all.is_multiple_of(1 << self.thinned) {
            if self.arrived.len() == KEPT {
                self.thin();
            }
            self.arrived.push(pass);
        }
        self.all += 1;
    }

    /// A frame of several segments arrived that is shorter than all that were lost; they come in the order of sending.
    pub(crate) fn spared(&mut self, place: u64) {
        let is_after = self.lost.is_some_and(|lost| place > lost.first);
        if is_after && self.spared < 2 {
            self.spared += 1;
            self.last_spared = place;
        }
    }

    /// The frame that was said last to have arrived had not: its bytes are in this one again.
    pub(crate) fn arrived_only_now(&mut self, pass: Pass) {
        if let Some(last) = self.arrived.last_mut() {
            *last = pass;
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

    /// A merged frame of this place was lost, which was not sent before this time.
    pub(crate) fn lost(&mut self, place: u64, time_ns: i64) {
        let lost = self.lost.get_or_insert(Lost {
            first: place,
            last: place,
            last_ns: time_ns,
        });
        lost.first = lost.first.min(place);
        lost.last = lost.last.max(place);
        lost.last_ns = lost.last_ns.max(time_ns);
    }

    /// Where full frames arrived after the first loss: the one of them at this rank, 1 the first.
    pub(crate) fn amid(&self, rank: usize) -> Amid {
        let Some(lost) = self.lost else {
            return Amid::default();
        };
        let after = self.arrived.iter().filter(|pass| pass.before > lost.first);
        let mut after_ns: Vec<i64> = after.map(|pass| pass.time_ns).collect();
        after_ns.sort_unstable();
        let earlier = self.arrived.iter().filter(|pass| pass.before <= lost.last);
        let passed_ns = earlier.map(|pass| pass.time_ns + 1).max();
        Amid {
            resumed_ns: after_ns.get(rank - 1).copied(),
            last_lost_ns: Some(lost.last_ns).max(passed_ns),
            spared: self.spared == 2 && self.last_spared < lost.last,
        }
    }
}

impl Amid {
    /// Adds what another connection shows.
    pub fn add(&mut self, other: Self) {
        let resumed = [self.resumed_ns, other.resumed_ns];
        self.resumed_ns = resumed.into_iter().flatten().min();
        self.last_lost_ns = self.last_lost_ns.max(other.last_lost_ns);
        self.spared |= other.spared;
    }

    /// Whether full frames arrived between losses of merged ones.
    #[must_use]
    pub fn shows_passes(self) -> bool {
        let both = self.resumed_ns.zip(self.last_lost_ns);
        self.spared || both.is_some_and(|(resumed, last)| resumed < last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(at: u64) -> Pass {
        Pass {
            before: at + 1,
            time_ns: at as i64,
        }
    }

    fn passes(arrived: impl IntoIterator<Item = u64>, lost: &[u64]) -> Passes {
        let mut passes = Passes::default();
        arrived.into_iter().for_each(|at| passes.arrived(pass(at)));
        lost.iter().for_each(|at| passes.lost(*at, *at as i64));
        passes
    }

    #[test]
    fn two_shorter_frames_that_were_sent_between_losses_passed() {
        let spared = |places: &[u64]| {
            let mut passes = Passes::default();
            passes.spared(1);
            passes.lost(2, 0);
            places.iter().for_each(|place| passes.spared(*place));
            passes.lost(9, 0);
            passes.amid(2).shows_passes()
        };
        assert!(spared(&[3, 5, 12]));
        assert!(!spared(&[3]) && !spared(&[3, 11, 12]) && !spared(&[10, 11]) && !spared(&[]));
    }

    fn amid(arrived: impl IntoIterator<Item = u64>, lost: &[u64]) -> Amid {
        passes(arrived, lost).amid(2)
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
        let mut passes = passes([5, 6], &[1]);
        passes.arrived_only_now(pass(20));
        passes.lost(9, 9);
        assert!(!passes.amid(2).shows_passes());
    }

    /// By positions: of a loss it is known which passes came before, not when.
    #[test]
    fn a_loss_farther_on_came_after_what_passed_before_it_was_sent() {
        let mut passes = Passes::default();
        for (before, time_ns) in [(3_000, 50), (3_000, 60), (9_000, 70)] {
            passes.arrived(Pass { before, time_ns });
        }
        passes.lost(1_000, 0);
        assert!(!passes.amid(2).shows_passes());
        passes.lost(3_000, 0);
        assert_eq!(passes.amid(2).last_lost_ns, Some(61));
        assert!(passes.amid(2).shows_passes());
    }
}
