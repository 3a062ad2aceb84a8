//! Losses that point to merging without convicting it.

use coalescope_capture::facts::{
    Connection, Direction, Hop, HopConnection, Outcomes, Point, Trace,
};

use crate::by_size::BySize;
use crate::crossing::Crossing;
use crate::excess::{Doubt, Excess};
use crate::finding::{Evidence, Finding, HopRef, Id, Proof, Subject};
use crate::judged::at;
use crate::limits::{is_cut_off, opposite};
use crate::merging::unjudged;
use crate::odds::{Table, fisher};
use crate::overview::Overview;
use crate::thresholds::{A_FEW, HANDFUL};
use crate::words::{counted, reference, shown};

/// Losses of merged frames that are too few to convict, and losses of large frames that are not known to be merged.
pub(crate) fn hints(trace: &Trace, overview: &Overview<'_>) -> Vec<Finding> {
    let hops = overview.hops().iter();
    let on_hops = hops.filter_map(|hop| hint_on(hop, trace));
    let at_points = trace
        .points
        .iter()
        .enumerate()
        .filter_map(|(i, point)| hint_at(trace, point, overview.suspects(i)));
    on_hops.chain(at_points).collect()
}

fn hint_on(hop: &Crossing<'_>, trace: &Trace) -> Option<Finding> {
    let worst = hop.connections.iter().rev();
    let worst = worst.max_by_key(|seen| (seen.merged.lost, seen.merged.partly_lost))?;
    let connection = at(trace, &hop.from, worst.from_id);
    let over = connection.as_ref();
    let over = over.is_some_and(|c| is_over(c, worst.direction));
    let few = || BySize::of_hop(hop).hint().filter(|_| !over);
    let few = || {
        Some(too_few(
            few()?,
            &Table::of_hop(hop),
            "that left never arrived",
        ))
    };
    let never = || never_seen(hop).filter(|_| !over);
    let doubt = Doubt::on_hop(hop).or_else(few).or_else(never);
    let Doubt {
        title,
        subject,
        words,
    } = doubt.or_else(|| nothing_came(hop, trace))?;
    Some(Finding {
        title: title.to_owned(),
        connection: connection.map(|c| reference(&hop.from, &c)),
        hop: Some(HopRef::of(hop)),
        ..hint(
            subject,
            &hop.from,
            shown(words, &hop.from, &worst.merged_lost_frames),
        )
    })
}

/// Of a short transfer: no frame that its sender left to its card came, whole or cut, and single ones came. Whether a card cut them
/// is not known then.
fn never_seen(hop: &Crossing<'_>) -> Option<Doubt> {
    let came = hop.tso.came_through();
    let table = Table::of(&hop.tso, &hop.single);
    let is_lost = came == 0 && hop.tso.lost >= A_FEW;
    let pass = table.single_lost == 0 && table.single >= A_FEW;
    (is_lost && pass).then(|| Doubt {
        title: NEVER_SEEN,
        subject: Subject::Loss,
        words: table.words_of("large frames", fisher(&table), "that left never arrived"),
    })
}

/// Of connections that are found at both points, no data comes to the second one, as where a box drops their first frames and
/// resets them: without any that came there is nothing to compare with. Where the first point shows that data arrived, the second
/// capture ended before, or began later.
fn nothing_came(hop: &Crossing<'_>, trace: &Trace) -> Option<Doubt> {
    let Hop { merged, single, .. } = &**hop;
    let came = [merged, single, &hop.tso].map(Outcomes::came_through);
    let vanished = vanished(hop, trace);
    (vanished >= HANDFUL && came == [0; 3]).then(|| Doubt {
        title: NOTHING_CAME,
        subject: Subject::Loss,
        words: format!(
            "{} left {}, and no data came to {}",
            counted(vanished, "merged frame"),
            hop.from,
            hop.to
        ),
    })
}

/// Merged frames of connections of which, as the first point shows, nothing arrived anywhere.
fn vanished(hop: &Hop, trace: &Trace) -> u64 {
    let is_silent = |seen: &&HopConnection| {
        let connection = at(trace, &hop.from, seen.from_id);
        let longest = connection.map(|c| c.direction(seen.direction).longest_delivered_bytes);
        longest.flatten().is_none()
    };
    let all = hop.connections.iter().filter(is_silent);
    all.map(|seen| seen.merged.seen).sum()
}

const NOTHING_CAME: &str = "merged frames left, and no data of their connections is seen to arrive";

/// The title of a doubt about frames that their sender left to its card.
const NEVER_SEEN: &str =
    "large frames were lost, and these captures do not show whether a card had cut them";

fn hint_at(trace: &Trace, point: &Point, suspects: &[Connection]) -> Option<Finding> {
    let doubt = |d: &Direction| {
        let few = BySize::of_repeats(d).hint();
        let few = few.map(|few| too_few(few, &Table::of_repeats(d), "had to be sent again whole"));
        few.or_else(|| Doubt::behind(point, d))
    };
    let all = unjudged(trace, point, suspects);
    let mut all = all.filter(|(connection, name)| !is_over(connection, name));
    let (connection, data, doubt) = all.find_map(|(connection, name)| {
        let data = connection.direction(name);
        Some((connection, data, doubt(data)?))
    })?;
    Some(Finding {
        title: doubt.title.to_owned(),
        connection: Some(reference(&point.name, connection)),
        ..hint(
            doubt.subject,
            &point.name,
            shown(
                doubt.words,
                &point.name,
                data.frames_of(|examples| &examples.merged_repeated),
            ),
        )
    })
}

/// Whether no frame of this direction gets through any more, merged or not: then a few merged frames among the lost
/// ones show nothing.
fn is_over(connection: &Connection, direction: &str) -> bool {
    let [data, acks] = [direction, opposite(direction)].map(|name| connection.direction(name));
    is_cut_off(data, acks)
}

fn too_few(title: &'static str, table: &Table, fate: &str) -> Doubt {
    Doubt {
        title,
        subject: Subject::Loss,
        words: table.words(fisher(table), fate),
    }
}

fn hint(subject: Subject, point: &str, evidence: Evidence) -> Finding {
    let next = if subject == Subject::DoubtedLoss {
        format!(
            "switch off merging (GRO, LRO or RSC) on the interface in front of {point}, and nothing else; if the loss goes \
             with it, merging is to blame"
        )
    } else {
        MORE.to_owned()
    };
    Finding {
        id: Id::NotEnoughEvidence,
        proof: Proof::Suspected,
        reason: None,
        subject,
        note: false,
        share: None,
        title: String::new(),
        connection: None,
        hop: None,
        evidence: vec![evidence],
        next,
    }
}

/// Advice where too little was lost.
const MORE: &str = "capture a longer transfer: ten merged frames that vanish among single ones that pass would settle it";

/// Connections of hops in doubt that lost merged frames, by point and id.
pub(crate) fn doubted(overview: &Overview<'_>) -> Vec<(String, u64)> {
    let hops = overview.hops().iter();
    let hops =
        hops.filter(|hop| matches!(Excess::on_hop(hop), Excess::Unexplained | Excess::Limited));
    let losers = hops.flat_map(|hop| {
        let losers = hop.connections.iter().filter(|c| c.merged.damaged() > 0);
        losers.map(|c| (hop.from.clone(), c.from_id))
    });
    losers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// A sender's large frames never come, and its single ones do: no card is seen to have cut them.
    #[test]
    fn large_frames_that_never_come_are_not_well() {
        let hop = |tso: (u64, u64), single: (u64, u64)| {
            let mut hop = Hop::default();
            (hop.tso.seen, hop.tso.lost, hop.tso.resplit) = (tso.0 + tso.1, tso.0, tso.1);
            (hop.single.arrived, hop.single.lost) = single;
            never_seen(&Crossing::of(&hop)).map(|doubt| doubt.title)
        };
        assert_eq!(hop((6, 0), (12, 0)), Some(NEVER_SEEN));
        // One of them, single ones as well, hardly any single one, or some that a card cut.
        for (tso, single) in [
            ((1, 0), (12, 0)),
            ((6, 0), (12, 2)),
            ((6, 0), (1, 0)),
            ((6, 1), (12, 0)),
        ] {
            assert_eq!(hop(tso, single), None, "{tso:?} {single:?}");
        }
    }

    /// A connection of which so many merged frames left, of which one lost a part or not, and single ones that came.
    fn left(merged: (u64, u64), single: u64) -> Hop {
        let mut hop = Hop {
            from: "uplink".to_owned(),
            ..Hop::default()
        };
        (hop.merged.seen, hop.merged.partly_lost) = merged;
        hop.merged.not_judged = merged.0 - merged.1;
        hop.single.arrived = single;
        hop.connections = vec![HopConnection {
            merged: hop.merged,
            direction: "to_client",
            ..HopConnection::default()
        }];
        hop
    }

    /// What the first point shows: of what it sent, this is the longest frame that arrived.
    fn shows(longest_delivered_bytes: Option<u32>) -> Trace {
        let data = Direction {
            longest_delivered_bytes,
            ..Direction::default()
        };
        Trace {
            points: vec![sample::point("uplink", data)],
            ..Trace::default()
        }
    }

    /// A box drops the first frames of each connection, which are merged, and resets it.
    #[test]
    fn a_hop_to_which_no_data_comes_is_not_well() {
        let title = |merged, single| {
            let hop = left(merged, single);
            nothing_came(&Crossing::of(&hop), &shows(None)).map(|doubt| doubt.title)
        };
        assert_eq!(title((100, 0), 0), Some(NOTHING_CAME));
        for (merged, single) in [((4, 0), 0), ((100, 1), 0), ((100, 0), 1)] {
            assert_eq!(title(merged, single), None, "{merged:?} {single}");
        }
    }

    #[test]
    fn data_that_was_acknowledged_came_after_the_second_capture_had_ended() {
        let hop = left((100, 0), 0);
        assert_eq!(nothing_came(&Crossing::of(&hop), &shows(Some(2_896))), None);
    }

    /// One merged frame, then timeout after timeout on the same bytes.
    #[test]
    fn what_is_cut_off_gives_no_hint() {
        let mut connection = Connection::default();
        let data = &mut connection.to_client;
        (data.repeats.merged, data.repeats.merged_repeated) = (1, 1);
        data.repeats.single = 7;
        data.duration_s = Some(25.0);
        (data.stuck_timeouts, data.stuck_s, data.stuck_places) = (7, 25.0, 1);
        let point = sample::point("uplink", connection.to_client.clone());
        let trace = Trace {
            points: vec![point.clone()],
            hops: Vec::new(),
            ..Trace::default()
        };
        assert!(hint_at(&trace, &point, std::slice::from_ref(&connection)).is_none());
        connection.to_client.stuck_places = 9;
        assert!(hint_at(&trace, &point, &[connection]).is_some());
    }
}
