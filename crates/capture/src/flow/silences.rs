//! For how long a direction sent no data at a time. A link behind a queue is busy: silences longer than the time that
//! the queue takes to empty show that there is no queue.

use super::Flow;

/// Shorter silences are not noted: a queue that matters holds twice as much.
const LEAST_NS: i64 = 1_000_000;
/// Silences are noted after this many frames: most connections are over by then.
const FRAMES: u64 = 8;
const UNIT_NS: i64 = 10_000;
/// Two classes for each doubling of the shortest silence: up to a quarter of a second, and beyond.
const STEPS: usize = 16;

/// The time in silences by their length, in units of 10 us: up to 11 hours in 32 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Silences([u32; STEPS]);

impl Flow {
    #[inline(always)]
    pub(super) fn note_silence(&mut self, silence_ns: i64) {
        if silence_ns >= LEAST_NS && self.counts.data_frames >= FRAMES {
            self.add_silence(silence_ns);
        }
    }

    #[cold]
    fn add_silence(&mut self, silence_ns: i64) {
        self.slow.get_or_insert_default().silences.add(silence_ns);
    }

    /// The time spent in silences of about this length, two thirds of it at least, and in longer ones.
    pub(crate) fn silent_ns(&self, least_ns: i64) -> i64 {
        let slow = self.slow.as_ref();
        slow.map_or(0, |slow| slow.silences.longer_ns(least_ns))
    }
}

impl Silences {
    /// See [`crate::table::Table::warm`].
    pub(super) fn touch(&self) -> u64 {
        u64::from(self.0[STEPS - 1])
    }

    fn add(&mut self, silence_ns: i64) {
        let units = u32::try_from(silence_ns / UNIT_NS).unwrap_or(u32::MAX);
        let at = &mut self.0[step(silence_ns)];
        *at = at.saturating_add(units);
    }

    fn longer_ns(&self, least_ns: i64) -> i64 {
        let longer = &self.0[step(least_ns)..];
        longer.iter().map(|&units| i64::from(units) * UNIT_NS).sum()
    }
}

/// The step of a length: its doublings of the shortest, and whether it is half as long again as the last of these.
fn step(ns: i64) -> usize {
    // Whatever is longer is in the last step.
    let ns = ns.min(LEAST_NS << (STEPS / 2));
    if ns < LEAST_NS {
        return 0;
    }
    let doublings = (ns / LEAST_NS).ilog2();
    let is_half_more = ns >= (LEAST_NS << doublings) / 2 * 3;
    (2 * doublings as usize + usize::from(is_half_more)).min(STEPS - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_longest_silence_is_no_overflow() {
        let mut silences = Silences::default();
        silences.add(i64::MAX);
        silences.add(i64::MAX);
        assert_eq!(silences.longer_ns(LEAST_NS), i64::from(u32::MAX) * UNIT_NS);
        assert_eq!(silences.longer_ns(i64::MAX), i64::from(u32::MAX) * UNIT_NS);
    }

    #[test]
    fn short_silences_and_the_first_are_left_out() {
        let mut flow = Flow::default();
        flow.counts.data_frames = FRAMES - 1;
        flow.note_silence(LEAST_NS);
        flow.counts.data_frames = FRAMES;
        flow.note_silence(LEAST_NS - 1);
        assert!(flow.slow.is_none());
        flow.note_silence(LEAST_NS);
        assert_eq!(flow.silent_ns(LEAST_NS), LEAST_NS);
    }

    proptest! {
        #[test]
        fn longer_ones_are_added_up(
            all in prop::collection::vec(LEAST_NS..200_000_000, 0..50),
            least in LEAST_NS..150_000_000,
        ) {
            let mut silences = Silences::default();
            all.iter().for_each(|&ns| silences.add(ns));
            let whole = |ns: i64| ns / UNIT_NS * UNIT_NS;
            let sum = |least: i64| all.iter().filter(|&&ns| ns >= least).map(|&ns| whole(ns)).sum::<i64>();
            let longer = silences.longer_ns(least);
            prop_assert!(sum(least) <= longer && longer <= sum(least / 3 * 2));
        }
    }
}
