//! How two points' clocks differ, estimated from frames seen at both.
//!
//! A frame that goes forth shows offset + delay, one that comes back offset - delay. The smallest
//! of the first and the largest of the second, over a while, bound the offset from both sides;
//! their middle is right when the smallest delays of both ways are equal (the assumption of NTP,
//! RFC 5905). With one way only the smallest delay is taken as zero. Drift moves both bounds alike.

mod differences;
mod drift;
mod lookup;

use std::cell::Cell;

pub(crate) use differences::Differences;
use drift::Drift;
pub(crate) use drift::MOST_DRIFT_PPM;
pub(crate) use lookup::Offsets;

/// Windows kept; when full, neighbours merge and the width doubles.
const WINDOWS: usize = 64;
/// Width of a window at first.
const WIDTH_NS: i64 = 100_000_000;
/// Where clocks were set meanwhile, the offset at a time is taken from the windows within this many of it, if they have
/// both ways.
const NEAR: usize = 2;

/// The times of one frame: by the first point's clock, and by how much the second's shows more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    time_ns: i64,
    difference_ns: i64,
}

/// Extremes within one window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    index: i64,
    forth: Option<Sample>,
    back: Option<Sample>,
}

/// The estimate for one hop. Times are those of the first point.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    origin_ns: i64,
    width_ns: i64,
    windows: Vec<Window>,
    drift: Drift,
    known: Known,
}

/// Estimates that were asked for, until something changes them: the time of every frame that is read is aligned, and few
/// frames are extremes.
#[derive(Clone, Debug, Default)]
struct Known {
    now: Cell<Option<Option<i64>>>,
    /// At the middle of a window with this index.
    at: Cell<Option<(i64, Option<i64>)>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            origin_ns: 0,
            width_ns: WIDTH_NS,
            windows: Vec::new(),
            drift: Drift::default(),
            known: Known::default(),
        }
    }
}

impl Clock {
    /// Adds a frame seen at both: `difference` is the second point's time less the first's.
    pub(crate) fn add(&mut self, time_ns: i64, difference_ns: i64, forth: bool) {
        if self.windows.is_empty() {
            self.origin_ns = time_ns;
        }
        let slope = self.drift.slope;
        let at = self.window(time_ns);
        let window = self.windows[at];
        let sample = Some(Sample {
            time_ns,
            difference_ns,
        });
        let with = if forth {
            let forth = lower(window.forth, sample, slope);
            Window { forth, ..window }
        } else {
            let back = higher(window.back, sample, slope);
            Window { back, ..window }
        };
        if with != window {
            self.windows[at] = with;
            self.known = Known::default();
        }
        if self.windows.len() > WINDOWS {
            self.widen();
        }
    }

    /// Index of the window of a time; the window is made if need be.
    fn window(&mut self, time_ns: i64) -> usize {
        let index = (time_ns - self.origin_ns).div_euclid(self.width_ns);
        let at = self.place(index);
        let found = self.windows.get(at);
        if found.is_none_or(|window| window.index != index) {
            let window = Window {
                index,
                ..Window::default()
            };
            self.windows.insert(at, window);
        }
        at
    }

    fn place(&self, index: i64) -> usize {
        self.windows.partition_point(|window| window.index < index)
    }

    fn widen(&mut self) {
        self.known = Known::default();
        self.width_ns *= 2;
        let slope = self.drift.slope;
        let mut merged: Vec<Window> = Vec::with_capacity(WINDOWS);
        for mut window in self.windows.drain(..) {
            window.index = window.index.div_euclid(2);
            match merged.last_mut().filter(|last| last.index == window.index) {
                Some(last) => {
                    last.forth = lower(last.forth, window.forth, slope);
                    last.back = higher(last.back, window.back, slope);
                }
                None => merged.push(window),
            }
        }
        self.windows = merged;
    }

    /// Estimates the drift anew, from all that was added so far.
    pub(crate) fn settle(&mut self) {
        let forth = self.windows.iter().filter_map(|window| window.forth);
        let back = self.windows.iter().filter_map(|window| window.back);
        self.drift = Drift::of(self.origin_ns, forth, back);
        self.known = Known::default();
    }

    /// The second clock less the first at a time by the first. Frames that were delayed, or are taken for others that
    /// have the same bytes, may be all that a while has of one way: so each window bounds the offset at any time, the
    /// wider the farther away it is, and the narrowest bounds count.
    pub(crate) fn offset_ns(&self, time_ns: i64) -> Option<i64> {
        let doubt = |sample: &Sample| self.drift.doubt_ns(time_ns - sample.time_ns);
        let then = |sample: Sample| sample.at(time_ns, self.drift.slope);
        let forth = self.windows.iter().filter_map(|window| window.forth);
        let back = self.windows.iter().filter_map(|window| window.back);
        let forth = forth.min_by_key(|sample| then(*sample) + doubt(sample));
        let back = back.max_by_key(|sample| then(*sample) - doubt(sample));
        let was_set = forth
            .zip(back)
            .is_some_and(|(forth, back)| then(forth) + doubt(&forth) < then(back) - doubt(&back));
        if was_set {
            return self.offset_near_ns(time_ns);
        }
        middle((forth.map(then), back.map(then)))
    }

    /// Like [`Self::offset_ns`], from the windows near that time alone.
    fn offset_near_ns(&self, time_ns: i64) -> Option<i64> {
        let index = (time_ns - self.origin_ns).div_euclid(self.width_ns);
        let at = self.place(index).min(self.windows.len().saturating_sub(1));
        let near = at.saturating_sub(NEAR)..(at + NEAR + 1).min(self.windows.len());
        let near = self.bounds(time_ns, self.windows.get(near)?);
        let bounds = match near {
            (Some(_), Some(_)) => near,
            _ => self.bounds(time_ns, &self.windows),
        };
        middle(bounds)
    }

    /// The second clock less the first, at the last window.
    pub(crate) fn now_ns(&self) -> Option<i64> {
        if let Some(now) = self.known.now.get() {
            return now;
        }
        let last = self.windows.last();
        let now = last.and_then(|last| self.offset_ns(self.middle_ns(last.index)));
        self.known.now.set(Some(now));
        now
    }

    /// The same at the middle of the window that this index would have.
    fn offset_at_ns(&self, index: i64) -> Option<i64> {
        match self.known.at.get() {
            Some((known, offset_ns)) if known == index => offset_ns,
            _ => {
                let offset_ns = self.offset_ns(self.middle_ns(index));
                self.known.at.set(Some((index, offset_ns)));
                offset_ns
            }
        }
    }

    fn middle_ns(&self, index: i64) -> i64 {
        self.origin_ns + index * self.width_ns + self.width_ns / 2
    }

    /// The bounds that both ways of some windows set for the offset at a time: the most, and the least.
    fn bounds(&self, time_ns: i64, windows: &[Window]) -> (Option<i64>, Option<i64>) {
        let then = |sample: Sample| sample.at(time_ns, self.drift.slope);
        let forth = windows.iter().filter_map(|window| window.forth);
        let back = windows.iter().filter_map(|window| window.back);
        (forth.map(then).min(), back.map(then).max())
    }

    /// Offset at the start, and drift in parts per million where there is enough to tell it.
    pub(crate) fn fit(&self) -> (Option<i64>, Option<f64>) {
        let bounds = self.bounds(self.origin_ns, &self.windows);
        (
            middle(bounds),
            self.drift.clear_slope().map(|slope| slope * 1e6),
        )
    }

    /// Smallest one-way delay: half of what both ways sum to.
    pub(crate) fn delay_ns(&self) -> Option<i64> {
        let (forth, back) = self.bounds(self.origin_ns, &self.windows);
        Some(((forth? - back?) / 2).max(0))
    }

    /// The same, and by how much it may be wrong: between a frame of one way and one of the other clocks gain on each other, and
    /// frames wait. The two that say most together count.
    pub(crate) fn delay_within_ns(&self) -> Option<(i64, i64)> {
        let delay_ns = self.delay_ns()?;
        let forth = self.windows.iter().filter_map(|window| window.forth);
        let back = || self.windows.iter().filter_map(|window| window.back);
        let pairs = forth.flat_map(|forth| back().map(move |back| (forth, back)));
        let doubt_ns = pairs.map(|(forth, back)| {
            let then_ns = forth.at(back.time_ns, self.drift.slope);
            let shown_ns = (then_ns - back.difference_ns) / 2;
            let doubt_ns = self.drift.doubt_ns(forth.time_ns - back.time_ns) / 2;
            (shown_ns - delay_ns).abs() + doubt_ns
        });
        Some((delay_ns, doubt_ns.min()?))
    }
}

impl Sample {
    /// The difference at another time, moved by the drift.
    fn at(self, time_ns: i64, slope: f64) -> i64 {
        self.difference_ns + ((time_ns - self.time_ns) as f64 * slope) as i64
    }
}

/// The lower of two samples, drift left aside.
fn lower(a: Option<Sample>, b: Option<Sample>, slope: f64) -> Option<Sample> {
    let height = |sample: &Sample| sample.at(0, slope);
    a.into_iter().chain(b).min_by_key(height)
}

fn higher(a: Option<Sample>, b: Option<Sample>, slope: f64) -> Option<Sample> {
    let depth = |sample: &Sample| std::cmp::Reverse(sample.at(0, slope));
    a.into_iter().chain(b).min_by_key(depth)
}

fn middle(bounds: (Option<i64>, Option<i64>)) -> Option<i64> {
    match bounds {
        (Some(forth), Some(back)) => Some(back + (forth - back) / 2),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const BEGIN_NS: i64 = 1_700_000_000_000_000_000;

    /// 37 s ahead and drifting, 3 ms each way with queues of up to 20 ms.
    fn drifting(ppm: i64) -> Clock {
        let mut clock = Clock::default();
        for i in 0..10_000i64 {
            let passed = i * 2 * MS;
            let offset = 37_000 * MS + passed * ppm / 1_000_000;
            let queue = (i * 7919 % 100) * 200_000;
            clock.add(BEGIN_NS + passed, offset + 3 * MS + queue, true);
            clock.add(BEGIN_NS + passed, offset - 3 * MS - queue / 3, false);
            if i % 500 == 0 {
                clock.settle();
            }
        }
        clock.settle();
        clock
    }

    #[test]
    fn offset_drift_and_delay_are_found() {
        for ppm in [-200, 40, 200] {
            let clock = drifting(ppm);
            let (offset, drift) = clock.fit();
            assert!(
                (offset.unwrap() - 37_000 * MS).abs() < 300_000,
                "{offset:?}"
            );
            assert!(
                (drift.unwrap() - ppm as f64).abs() < 8.0,
                "{ppm}: {drift:?}"
            );
            assert!((clock.delay_ns().unwrap() - 3 * MS).abs() < 300_000);
            assert!(clock.windows.len() <= WINDOWS);
        }
    }

    #[test]
    fn the_offset_at_a_time_has_the_drift_until_then() {
        let clock = drifting(200);
        for passed in [0, 10_000 * MS, 19_000 * MS] {
            let offset = clock.offset_ns(BEGIN_NS + passed).unwrap();
            let expected = 37_000 * MS + passed / 5_000;
            assert!((offset - expected).abs() < 500_000, "{offset} {expected}");
        }
    }

    #[test]
    fn scatter_is_no_drift() {
        let mut clock = Clock::default();
        for i in 0..100i64 {
            clock.add(i * 100 * MS, 40 * MS + i * 7919 % 400_000, true);
            clock.add(i * 100 * MS, -40 * MS, false);
        }
        clock.settle();
        let (offset, drift) = clock.fit();
        assert!(offset.unwrap().abs() < 200_000, "{offset:?}");
        assert_eq!(drift, None);
    }

    /// A queue that fills moves one way's differences by far more than a crystal can.
    #[test]
    fn a_queue_that_fills_is_no_drift() {
        for back in [true, false] {
            let mut clock = Clock::default();
            for i in 0..40i64 {
                clock.add(i * 50 * MS, 5 * MS + i * MS, true);
                if back {
                    clock.add(i * 50 * MS, -5 * MS, false);
                }
            }
            clock.settle();
            assert_eq!(clock.fit().1, None);
            let late = clock.offset_ns(39 * 50 * MS).unwrap();
            assert!((0..=45 * MS).contains(&late), "{late}");
        }
    }

    /// Where captures have no timestamps, a frame that is lost and sent again is one frame that took long.
    #[test]
    fn frames_that_took_long_do_not_move_the_clock() {
        let mut clock = Clock::default();
        for i in 0..40i64 {
            clock.add(i * 100 * MS, 0, true);
            let late = if i % 10 == 0 { 0 } else { 64 * MS };
            clock.add(i * 100 * MS, -late, false);
        }
        clock.settle();
        for i in 0..40 {
            let offset = clock.offset_ns(i * 100 * MS).unwrap();
            assert!(offset.abs() < 500_000, "{i}: {offset}");
        }
    }

    /// Answers that take 60 ms, by clocks of which nothing shows yet how much they gain on each other.
    #[test]
    fn a_delay_is_as_sure_as_clocks_run_alike_until_the_answer() {
        let mut clock = Clock::default();
        for i in 0..3i64 {
            clock.add(i * 100 * MS, 25_000, true);
            clock.add((i * 100 + 60) * MS, -25_000, false);
        }
        clock.settle();
        assert_eq!(clock.delay_within_ns(), Some((25_000, 10_000)));
        // Data right in front of an acknowledgment.
        clock.add(60 * MS, 24_990, true);
        assert_eq!(clock.delay_within_ns(), Some((24_995, 0)));
    }

    /// Somebody set one of the clocks in the middle of the captures.
    #[test]
    fn a_clock_that_was_set_is_followed() {
        let mut clock = Clock::default();
        for i in 0..40i64 {
            let offset = if i < 20 { 0 } else { 900 * MS };
            clock.add(i * 100 * MS, offset + MS, true);
            clock.add(i * 100 * MS, offset - MS, false);
        }
        clock.settle();
        assert!(clock.offset_ns(10 * 100 * MS).unwrap().abs() < 2 * MS);
        assert!((clock.offset_ns(35 * 100 * MS).unwrap() - 900 * MS).abs() < 2 * MS);
    }

    #[test]
    fn one_way_takes_the_smallest_delay_as_none() {
        let mut clock = Clock::default();
        clock.add(0, 500, true);
        clock.add(10, 300, true);
        clock.settle();
        assert_eq!(clock.now_ns(), Some(300));
        assert_eq!(clock.fit(), (Some(300), None));
        assert_eq!(clock.delay_ns(), None);
    }
}
