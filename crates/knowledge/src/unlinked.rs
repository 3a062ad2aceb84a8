//! Captures that have no connection in common: the path between them is not seen.

use coalescope_capture::facts::{Hop, Outcomes, Trace};

use crate::finding::Finding;
use crate::overview::Overview;
use crate::thresholds::MISSED;
use crate::words::without_frames;

/// The finding for several points if no connection was found at two of them. What each point shows by itself stands;
/// whether anything is wrong between the points cannot be decided.
pub(crate) fn unlinked(trace: &Trace, overview: &Overview<'_>) -> Option<Finding> {
    let strangers = !trace.hops.is_empty() && !have_met(&trace.hops);
    if !strangers || overview.with_data() == 0 {
        return None;
    }
    let names: Vec<&str> = trace.points.iter().map(|point| &*point.name).collect();
    let text = format!("no connection is seen at two of {}", names.join(", "));
    Some(Finding::undecided(
        "the captures have no connection in common, so that nothing can be compared",
        without_frames(text),
        "capture one transfer at all places at the same time; a proxy ends connections and begins others: capture \
               in front of it and behind it, and give coalescope the captures of each side together",
    ))
}

/// Whether connections were found at both points, and are really the same by the numbers that each begins with, which are drawn
/// (RFC 9293, 3.4.1), or by the fates of their frames. Two downloads of one file may be taken for one by their payload where
/// hosts send no timestamps; but then hardly any frame of one capture is in the other, and all of its data is acknowledged.
fn have_met(hops: &[Hop]) -> bool {
    let all = || {
        hops.iter()
            .flat_map(|hop| [&hop.merged, &hop.tso, &hop.single])
    };
    let sum = |of: fn(&Outcomes) -> u64| all().map(of).sum::<u64>();
    let followed = sum(Outcomes::shown);
    let missed = sum(|outcomes| outcomes.missed);
    let found = followed > 0 || hops.iter().any(|hop| hop.connections_matched > 0);
    found && (missed <= MISSED * followed || hops.iter().any(shares_numbers))
}

/// Whether connections were found by more than their payload.
fn shares_numbers(hop: &Hop) -> bool {
    let mut connections = hop.connections.iter();
    connections.any(|seen| ["handshake", "sequence numbers"].contains(&seen.matched_by))
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::{Direction, HopConnection, Point};

    use super::*;
    use crate::finding::Id;
    use crate::sample;
    use crate::verdict::{Merging, judge};

    fn point(name: &str) -> Point {
        let data = Direction {
            data_frames: 1_000,
            unique_bytes: 1_448_000,
            segment_size_bytes: Some(1448),
            merged_frames: 10,
            throughput_bps: Some(1e7),
            duration_s: Some(1.2),
            ..Direction::default()
        };
        sample::point(name, data)
    }

    fn judged(matched: u64, hops: usize) -> (Merging, Vec<Finding>) {
        let hop = Hop {
            from: "server".to_owned(),
            to: "client".to_owned(),
            connections_matched: matched,
            ..Hop::default()
        };
        let diagnosis = judge(&Trace {
            points: vec![point("server"), point("client")],
            hops: vec![hop; hops],
            ..Trace::default()
        });
        (diagnosis.verdict.merging, diagnosis.findings)
    }

    #[test]
    fn strangers_are_not_called_sound() {
        let (merging, findings) = judged(0, 2);
        assert_eq!(findings[0].id, Id::NotEnoughEvidence);
        assert_eq!(merging, Merging::Unclear);
        assert!(findings[0].evidence[0].text.contains("server, client"));
    }

    /// What counts as found by its payload alone, and of which all frames are said to be missed.
    #[test]
    fn one_file_downloaded_twice_is_two_transfers() {
        let mut hop = Hop {
            connections_matched: 1,
            ..Hop::default()
        };
        let met = |hop: &Hop| have_met(std::slice::from_ref(hop));
        assert!(met(&hop));
        (hop.single.seen, hop.single.missed) = (100, 99);
        assert!(!met(&hop));
        // The request, which begins alike.
        hop.single.resplit = 1;
        assert!(!met(&hop));
        hop.single.arrived = 10;
        assert!(met(&hop));
    }

    /// A capture that leaves out long frames has the handshake all the same.
    #[test]
    fn whose_handshake_is_at_both_points_is_one_connection() {
        let met = |matched_by| {
            let seen = HopConnection {
                matched_by,
                ..HopConnection::default()
            };
            let mut hop = Hop {
                connections_matched: 1,
                connections: vec![seen],
                ..Hop::default()
            };
            (hop.merged.seen, hop.merged.missed) = (154, 153);
            have_met(&[hop])
        };
        assert!(met("handshake") && met("sequence numbers"));
        assert!(!met("payload"));
    }

    #[test]
    fn whoever_has_met_is_judged() {
        assert_eq!(judged(1, 2).1[0].id, Id::Healthy);
        // Two transfers to compare have no hop between them.
        assert_eq!(judged(0, 0).1[0].id, Id::Healthy);
    }
}
