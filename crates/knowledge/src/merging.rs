//! Whether merged frames are lost or refused: the findings that accuse merging, and the evidence that they need.

mod beside;
mod frames;
mod lost;
mod placed;
mod refused;
mod since;

use std::cell::LazyCell;

use coalescope_capture::facts::{Connection, Direction, Hop, HopConnection, Point, Trace};

use crate::by_size::{BySize, Step};
use crate::crossing::Crossing;
use crate::finding::{ConnectionRef, Evidence, Finding, HopRef, Id, Proof};
use crate::judged::{at, judges_nearly_all, lost_by};
use crate::overview::Overview;
use crate::pooled::Pattern;
use crate::same::{Group, Same};
use crate::thresholds::{HANDFUL, MERGED_LOST};
use crate::words::{connections, reference, shown, slow, without_frames};
use beside::Beside;
use frames::Frames;
pub(crate) use lost::Lost;
use lost::{is_of_path_mtu, loses_all_alike};
use placed::place;
use refused::{Refused, rejected_at};

/// What was found about merging, and which connections it explains.
#[derive(Default)]
pub(crate) struct Accusations {
    pub(crate) findings: Vec<Finding>,
    /// Point and connection.
    pub(crate) explained: Vec<(String, u64)>,
}

/// Findings about merged frames that are refused, lost on hops, or sent again; for one connection only the first of
/// these, since a refused frame is also lost and sent again.
pub(crate) fn accusations(trace: &Trace, overview: &Overview<'_>, same: &Same<'_>) -> Accusations {
    let mut all = Accusations::default();
    for (i, point) in trace.points.iter().enumerate() {
        let suspects = overview.suspects(i);
        let refused = Refused::by_routers(suspects);
        all.accuse(
            rejected_at(trace, (point, &refused), same),
            point,
            refused.ids(),
            same,
        );
    }
    for hop in overview.hops() {
        let Some(point) = trace.points.iter().find(|point| point.name == hop.from) else {
            continue;
        };
        let losers = hop.connections.iter().filter(|seen| loses_most(hop, seen));
        let known = point.connections.len() as u64;
        let others = hop
            .losers
            .iter()
            .filter(|other| is_most(other.lost, other.judged));
        let losers = losers.map(|seen| seen.from_id);
        let losers = losers.chain(others.map(|other| other.from_id));
        let losers = losers.filter(|id| *id < known);
        let finding = lost_on(hop, trace);
        if finding.is_some() {
            all.accuse(finding, point, losers, same);
        }
    }
    for (i, point) in trace.points.iter().enumerate() {
        let guilty = guilty(trace, point, overview.suspects(i));
        let guilty: Vec<_> = guilty
            .filter(|guilty| !is_explained(overview, point, guilty))
            .collect();
        let connections = guilty.iter().map(|guilty| guilty.connection.id);
        let is_unjudged = |pattern: &Pattern| {
            let mut hops = trace.hops.iter();
            guilty.is_empty() && !hops.any(|hop| judges(hop, point, pattern.direction))
        };
        let found = sent_again(point, &guilty).map(|finding| place(trace, finding));
        all.accuse(found, point, connections, same);
        if let Some(pattern) = overview.pattern(i).filter(is_unjudged) {
            let shows = |connection: &&Connection| pattern.is_shown_by(connection);
            let shown: Vec<_> = overview.suspects(i).iter().filter(shows).collect();
            let ids = shown.iter().map(|connection| connection.id);
            all.accuse(sent_again_in_all(point, &pattern, &shown), point, ids, same);
        }
    }
    all
}

impl Accusations {
    /// Adds a finding, unless its connection has one, and the connections that it explains.
    fn accuse(
        &mut self,
        finding: Option<Finding>,
        point: &Point,
        connections: impl Iterator<Item = u64>,
        same: &Same<'_>,
    ) {
        let known: Vec<Group<'_>> = self
            .explained
            .iter()
            .map(|(p, id)| same.group(p, *id))
            .collect();
        let is_known = |about: &ConnectionRef| known.contains(&same.group(&about.point, about.id));
        let is_new = |finding: &Finding| !finding.connection.as_ref().is_some_and(is_known);
        self.findings.extend(finding.filter(is_new));
        self.explained
            .extend(connections.map(|id| (point.name.clone(), id)));
    }
}

/// Directions of a point's suspects whose frames are judged by no hop.
pub(crate) fn unjudged<'a>(
    trace: &'a Trace,
    point: &'a Point,
    suspects: &'a [Connection],
) -> impl Iterator<Item = (&'a Connection, &'static str)> {
    suspects.iter().flat_map(move |connection| {
        ["to_client", "to_server"]
            .into_iter()
            .filter(move |name| !is_judged(trace, point, connection, name))
            .map(move |name| (connection, name))
    })
}

/// Whether a hop judges nearly all frames of this direction that left this point.
pub(crate) fn is_judged(
    trace: &Trace,
    point: &Point,
    connection: &Connection,
    direction: &str,
) -> bool {
    trace
        .hops
        .iter()
        .filter(|hop| hop.from == point.name)
        .any(|hop| {
            hop.connections.iter().any(|seen| {
                seen.from_id == connection.id
                    && seen.direction == direction
                    && judges_nearly_all(seen)
            })
        })
}

/// Whether a connection lost most of its merged frames, or all beyond some length; not a few by chance.
pub(crate) fn loses_most(hop: &Crossing<'_>, seen: &HopConnection) -> bool {
    let lost = seen.merged.lost;
    let most = is_most(lost, seen.merged.judged());
    lost > 0 && (most || BySize::of_connection(hop, seen).step(1).is_some())
}

fn is_most(lost: u64, judged: u64) -> bool {
    lost > 0 && lost as f64 >= MERGED_LOST * judged as f64
}

fn lost_on(hop: &Crossing<'_>, trace: &Trace) -> Option<Finding> {
    let told = Lost::on(hop)?;
    if loses_all_alike(hop) || is_of_path_mtu(hop, trace) {
        return None;
    }
    let mut finding = lost(hop, trace, &told);
    finding.evidence.extend(told.frames.not_cut());
    Some(finding)
}

fn lost(hop: &Hop, trace: &Trace, told: &Lost<'_>) -> Finding {
    let connection = at(trace, &hop.from, told.worst.from_id);
    Finding {
        id: Id::MergedFramesLost,
        proof: Proof::Observed,
        reason: None,
        subject: told.frames.subject(),
        note: false,
        share: None,
        title: format!(
            "{} are lost between {} and {}",
            told.frames, hop.from, hop.to
        ),
        connection: connection
            .as_ref()
            .map(|connection| reference(&hop.from, connection)),
        hop: Some(HopRef::of(hop)),
        evidence: hop_evidence(hop, told, connection.as_ref()),
        next: switch_off(&hop.from),
    }
}

fn hop_evidence(hop: &Hop, told: &Lost<'_>, connection: Option<&Connection>) -> Vec<Evidence> {
    let worst = told.worst;
    let mut evidence = vec![shown(told.words(), &hop.from, &worst.merged_lost_frames)];
    if hop.merged.came_through() > 0 {
        let arrived = crate::words::counted(hop.merged.came_through(), "merged frame");
        let text = format!("{arrived} did arrive");
        evidence.push(shown(text, &hop.from, &worst.merged_arrived_frames));
    }
    let direction = connection.map(|connection| connection.direction(worst.direction));
    evidence.extend(direction.and_then(slow));
    evidence
}

/// A direction whose merged frames had to be sent again although single frames had not.
struct Guilty<'a> {
    connection: &'a Connection,
    name: &'static str,
    direction: &'a Direction,
    frames: Frames,
    step: Step,
}

fn guilty<'a>(
    trace: &'a Trace,
    point: &'a Point,
    suspects: &'a [Connection],
) -> impl Iterator<Item = Guilty<'a>> {
    let looks = point.connections.len() * 2;
    let beside = LazyCell::new(|| Beside::of_suspects(suspects));
    unjudged(trace, point, suspects).filter_map(move |(connection, name)| {
        let direction = connection.direction(name);
        let merged = BySize::of_repeats(direction).step(looks);
        let uncut = || BySize::of_uncut_repeats(direction).step(looks);
        let merged = merged.map(|step| (Frames::Merged, step));
        let (frames, step) = merged.or_else(|| uncut().map(|step| (Frames::Large, step)))?;
        let is_alone = !beside.loses_a_part(name, &step);
        is_alone.then_some(Guilty {
            connection,
            name,
            direction,
            frames,
            step,
        })
    })
}

/// Whether a rate limit, a queue or a window explains what the hop behind a point loses of a connection, few as the frames may be
/// that it judges.
fn is_explained(overview: &Overview<'_>, point: &Point, guilty: &Guilty<'_>) -> bool {
    let mut hops = overview.hops().iter();
    hops.any(|hop| {
        let mut seen = hop.connections.iter();
        hop.from == point.name
            && seen.any(|seen| {
                (seen.from_id, seen.direction) == (guilty.connection.id, guilty.name)
                    && lost_by(seen) >= HANDFUL
            })
            && (hop.room().is_some() || hop.window().is_some())
    })
}

/// Whether a hop judges frames that left this point in a direction.
fn judges(hop: &Hop, point: &Point, direction: &str) -> bool {
    let goes = |seen: &HopConnection| seen.direction == direction && judges_nearly_all(seen);
    hop.from == point.name && hop.connections.iter().any(goes)
}

fn switch_off(point: &str) -> String {
    format!(
        "switch off merging (GRO, LRO or RSC) on the interface in front of {point}, and nothing else; if the loss goes with \
         it, that proves it"
    )
}

/// For a single point: the finding that connections show together though each is too short.
fn sent_again_in_all(
    point: &Point,
    pattern: &Pattern,
    shown_by: &[&Connection],
) -> Option<Finding> {
    let lost = |connection: &&&Connection| {
        connection
            .direction(pattern.direction)
            .repeats
            .merged_repeated
    };
    let worst = shown_by.iter().max_by_key(lost)?;
    let direction = worst.direction(pattern.direction);
    let words = pattern
        .step
        .words(Frames::Merged.words(), "had to be sent again whole");
    let text = format!(
        "{words}, in {} together",
        connections(shown_by.len() as u64)
    );
    let frames = direction.frames_of(|examples| &examples.merged_repeated);
    let mut evidence = vec![shown(text, &point.name, frames)];
    evidence.extend(slow(direction));
    Some(lost_after(point, Frames::Merged, worst, evidence))
}

/// For a single point: merged frames whose bytes all had to be sent again, although single frames had not.
fn sent_again(point: &Point, guilty: &[Guilty<'_>]) -> Option<Finding> {
    let Guilty {
        connection,
        direction,
        frames,
        step,
        ..
    } = guilty.iter().max_by_key(|guilty| guilty.step.longer.lost)?;
    let words = step.words(frames.words(), "had to be sent again whole");
    let mut evidence = vec![shown(
        words,
        &point.name,
        direction.frames_of(|examples| &examples.merged_repeated),
    )];
    evidence.extend(slow(direction));
    evidence.extend(frames.not_cut());
    if guilty.len() > 1 {
        evidence.push(without_frames(format!(
            "{} connections show the same",
            guilty.len()
        )));
    }
    Some(lost_after(point, *frames, connection, evidence))
}

fn lost_after(
    point: &Point,
    frames: Frames,
    connection: &Connection,
    evidence: Vec<Evidence>,
) -> Finding {
    Finding {
        id: Id::MergedFramesLost,
        proof: Proof::Observed,
        reason: None,
        subject: frames.subject(),
        note: false,
        share: None,
        title: format!("{frames} are lost somewhere after {}", point.name),
        connection: Some(reference(&point.name, connection)),
        hop: None,
        evidence,
        next: format!(
            "capture at the next place behind {} as well: coalescope then shows on which hop they \
             vanish; or switch off merging on the interface in front of it, and nothing else",
            point.name
        ),
    }
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::{Amid, Fate};

    use super::*;
    use crate::thresholds::SEGMENT;

    /// Between losses shorter frames passed.
    const PASSES: Amid = Amid {
        resumed_ns: Some(1),
        last_lost_ns: Some(2),
        spared: true,
    };

    /// Merged frames by segments: how many arrived, and how many were lost.
    fn seen(from_id: u64, frames: [(u32, u32, u32); 2]) -> HopConnection {
        let mut seen = HopConnection {
            from_id,
            direction: "to_client",
            amid: PASSES,
            full: Fate {
                passed: 20,
                lost: 0,
            },
            ..HopConnection::default()
        };
        for (segments, arrived, lost) in frames {
            seen.by_length.add(segments * SEGMENT, arrived, lost);
            seen.merged.arrived += u64::from(arrived);
            seen.merged.lost += u64::from(lost);
        }
        (seen.single.arrived, seen.merged.seen) = (20, seen.merged.arrived + seen.merged.lost);
        seen
    }

    /// All long frames of one connection are lost, and none, a part or all of the other's: only a part is a rate limit's work.
    #[test]
    fn one_unlucky_connection_accuses_nobody() {
        let found = |other: (u32, u32)| {
            let connections = vec![
                seen(0, [(4, 741, 0), (10, 0, 12)]),
                seen(1, [(4, 590, 0), (10, other.0, other.1)]),
            ];
            let mut hop = Hop::default();
            for one in &connections {
                hop.by_length.add_all(&one.by_length);
                hop.merged.arrived += one.merged.arrived;
                hop.merged.lost += one.merged.lost;
            }
            (hop.single.arrived, hop.connections, hop.amid) = (40, connections, PASSES);
            lost_on(&Crossing::of(&hop), &Trace::default()).is_some()
        };
        assert!(found((40, 0)));
        assert!(found((0, 12)));
        assert!(!found((17, 15)));
    }
}
