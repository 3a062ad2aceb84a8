//! Merged frames that a router refuses, though each of their segments would have fitted.

use coalescope_capture::facts::{Connection, Direction, Hop, Outcomes, Point, Trace};

use super::frames::Frames;
use crate::finding::{Finding, HopRef, Id, Proof, Subject};
use crate::odds::{Table, fisher};
use crate::same::{Group, Same};
use crate::thresholds::{ALPHA, HANDFUL, MERGED_LOST};
use crate::words::{reference, shown, slow, without_frames};

/// "Packet too big" in answer to merged frames of which each segment would have fitted.
pub(super) fn rejected_at(
    trace: &Trace,
    (point, suspects): (&Point, &[Connection]),
    same: &Same<'_>,
) -> Option<Finding> {
    let (connection, direction) = refused(suspects).max_by_key(|(_, d)| d.rejected.merged)?;
    let rejected = &direction.rejected;
    let mtu = rejected.mtu_bytes.unwrap_or(0);
    let text = format!(
        "{} ICMP \"packet too big\" messages (MTU {mtu}) quote merged frames; each of their segments \
         of {} bytes would fit",
        rejected.merged,
        direction.segment_size_bytes.unwrap_or(0),
    );
    let mut evidence = vec![shown(
        text,
        &point.name,
        direction.frames_of(|examples| &examples.rejected),
    )];
    evidence.extend(slow(direction));
    let hop = losing_hop(trace, same, same.group(&point.name, connection.id));
    evidence.extend(hop.map(|hop| {
        let fate = format!("were lost whole between {} and {}", hop.from, hop.to);
        without_frames(words_of_loss(hop, &fate))
    }));
    let uncut = uncut_hop(trace, point, connection);
    evidence.extend(uncut.map(|(hop, large)| {
        without_frames(format!(
            "{} of {} large frames that their sender left to its card (TSO) arrive at {} uncut",
            large.arrived, large.seen, hop.to
        ))
    }));
    Some(Finding {
        id: Id::MergedFramesRejected,
        proof: Proof::Observed,
        reason: None,
        subject: Subject::Plain,
        note: false,
        share: None,
        title: "a router refuses merged frames because they exceed its next link's MTU".to_owned(),
        connection: Some(reference(&point.name, connection)),
        hop: hop.map(HopRef::of),
        evidence,
        next: uncut.map_or(RECEIVER, |_| SENDER).to_owned(),
    })
}

const RECEIVER: &str = "switch off LRO (or GRO, where it keeps no segment size) on the interface through which \
    that router receives, and nothing else; if the messages stop, that proves it";
const SENDER: &str =
    "switch off TSO at the sender, and nothing else; if the messages stop, that proves it";

/// What became of a hop's merged frames, or of those that were taken for their sender's own, as in captures that show an IP length
/// of 0.
fn words_of_loss(hop: &Hop, fate: &str) -> String {
    if hop.merged.lost > 0 {
        return Table::of(&hop.merged, &hop.single).words(hop.p_value, fate);
    }
    let table = Table::of(&hop.tso, &hop.single);
    table.words_of(Frames::Large.words(), fisher(&table), fate)
}

/// The hop on which the refused frames of a connection got lost, wherever the messages were seen: the router is there.
fn losing_hop<'a>(trace: &'a Trace, same: &Same<'_>, refused: Group<'_>) -> Option<&'a Hop> {
    trace.hops.iter().find(|hop| {
        let mut seen = hop.connections.iter();
        seen.any(|seen| {
            let loses = |large: &Outcomes| {
                large.lost >= HANDFUL && large.lost as f64 >= MERGED_LOST * large.judged() as f64
            };
            (loses(&seen.merged) || loses(&seen.tso))
                && same.group(&hop.from, seen.from_id) == refused
        })
    })
}

/// A hop from or to this point over which a connection's frames came unsegmented, although a card should have segmented
/// them (apple/container#2245).
fn uncut_hop<'a>(
    trace: &'a Trace,
    point: &Point,
    connection: &Connection,
) -> Option<(&'a Hop, &'a Outcomes)> {
    let known = Some(connection.id);
    trace.hops.iter().find_map(|hop| {
        let [from, to] = [&hop.from, &hop.to].map(|name| known.filter(|_| *name == point.name));
        let mut seen = hop.connections.iter().filter(|seen| is_whole(&seen.tso));
        let seen = seen.find(|seen| from == Some(seen.from_id) || to == Some(seen.to_id))?;
        Some((hop, &seen.tso))
    })
}

/// Whether a handful arrived whole, and most of them: the others may have been lost.
fn is_whole(large: &Outcomes) -> bool {
    large.arrived >= HANDFUL && large.arrived * 2 > large.seen
}

pub(super) fn refused(suspects: &[Connection]) -> impl Iterator<Item = (&Connection, &Direction)> {
    let directions = suspects
        .iter()
        .flat_map(|c| [(c, &c.to_client), (c, &c.to_server)]);
    directions.filter(|(_, direction)| refuses(direction))
}

/// Whether there are a handful of messages, and fewer for single frames.
fn refuses(direction: &Direction) -> bool {
    let rejected = &direction.rejected;
    let multi = direction.merged_frames + direction.tso_frames;
    let single = direction.data_frames.saturating_sub(multi);
    let p = coalescope_capture::fisher_exact([
        rejected.merged,
        multi.saturating_sub(rejected.merged),
        rejected.single,
        single.saturating_sub(rejected.single),
    ]);
    rejected.merged >= HANDFUL && (single == 0 || p.is_some_and(|p| p < ALPHA))
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::HopConnection;

    use super::*;

    /// The messages are seen at the second of three points, in front of the router, and at the first one.
    #[test]
    fn the_hop_is_named_that_lost_what_was_refused() {
        for is_uncut in [false, true] {
            names_the_hop(is_uncut);
        }
    }

    /// The refused frames may be taken for their sender's own, by an IP length of 0.
    fn names_the_hop(is_uncut: bool) {
        let hop = |(from, from_id): (&str, u64), (to, to_id): (&str, u64), lost, arrived| {
            let mut seen = HopConnection {
                from_id,
                to_id,
                ..HopConnection::default()
            };
            let large = match is_uncut {
                true => &mut seen.tso,
                false => &mut seen.merged,
            };
            (large.lost, large.arrived) = (lost, arrived);
            Hop {
                from: from.to_owned(),
                to: to.to_owned(),
                connections: vec![seen],
                ..Hop::default()
            }
        };
        for (lost, arrived, about, expected) in [
            (80, 0, ("B", 3), Some("C")),
            (80, 0, ("A", 2), Some("C")),
            (80, 0, ("C", 1), Some("C")),
            (80, 0, ("B", 1), None),
            (80, 200, ("B", 3), None),
            (2, 0, ("B", 3), None),
        ] {
            let trace = Trace {
                hops: vec![
                    hop(("A", 2), ("B", 3), 0, 80),
                    hop(("B", 3), ("C", 1), lost, arrived),
                ],
                ..Trace::default()
            };
            let same = Same::of(&trace);
            let found = losing_hop(&trace, &same, same.group(about.0, about.1));
            let found = found.map(|hop| hop.to.as_str());
            assert_eq!(found, expected, "{lost} {arrived} {about:?}");
        }
    }
}
