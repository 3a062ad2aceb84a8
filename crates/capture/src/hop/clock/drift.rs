//! How fast one clock gains on another.

use super::Sample;

/// Two clocks gain no more on each other than this: crystals of computers are within 100 ppm, bad ones within 200, and
/// what disciplines them slews by 500 ppm at most (RFC 5905, section 11.3). What moves differences faster is a queue.
pub(crate) const MOST_DRIFT_PPM: i64 = 500;
const MOST: f64 = MOST_DRIFT_PPM as f64 / 1e6;
/// The remaining error of a slope that stands out from the scatter.
const TOLD_WITHIN: f64 = 50e-6;
/// Drift is not told from less than this many windows, or over less than a second.
const ENOUGH: usize = 4;
const ENOUGH_NS: f64 = 1e9;
/// Drift must move the clock by this many times the scatter of the windows, and by this much.
const CLEAR: f64 = 4.0;
const CLEAR_NS: f64 = 100_000.0;

/// What is known of the drift.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drift {
    /// The best guess, as nanoseconds for each; 0 where there is too little to guess.
    pub(super) slope: f64,
    is_clear: bool,
}

/// A line through what one way shows.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f64,
    /// By how much it may be wrong.
    doubt: f64,
}

impl Drift {
    /// From the extremes of the windows.
    pub(super) fn of(
        origin_ns: i64,
        forth: impl Iterator<Item = Sample>,
        back: impl Iterator<Item = Sample>,
    ) -> Self {
        let lines = [line(origin_ns, forth), line(origin_ns, back)];
        let possible = lines.map(|line| line.filter(|line| line.slope.abs() <= MOST));
        let (best, agree) = match possible {
            [Some(a), Some(b)] => (a.with(b), (a.slope - b.slope).abs() <= a.doubt + b.doubt),
            // The other way's frames waited in a queue that grew, or there are none.
            [Some(one), None] | [None, Some(one)] => (one, true),
            [None, None] => return Self::default(),
        };
        Self {
            slope: best.slope,
            is_clear: agree && best.slope.abs() > best.doubt,
        }
    }

    /// By how much a clock may have moved beyond the slope, over a time.
    pub(super) fn doubt_ns(self, gap_ns: i64) -> i64 {
        let doubt = if self.is_clear { TOLD_WITHIN } else { MOST };
        (gap_ns.abs() as f64 * doubt) as i64
    }

    /// The drift, where it is more than what scatter and queues can show.
    pub(super) fn clear_slope(self) -> Option<f64> {
        self.is_clear.then_some(self.slope)
    }
}

impl Line {
    /// Both ways together, the surer one counting more.
    fn with(self, other: Self) -> Self {
        let (a, b) = (self.doubt.powi(-2), other.doubt.powi(-2));
        Self {
            slope: (self.slope * a + other.slope * b) / (a + b),
            doubt: self.doubt.min(other.doubt),
        }
    }
}

fn line(origin_ns: i64, samples: impl Iterator<Item = Sample>) -> Option<Line> {
    let samples: Vec<_> = samples.collect();
    let level = samples.first()?.difference_ns;
    let point = |sample: &Sample| {
        let height = (sample.difference_ns - level) as f64;
        ((sample.time_ns - origin_ns) as f64, height)
    };
    let points: Vec<_> = samples.iter().map(point).collect();
    let span = points.last()?.0 - points.first()?.0;
    if points.len() < ENOUGH || span < ENOUGH_NS {
        return None;
    }
    let slope = median_slope(&points);
    let start = median(points.iter().map(|(t, height)| height - slope * t));
    let off = |(t, height): &(f64, f64)| (height - slope * t - start).abs();
    let scatter = median(points.iter().map(off));
    Some(Line {
        slope,
        doubt: (CLEAR * scatter + CLEAR_NS) / span,
    })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
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
