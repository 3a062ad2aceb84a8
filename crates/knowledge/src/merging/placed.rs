//! On which hop the frames vanish that had to be sent again.

use coalescope_capture::facts::{Hop, HopConnection, Outcomes, Trace};

use super::frames::Frames;
use super::switch_off;
use crate::finding::{Finding, HopRef, Subject};
use crate::thresholds::{A_FEW, HANDFUL};
use crate::words::shown;

/// Names the hop behind a point that passed none of the connection's merged frames that it judges, few as they may be where
/// captures begin or end at different times, and as many single ones.
pub(super) fn place(trace: &Trace, finding: Finding) -> Finding {
    let about = finding.connection.as_ref();
    let is_mine = |seen: &HopConnection| about.is_some_and(|about| about.id == seen.from_id);
    let from = |hop: &&Hop| about.is_some_and(|about| about.point == hop.from);
    let all = trace.hops.iter().filter(from);
    let mut all = all.flat_map(|hop| hop.connections.iter().map(move |seen| (hop, seen)));
    let Some((hop, seen)) = all.find(|(_, seen)| is_mine(seen) && loses_what_it_judges(seen))
    else {
        return finding;
    };
    let text = format!(
        "of these {} are seen to leave {} and not to come to {}",
        large(seen).lost,
        hop.from,
        hop.to
    );
    let frames = match finding.subject {
        Subject::LargeFrames => Frames::Large,
        _ => Frames::Merged,
    };
    let mut placed = Finding {
        title: format!("{frames} are lost between {} and {}", hop.from, hop.to),
        hop: Some(HopRef::of(hop)),
        next: switch_off(&hop.from),
        ..finding
    };
    placed
        .evidence
        .insert(1, shown(text, &hop.from, &seen.merged_lost_frames));
    placed
}

/// Frames of several segments: those that were merged, or, of a direction that has none, those taken for their sender's own.
fn large(seen: &HopConnection) -> &Outcomes {
    if seen.merged.seen > 0 {
        &seen.merged
    } else {
        &seen.tso
    }
}

fn loses_what_it_judges(seen: &HopConnection) -> bool {
    // Where nothing tells a repair of one segment from a part of the merged frame before it, a few seem to arrive in part.
    let large = large(seen);
    let (lost, partly) = (large.lost, large.partly_lost);
    // Not those of which acknowledgments alone tell: a tunnel in one direction leaves the second point nothing else.
    let came = seen.single.shown().saturating_sub(seen.single.damaged());
    lost >= A_FEW.max(2 * partly)
        && large.intact() == 0
        && came >= lost.min(HANDFUL)
        && seen.single.lost == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes_none(lost: u64, partly_lost: u64, arrived: u64, single: (u64, u64)) -> bool {
        let large = Outcomes {
            seen: lost + partly_lost + arrived,
            lost,
            partly_lost,
            arrived,
            ..Outcomes::default()
        };
        let single = Outcomes {
            arrived: single.0,
            lost: single.1,
            ..Outcomes::default()
        };
        // The same is said of frames that were merged, and of those taken for their sender's own.
        let [merged, uncut] =
            [(large, Outcomes::default()), (Outcomes::default(), large)].map(|(merged, tso)| {
                loses_what_it_judges(&HopConnection {
                    merged,
                    tso,
                    single,
                    ..HopConnection::default()
                })
            });
        assert_eq!(merged, uncut);
        merged
    }

    /// The second point has acknowledgments of these alone.
    #[test]
    fn what_a_capture_missed_is_not_seen_to_pass() {
        let single = |arrived, missed| HopConnection {
            tso: Outcomes {
                seen: 100,
                lost: 95,
                ..Outcomes::default()
            },
            single: Outcomes {
                seen: 480,
                arrived,
                missed,
                ..Outcomes::default()
            },
            ..HopConnection::default()
        };
        assert!(!loses_what_it_judges(&single(0, 480)));
        assert!(loses_what_it_judges(&single(480, 0)));
    }

    #[test]
    fn a_hop_that_passes_no_merged_frame_is_where_they_die() {
        assert!(passes_none(190, 0, 0, (218, 0)));
        assert!(passes_none(32, 4, 0, (252, 0)));
        assert!(passes_none(4, 0, 0, (4, 0)));
        assert!(!passes_none(4, 0, 0, (3, 0)));
        assert!(!passes_none(32, 20, 0, (252, 0)));
        assert!(!passes_none(32, 0, 1, (252, 0)));
        assert!(!passes_none(32, 0, 0, (252, 1)));
        assert!(!passes_none(1, 0, 0, (252, 0)));
    }
}
