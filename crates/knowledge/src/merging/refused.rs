//! Merged frames that a router refuses, though each of their segments would have fitted.

use coalescope_capture::facts::{Connection, Direction, Hop, Outcomes, Point, Trace};

use super::frames::Frames;
use crate::finding::{Finding, HopRef, Id, Proof, Subject};
use crate::judged::lost_by;
use crate::odds::{Table, fisher};
use crate::same::{Group, Same};
use crate::thresholds::{ALPHA, HANDFUL, MERGED_LOST};
use crate::words::{connections, reference, shown, slow, without_frames};

/// "Packet too big" in answer to merged frames of which each segment would have fitted.
pub(super) fn rejected_at(
    trace: &Trace,
    (point, refused): (&Point, &Refused<'_>),
    same: &Same<'_>,
) -> Option<Finding> {
    let (connection, direction) = refused.worst()?;
    let text = refused.words(direction);
    let mut evidence = vec![shown(
        text,
        &point.name,
        direction.frames_of(|examples| &examples.rejected),
    )];
    evidence.extend(slow(direction));
    let group = same.group(&point.name, connection.id);
    let hop = losing_hop(trace, same, group);
    let hop = hop.or_else(|| worst_hop(trace, same, group, direction.rejected.merged));
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

/// The hop that lost at least half as many frames of a connection as were refused, of any sort: merged parts of what was a segment
/// before count as a single one.
fn worst_hop<'a>(
    trace: &'a Trace,
    same: &Same<'_>,
    of: Group<'_>,
    refused: u64,
) -> Option<&'a Hop> {
    let lost = |hop: &&Hop| {
        let mut mine = hop.connections.iter();
        let mine = mine.find(|seen| same.group(&hop.from, seen.from_id) == of);
        mine.map_or(0, lost_by)
    };
    let hop = trace.hops.iter().max_by_key(lost)?;
    (2 * lost(&hop) >= refused).then_some(hop)
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

/// Connections whose merged frames are refused.
pub(super) struct Refused<'a> {
    all: Vec<(&'a Connection, &'a Direction)>,
    /// Each is too short to show that by itself, and all that have their data go one way show it.
    together: bool,
}

impl<'a> Refused<'a> {
    pub(super) fn by_routers(suspects: &'a [Connection]) -> Self {
        let of = |name: &'static str| suspects.iter().map(move |c| (c, c.direction(name)));
        let ways = || ["to_client", "to_server"].into_iter().map(of);
        let quoting = |one: &(&Connection, &Direction)| is_refusal(counts(one.1));
        let alone: Vec<_> = ways().flatten().filter(quoting).collect();
        let together = alone.is_empty();
        let way = ways().find(|way| together && is_refusal(sum(way.clone())));
        let short = way.into_iter().flatten();
        let short = short.filter(|(_, data)| data.rejected.merged > 0);
        Self {
            all: alone.into_iter().chain(short).collect(),
            together,
        }
    }

    /// The connections' ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.all.iter().map(|(connection, _)| connection.id)
    }

    fn worst(&self) -> Option<(&'a Connection, &'a Direction)> {
        let all = self.all.iter().copied();
        all.max_by_key(|(_, data)| data.rejected.merged)
    }

    fn words(&self, worst: &Direction) -> String {
        let all = self.all.iter().map(|(_, data)| data.rejected.merged);
        let (messages, whom) = match self.together {
            false => (worst.rejected.merged, String::new()),
            true => (
                all.sum(),
                format!(" to {}", connections(self.all.len() as u64)),
            ),
        };
        let mtu = worst.rejected.mtu_bytes.unwrap_or(0);
        // After such messages a sender makes its segments smaller than most of them were. IPv4 and TCP have 40 bytes of headers at least.
        let size = worst.segment_size_bytes.filter(|size| size + 40 <= mtu);
        let size = size.map_or(String::new(), |size| format!(" of {size} bytes"));
        format!(
            "{messages} ICMP \"packet too big\" messages{whom} (MTU {mtu}) quote merged frames; each of their segments{size} would fit",
        )
    }
}

/// Merged frames that were refused, and those that were not; then single ones.
type Counts = [u64; 4];

fn counts(data: &Direction) -> Counts {
    let rejected = &data.rejected;
    let multi = data.merged_frames + data.tso_frames;
    let single = data.data_frames.saturating_sub(multi);
    [
        rejected.merged,
        multi.saturating_sub(rejected.merged),
        rejected.single,
        single.saturating_sub(rejected.single),
    ]
}

fn sum<'a>(all: impl Iterator<Item = (&'a Connection, &'a Direction)>) -> Counts {
    all.map(|(_, data)| counts(data)).fold([0; 4], |sum, more| {
        std::array::from_fn(|at| sum[at] + more[at])
    })
}

/// Whether there are a handful of messages, and fewer for single frames.
fn is_refusal(counts: Counts) -> bool {
    let [merged, _, refused, passed] = counts;
    let is_more = || coalescope_capture::fisher_exact(counts).is_some_and(|p| p < ALPHA);
    merged >= HANDFUL && (refused + passed == 0 || is_more())
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::HopConnection;

    use super::*;

    /// Uploads of a few segments each: none of them shows by itself that whatever is merged on the way is refused.
    #[test]
    fn short_connections_show_together_what_none_shows_alone() {
        let connection = |merged, single| {
            let mut connection = Connection::default();
            let data = &mut connection.to_server;
            (data.rejected.merged, data.rejected.single) = (merged, single);
            data.data_frames = 6;
            connection
        };
        let refused = |merged: &[u64], single| {
            let all: Vec<_> = merged
                .iter()
                .map(|merged| connection(*merged, single))
                .collect();
            let refused = Refused::by_routers(&all);
            let words = refused.worst().map(|(_, data)| refused.words(data));
            (refused.ids().count(), words.unwrap_or_default())
        };
        let (count, words) = refused(&[2, 0, 2, 1, 1], 0);
        assert_eq!(count, 4);
        assert!(
            words.starts_with("6 ICMP \"packet too big\" messages to 4 connections"),
            "{words}"
        );
        assert_eq!(refused(&[2, 0, 1, 1], 0).0, 0, "a handful is chance");
        assert_eq!(
            refused(&[2, 0, 2, 1, 1], 5).0,
            0,
            "single frames are refused, too"
        );
        let (count, words) = refused(&[7, 1], 0);
        assert_eq!(count, 1);
        assert!(
            words.starts_with("7 ICMP \"packet too big\" messages (MTU"),
            "{words}"
        );
    }

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
