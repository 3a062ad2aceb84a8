//! Captures whose clock stands: loss is still seen by bytes, but whatever rests on time is not.

use coalescope_capture::facts::{Point, Trace};

use crate::finding::Finding;
use crate::overview::Overview;
use crate::words::without_frames;

/// So many frames at one time are no burst ([`coalescope_capture`] warns from here on, too).
const MANY: u64 = 20;

/// The finding for a trace in which some points show no time at all: "nothing is wrong" is said of no such trace.
pub(crate) fn untimed(trace: &Trace, overview: &Overview<'_>) -> Option<Finding> {
    let all = trace.points.iter().filter(|point| stands_still(point));
    let names: Vec<&str> = all.map(|point| &*point.name).collect();
    if names.is_empty() || overview.with_data() == 0 {
        return None;
    }
    let text = format!(
        "all frames of {} have the same time: round trips, waits and rates are not known, and loss only by bytes that come \
         again",
        names.join(", ")
    );
    Some(Finding::undecided(
        "the captures show no times, so that little can be judged",
        without_frames(text),
        "capture again with a program that writes times (tcpdump, dumpcap), or convert the file without losing them",
    ))
}

fn stands_still(point: &Point) -> bool {
    point.frames >= MANY && point.first_s.is_some() && point.first_s == point.last_s
}
