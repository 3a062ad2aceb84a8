//! The duration of each sample's way back, as far as the clock of the answering host shows it.
//!
//! An answer has the time at which it was made: its TSval is its sender's clock (RFC 7323, 3). How much later it comes
//! here varies by its waits on the way, and by nothing else. So for a round trip in which the acknowledgment was
//! delayed, the part that the data waited is known.

use super::{KEPT, UNIT_NS};

/// A tick of the timestamp clock of nearly all hosts: Linux, Windows and FreeBSD. RFC 7323 (5.4) asks for 1 ms to 1 s.
const TICK_NS: i64 = 1_000_000;
/// Other clocks run at least twice as fast or slow. Over `TICKS` ticks they can be told from waiting answers, and over
/// more than a second from clocks that are a little off.
const OTHER: f64 = 0.3;
const TICKS: u32 = 10;
const A_SECOND: f64 = 1e9 / TICK_NS as f64;
const OFF: f64 = 0.01;
/// An answer without timestamp.
const NONE: i32 = i32::MIN;
/// Fewer samples show no queue.
const ENOUGH: usize = 8;

/// When an answer came here, and the TSval that its sender gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) time_ns: i64,
    pub(crate) tsval: u32,
}

/// The delay of an answer since its timestamp, less that of the first answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Back(i32);

impl Default for Back {
    fn default() -> Self {
        Self(NONE)
    }
}

/// The first and the last stamp, by which ways back are measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Backs {
    first: Option<Stamp>,
    last: Option<Stamp>,
}

impl Backs {
    pub(super) fn of(&mut self, stamp: Option<Stamp>) -> Back {
        Back(stamp.map_or(NONE, |stamp| self.later(stamp)))
    }

    fn later(&mut self, stamp: Stamp) -> i32 {
        let first = *self.first.get_or_insert(stamp);
        self.last = Some(stamp);
        let ticks = i64::from(stamp.tsval.wrapping_sub(first.tsval) as i32);
        let later_ns = stamp.time_ns - first.time_ns - ticks * TICK_NS;
        i32::try_from(later_ns / UNIT_NS).unwrap_or(NONE)
    }

    /// See [`crate::table::Table::warm`].
    pub(super) fn touch(&self) -> u64 {
        self.last.map_or(0, |last| last.time_ns as u64)
    }

    /// By how much the median of the way there, and that of the way back, exceed the smallest.
    pub(super) fn extra_ns(&self, samples: &[(u32, Back)]) -> Option<[i64; 2]> {
        if !self.ticks_as_expected() {
            return None;
        }
        let both = samples.iter().filter(|(_, back)| back.0 != NONE);
        let (mut there, mut back, mut count) = ([0; KEPT], [0; KEPT], 0);
        for ((sample, late), (there, back)) in both.zip(there.iter_mut().zip(&mut back)) {
            *back = i64::from(late.0);
            *there = i64::from(*sample) - *back;
            count += 1;
        }
        (count >= ENOUGH)
            .then(|| [&mut there, &mut back].map(|ways| UNIT_NS * middle(&mut ways[..count])))
    }

    fn ticks_as_expected(&self) -> bool {
        self.first.zip(self.last).is_some_and(|(first, last)| {
            let ticks = last.tsval.wrapping_sub(first.tsval);
            let took = (last.time_ns - first.time_ns) as f64 / TICK_NS as f64;
            let may_differ = OTHER * f64::from(ticks).min(A_SECOND) + OFF * f64::from(ticks);
            ticks >= TICKS && (took - f64::from(ticks)).abs() < may_differ
        })
    }
}

/// The median less the smallest.
fn middle(ways: &mut [i64]) -> i64 {
    let (below, median, _) = ways.select_nth_unstable(ways.len() / 2);
    below.iter().fold(0, |most, way| most.max(*median - way))
}
