//! What hops and points show of a connection, and whether a hop shows enough of it.

use coalescope_capture::facts::{Connection, HopConnection, Outcomes, Trace};

use crate::thresholds::NEARLY_ALL;

/// A connection of a point.
pub(crate) fn at(trace: &Trace, point: &str, id: u64) -> Option<Connection> {
    let mut points = trace.points.iter();
    let point = points.find(|candidate| candidate.name == point)?;
    point.connections.get(id)
}

/// What a hop cannot judge, since captures miss frames, end early or have clocks that nothing joins, the point's own
/// repeats may show.
pub(crate) fn judges_nearly_all(seen: &HopConnection) -> bool {
    let is_nearly_all =
        |frames: &&Outcomes| frames.shown() as f64 >= NEARLY_ALL * frames.seen as f64;
    let sorts = [&seen.merged, &seen.tso, &seen.single];
    sorts.iter().any(|frames| frames.shown() > 0) && sorts.iter().all(is_nearly_all)
}

/// Whether more of these frames were not judged than lost, and a quarter of all, unlike single ones: not because one capture
/// is shorter.
pub(crate) fn is_unjudged(frames: &Outcomes, single: &Outcomes) -> bool {
    let many = |frames: &Outcomes| frames.not_judged > frames.seen / 4;
    many(frames) && frames.not_judged > frames.lost && !many(single)
}

/// Data frames of a connection that left the first point of a hop.
pub(crate) fn left_by(seen: &HopConnection) -> u64 {
    seen.merged.seen + seen.tso.seen + seen.single.seen
}

/// Frames that a connection lost on a hop, in whole or in part.
pub(crate) fn lost_by(seen: &HopConnection) -> u64 {
    seen.merged.damaged() + seen.tso.damaged() + seen.single.lost
}
