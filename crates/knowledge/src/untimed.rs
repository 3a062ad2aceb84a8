//! Captures whose clock stands, or counts frames: loss is still seen by bytes, but whatever rests on time is not.

use coalescope_capture::facts::{COUNTED_NS, Point, Trace, UNTIMED_FRAMES};

use crate::finding::Finding;
use crate::overview::Overview;
use crate::words::without_frames;

/// The finding for a trace in which some points show no time at all: "nothing is wrong" is said of no such trace.
pub(crate) fn untimed(trace: &Trace, overview: &Overview<'_>) -> Option<Finding> {
    let all = trace.points.iter().filter(|point| is_untimed(point));
    let names: Vec<&str> = all.map(|point| &*point.name).collect();
    if names.is_empty() || overview.with_data() == 0 {
        return None;
    }
    let text = format!(
        "all frames of {} have the same time, or are one microsecond apart: round trips, waits and rates are not known, and loss only \
         by bytes that come again",
        names.join(", ")
    );
    Some(Finding::undecided(
        "the captures show no times, so that little can be judged",
        without_frames(text),
        "capture again with a program that writes times (tcpdump, dumpcap), or convert the file without losing them",
    ))
}

fn is_untimed(point: &Point) -> bool {
    let times = point.first_s.zip(point.last_s);
    let all_s = times.map(|(first_s, last_s)| last_s - first_s);
    let step_s = COUNTED_NS as f64 / 1e9;
    let counted_s = point.frames.saturating_sub(1) as f64 * step_s;
    let is = |all_s: f64| all_s == 0.0 || (all_s - counted_s).abs() < step_s / 2.0;
    point.frames >= UNTIMED_FRAMES && all_s.is_some_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_or_counts_frames_shows_no_times() {
        let is_untimed = |frames, all_s: f64| {
            is_untimed(&Point {
                frames,
                first_s: Some(1_700_000_000.0),
                last_s: Some(1_700_000_000.0 + all_s),
                ..Point::default()
            })
        };
        assert!(is_untimed(20, 0.0) && is_untimed(20, 19e-6) && is_untimed(900, 899e-6));
        assert!(!is_untimed(19, 0.0) && !is_untimed(19, 18e-6));
        assert!(!is_untimed(20, 21e-6) && !is_untimed(900, 0.09));
        assert!(!super::is_untimed(&Point::default()));
    }
}
