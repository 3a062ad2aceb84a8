//! Captures that lack nearly all of the data: acknowledgments alone show neither what was merged nor what was lost.

use coalescope_capture::facts::Trace;

use crate::finding::Finding;
use crate::overview::Overview;
use crate::thresholds::{ENOUGH_SEGMENTS, SEGMENT, UNSEEN};
use crate::words::{bytes, without_frames};

/// The finding for a trace of which no point has a hundredth of the data that was acknowledged there, as where only one way of the
/// traffic comes by: "nothing is wrong" is said of no such trace.
pub(crate) fn unseen(trace: &Trace, overview: &Overview<'_>) -> Option<Finding> {
    let points = || overview.captured_and_missed();
    let has_some = points().any(|(captured, missed)| captured as f64 >= UNSEEN * missed as f64);
    let most = points().enumerate().max_by_key(|(_, (_, missed))| *missed);
    let (at, (captured, missed)) = most.filter(|_| !has_some)?;
    if (missed as f64) < ENOUGH_SEGMENTS * f64::from(SEGMENT) {
        return None;
    }
    let text = format!(
        "{} were acknowledged at {}, of which the capture has {}",
        bytes(captured + missed),
        trace.points.get(at)?.name,
        bytes(captured)
    );
    Some(Finding::undecided(
        "the captures lack nearly all of the data, so that little can be judged",
        without_frames(text),
        "capture both directions: data may take another way than its acknowledgments, a mirror port may copy one direction, a filter \
         may leave it out",
    ))
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::Direction;

    use super::*;
    use crate::finding::Id;
    use crate::sample;
    use crate::verdict::judge;

    /// What is said first where points have so much data, and lack so much of what was acknowledged.
    fn first(points: &[(u64, u64)]) -> Option<Id> {
        let point = |(unique_bytes, missed_bytes): &(u64, u64)| {
            let data = Direction {
                data_frames: unique_bytes / 1448 + 1,
                unique_bytes: *unique_bytes,
                missed_bytes: *missed_bytes,
                ..Direction::default()
            };
            sample::point("here", data)
        };
        let diagnosis = judge(&Trace {
            points: points.iter().map(point).collect(),
            ..Trace::default()
        });
        diagnosis.findings.first().map(|finding| finding.id)
    }

    #[test]
    fn acknowledgments_without_their_data_are_not_called_sound() {
        let (unknown, sound) = (Some(Id::NotEnoughEvidence), Some(Id::Healthy));
        assert_eq!(first(&[(120, 143_080)]), unknown);
        assert_eq!(first(&[(120, 143_080), (0, 143_200)]), unknown);
        assert_eq!(first(&[(120, 20_000)]), sound);
        assert_eq!(first(&[(120, 143_080), (143_000, 200)]), sound);
        assert_eq!(first(&[(2_000, 143_080)]), sound);
    }
}
