//! What a point takes for a loss, though hops show that it arrived: what two points show of a frame outranks what was sent
//! again or came late at one.

use coalescope_capture::facts::{Direction, Hop, HopConnection, Trace};

use crate::judged::{at, judges_nearly_all, left_by, lost_by};
use crate::limits::{ConnectionLimit, loss_frames, waits_for_handshake};
use crate::thresholds::{BEHIND, HEAVY_LOSS, LOSS_FRAMES, NEARLY_ALL, SEGMENT};

/// The last point, and the connection there, at which hops show the frames of this limit's direction to have arrived; none
/// where a hop on the way there loses some, or frames came late already, which were lost in front of the point.
pub(crate) fn arrived_at<'t>(trace: &'t Trace, limit: &ConnectionLimit) -> Option<(&'t str, u64)> {
    let connection = at(trace, &limit.point, limit.connection)?;
    let data = connection.direction(limit.direction);
    let arrived = last_point(trace, limit, loss_frames(data))?;
    (data.late_frames < LOSS_FRAMES && !waits_for_handshake(&connection)).then_some(arrived)
}

/// Whether what came late at this limit's point was overtaken on the hop in front, which carried all of it: nothing was lost
/// where nothing is missing, however late it comes. Farther in front if not one frame is missing from there on.
pub(crate) fn is_overtaken(trace: &Trace, limit: &ConnectionLimit) -> bool {
    let place = (&*limit.point, limit.connection);
    let all = Reach {
        may_miss: true,
        hops: trace.hops.len(),
    };
    is_overtaken_before(trace, place, limit.direction, all)
}

/// Whether a point takes frames for lost since they came late, and hardly any since they were sent again.
pub(crate) fn is_only_late(trace: &Trace, limit: &ConnectionLimit) -> bool {
    let connection = at(trace, &limit.point, limit.connection);
    connection.is_some_and(|seen| {
        let data = seen.direction(limit.direction);
        data.late_frames >= LOSS_FRAMES.max(BEHIND * data.retransmitted_frames)
    })
}

/// How far in front of a point hops are looked at.
#[derive(Clone, Copy)]
struct Reach {
    /// Frames may be missing on the first of these hops, if far more came late.
    may_miss: bool,
    /// Hops at most: points in a circle have no end.
    hops: usize,
}

impl Reach {
    fn farther(self) -> Option<Self> {
        let hops = self.hops.checked_sub(1)?;
        Some(Self {
            may_miss: false,
            hops,
        })
    }
}

fn is_overtaken_before(
    trace: &Trace,
    (point, id): (&str, u64),
    direction: &str,
    reach: Reach,
) -> bool {
    let shows = |point: &str, id, what: fn(&Direction) -> u64| {
        let connection = at(trace, point, id);
        connection.map_or(0, |seen| what(seen.direction(direction)))
    };
    let late = |point: &str, id| shows(point, id, |data| data.late_frames);
    let bytes = |point: &str, id| shows(point, id, |data| data.unique_bytes) as f64;
    let missed = |point: &str, id| shows(point, id, |data| data.missed_bytes);
    let mut in_front = arrivals(trace, point, id, direction);
    in_front.any(|(hop, seen)| {
        let before = (&*hop.from, seen.from_id);
        let missing = segments_not_seen_to_arrive(seen);
        let farther = reach.farther().filter(|_| missing == 0);
        let overtaken =
            || farther.is_some_and(|reach| is_overtaken_before(trace, before, direction, reach));
        // A capture in front that ended early has not seen what came late, nor one that misses frames.
        let has_seen = || {
            bytes(before.0, before.1) >= NEARLY_ALL * bytes(point, id)
                && 2 * missed(before.0, before.1) < late(point, id) * u64::from(SEGMENT)
        };
        carries_all(seen)
            && has_seen()
            && (missing == 0 || reach.may_miss)
            && late(point, id) >= LOSS_FRAMES.max(BEHIND * missing)
            && (late(before.0, before.1) < LOSS_FRAMES || overtaken())
    })
}

/// What hops show of a connection's direction that came to a point.
pub(crate) fn arrivals<'t>(
    trace: &'t Trace,
    point: &str,
    id: u64,
    direction: &str,
) -> impl Iterator<Item = (&'t Hop, &'t HopConnection)> {
    let hops = trace.hops.iter().filter(move |hop| hop.to == point);
    let all = hops.flat_map(|hop| hop.connections.iter().map(move |seen| (hop, seen)));
    all.filter(move |(_, seen)| seen.to_id == id && seen.direction == direction)
}

/// Of a frame of several segments, each comes late once it has been sent again.
fn segments_not_seen_to_arrive(seen: &HopConnection) -> u64 {
    let lengths = seen.by_length.iter().map(|length| {
        u64::from(length.lost + length.partly) * u64::from(length.bytes.div_ceil(SEGMENT))
    });
    lost_by(seen).max(seen.single.lost + lengths.sum::<u64>()) + open_of(seen)
}

/// Frames of which a hop does not show what became of them.
fn open_of(seen: &HopConnection) -> u64 {
    let sorts = [&seen.merged, &seen.tso, &seen.single];
    let open = sorts.iter().map(|frames| frames.missed + frames.not_judged);
    open.sum()
}

/// The last point that so many frames came to which the first one takes for lost. Where a hop leaves as many open, as when one
/// capture goes on while nothing comes to the other one any more, these may be the same.
fn last_point<'t>(
    trace: &'t Trace,
    limit: &ConnectionLimit,
    taken_for_lost: u64,
) -> Option<(&'t str, u64)> {
    let shows = |seen: &HopConnection| carries_all(seen) && open_of(seen) < taken_for_lost;
    let mut last = None;
    // As many steps as there are hops: points in a circle have no end.
    for _ in &trace.hops {
        let (point, id) = last.unwrap_or((&*limit.point, limit.connection));
        let next: Vec<_> = passages(trace, point, id)
            .filter(|(_, seen)| seen.direction == limit.direction)
            .collect();
        let Some((hop, seen)) = next.iter().find(|(_, seen)| shows(seen)) else {
            // A hop farther on that loses frames is the reason why they were sent again.
            return last.filter(|_| next.is_empty());
        };
        last = Some((&*hop.to, seen.to_id));
    }
    last
}

/// What hops show of a connection that left a point.
fn passages<'t>(
    trace: &'t Trace,
    point: &str,
    id: u64,
) -> impl Iterator<Item = (&'t Hop, &'t HopConnection)> {
    let hops = trace.hops.iter().filter(move |hop| hop.from == point);
    let all = hops.flat_map(|hop| hop.connections.iter().map(move |seen| (hop, seen)));
    all.filter(move |(_, seen)| seen.from_id == id)
}

fn carries_all(seen: &HopConnection) -> bool {
    let lost = lost_by(seen);
    judges_nearly_all(seen)
        && lost < LOSS_FRAMES
        && (lost as f64) < HEAVY_LOSS * left_by(seen) as f64
}
