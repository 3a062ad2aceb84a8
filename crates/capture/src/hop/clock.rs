//! How two points' clocks differ, estimated from frames seen at both.
//!
//! A frame that goes forth shows offset + delay, one that comes back offset - delay. The smallest
//! of the first and the largest of the second, over a while, bound the offset from both sides;
//! their middle is right when the smallest delays of both ways are equal (the assumption of NTP,
//! RFC 5905). With one way only the smallest delay is taken as zero.

/// Windows kept; when full, neighbours merge and the width doubles.
const WINDOWS: usize = 64;
/// Width of a window at first.
const WIDTH_NS: i64 = 100_000_000;
/// Drift is not told from less than this many windows, or over less than a second.
const ENOUGH: usize = 4;

/// Drift must move the clock by this many times the scatter of the windows, and by this much.
const CLEAR: f64 = 4.0;
const CLEAR_NS: f64 = 100_000.0;

/// Extremes within one window.
#[derive(Clone, Copy, Debug)]
struct Window {
    index: i64,
    forth: Option<i64>,
    back: Option<i64>,
}

/// The estimate for one hop. Times are those of the first point.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    origin_ns: Option<i64>,
    width_ns: i64,
    windows: Vec<Window>,
}

/// Differences of some frames' times at both points, for the median of their delays: the clocks'
/// offset is taken off at the end, when it is known best.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differences {
    kept: Vec<(i64, i64)>,
    stride: usize,
    skipped: usize,
}

/// Differences kept.
const DIFFERENCES: usize = 512;

impl Differences {
    pub(crate) fn push(&mut self, time_ns: i64, difference_ns: i64) {
        self.skipped += 1;
        if self.skipped < self.stride {
            return;
        }
        self.skipped = 0;
        if self.kept.len() == DIFFERENCES {
            let mut odd = false;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride = self.stride.max(1) * 2;
        }
        self.kept.push((time_ns, difference_ns));
    }

    /// The median delay.
    pub(crate) fn median_ns(&self, clock: &Clock) -> Option<i64> {
        let (start, drift) = clock.fit();
        let (start, origin) = (start?, clock.origin_ns?);
        let mut delays: Vec<i64> = self
            .kept
            .iter()
            .map(|(time, difference)| {
                let drifted = (time - origin) as f64 * drift.unwrap_or(0.0) / 1e6;
                (difference - start - drifted as i64).max(0)
            })
            .collect();
        delays.sort_unstable();
        delays.get(delays.len() / 2).copied()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            origin_ns: None,
            width_ns: WIDTH_NS,
            windows: Vec::new(),
        }
    }
}

impl Clock {
    /// Adds a frame seen at both: `difference` is the second point's time less the first's.
    pub(crate) fn add(&mut self, time_ns: i64, difference_ns: i64, forth: bool) {
        let origin = *self.origin_ns.get_or_insert(time_ns);
        let index = (time_ns - origin).div_euclid(self.width_ns);
        let at = self.windows.partition_point(|window| window.index < index);
        if self
            .windows
            .get(at)
            .is_none_or(|window| window.index != index)
        {
            self.windows.insert(
                at,
                Window {
                    index,
                    forth: None,
                    back: None,
                },
            );
        }
        let window = &mut self.windows[at];
        if forth {
            window.forth = lower(window.forth, Some(difference_ns));
        } else {
            window.back = higher(window.back, Some(difference_ns));
        }
        if self.windows.len() > WINDOWS {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let mut merged: Vec<Window> = Vec::with_capacity(WINDOWS);
        for mut window in self.windows.drain(..) {
            window.index = window.index.div_euclid(2);
            match merged.last_mut().filter(|last| last.index == window.index) {
                Some(last) => {
                    last.forth = lower(last.forth, window.forth);
                    last.back = higher(last.back, window.back);
                }
                None => merged.push(window),
            }
        }
        self.windows = merged;
    }

    /// The second clock less the first, now.
    pub(crate) fn now_ns(&self) -> Option<i64> {
        let from = self.windows.len().saturating_sub(2);
        self.of(&self.windows[from..])
            .or_else(|| self.of(&self.windows))
    }

    fn of(&self, windows: &[Window]) -> Option<i64> {
        let forth = windows.iter().filter_map(|window| window.forth).min();
        let back = windows.iter().filter_map(|window| window.back).max();
        middle(forth, back)
    }

    /// Offset at the start, and drift in parts per million where there is enough to tell it.
    pub(crate) fn fit(&self) -> (Option<i64>, Option<f64>) {
        let points = self.middles();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return (self.of(&self.windows), None);
        };
        if points.len() < ENOUGH || last.0 - first.0 < 1e9 {
            return (self.of(&self.windows), None);
        }
        let slope = median_slope(&points);
        let at_start = |slope: f64| median(points.iter().map(|(t, offset)| offset - slope * t));
        let start = at_start(slope);
        let noise = median(
            points
                .iter()
                .map(|(t, offset)| (offset - slope * t - start).abs()),
        );
        let drifted = (slope * (last.0 - first.0)).abs();
        if drifted < CLEAR * noise + CLEAR_NS {
            return (Some(at_start(0.0) as i64), None);
        }
        (Some(start as i64), Some(slope * 1e6))
    }

    /// Offset by time since the origin, from windows that have what the best of them have.
    fn middles(&self) -> Vec<(f64, f64)> {
        let both = self
            .windows
            .iter()
            .any(|w| w.forth.is_some() && w.back.is_some());
        self.windows
            .iter()
            .filter(|w| !both || w.forth.is_some() && w.back.is_some())
            .filter_map(|w| {
                let time = (w.index as f64 + 0.5) * self.width_ns as f64;
                Some((time, middle(w.forth, w.back)? as f64))
            })
            .collect()
    }

    /// Smallest one-way delay: half of what both ways sum to.
    pub(crate) fn delay_ns(&self) -> Option<i64> {
        let forth = self
            .windows
            .iter()
            .filter_map(|window| window.forth)
            .min()?;
        let back = self.windows.iter().filter_map(|window| window.back).max()?;
        Some(((forth - back) / 2).max(0))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

fn lower(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}

fn higher(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).max()
}

fn middle(forth: Option<i64>, back: Option<i64>) -> Option<i64> {
    match (forth, back) {
        (Some(forth), Some(back)) => Some(back + (forth - back) / 2),
        (one, other) => one.or(other),
    }
}

/// Theil-Sen: the median of the slopes between all pairs, which a few queues do not move.
fn median_slope(points: &[(f64, f64)]) -> f64 {
    let pairs = points.iter().enumerate().flat_map(|(i, a)| {
        points[i + 1..]
            .iter()
            .map(move |b| (b.1 - a.1) / (b.0 - a.0))
    });
    median(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 37 s ahead, 40 ppm fast, 3 ms each way with queues of up to 20 ms.
    fn drifting() -> Clock {
        let mut clock = Clock::default();
        for i in 0..10_000i64 {
            let t = 1_700_000_000_000_000_000 + i * 2_000_000;
            let offset = 37_000_000_000 + i * 2_000_000 / 25_000;
            let queue = (i * 7919 % 100) * 200_000;
            clock.add(t, offset + 3_000_000 + queue, true);
            clock.add(t, offset - 3_000_000 - queue / 3, false);
        }
        clock
    }

    #[test]
    fn offset_drift_and_delay_are_found() {
        let clock = drifting();
        let (offset, drift) = clock.fit();
        assert!(
            (offset.unwrap() - 37_000_000_000).abs() < 300_000,
            "{offset:?}"
        );
        assert!((drift.unwrap() - 40.0).abs() < 8.0, "{drift:?}");
        assert!(clock.windows.len() <= WINDOWS);
    }

    #[test]
    fn scatter_is_no_drift() {
        let mut clock = Clock::default();
        for i in 0..100i64 {
            clock.add(i * 100_000_000, 40_000_000 + i * 7919 % 400_000, true);
            clock.add(i * 100_000_000, -40_000_000, false);
        }
        let (offset, drift) = clock.fit();
        assert!(offset.unwrap().abs() < 200_000, "{offset:?}");
        assert_eq!(drift, None);
    }

    #[test]
    fn one_way_takes_the_smallest_delay_as_none() {
        let mut clock = Clock::default();
        clock.add(0, 500, true);
        clock.add(10, 300, true);
        assert_eq!(clock.now_ns(), Some(300));
        assert_eq!(clock.fit(), (Some(300), None));
        assert_eq!(clock.delay_ns(), None);
    }
}
