//! Sums of counts that may come from a stranger's record.

use coalescope_watch::facts::{Compared, Drop, Frames, Watched, sum};

use crate::odds::Table;

/// No host counts more in its life; sums of four such numbers fit.
const MOST: u64 = 1 << 56;

/// What became of merged frames and of single ones where merged ones were dropped: of the same flows, or of no flow but the
/// whole interface, where flows were not followed.
#[must_use]
pub fn beside_single(drop: &Drop, watched: &Watched) -> Option<Compared> {
    let table = compared(drop, watched)?;
    Some(Compared {
        flows: drop.compared.map_or(0, |of| of.flows),
        merged_frames: table.merged,
        merged_died: table.merged_lost,
        single_frames: table.single,
        single_died: table.single_lost,
    })
}

/// What is judged of frames that were dropped.
pub(super) fn compared(drop: &Drop, watched: &Watched) -> Option<Table> {
    of_flows(drop).or_else(|| of_interface(drop, watched))
}

/// Frames that came through an interface, against those of them that were dropped.
pub(super) fn of_interface(drop: &Drop, watched: &Watched) -> Option<Table> {
    let [merged, frames] = match (&drop.from, &drop.interface) {
        (Some(from), _) => all(watched, from, received)?,
        (None, Some(out)) => all(watched, out, queued)?,
        (None, None) => return None,
    };
    let died = drop.died().min(MOST);
    let single_died = drop.single_frames.min(MOST);
    // Frames that were dropped before they were counted, as by a filter, came through as well.
    let merged = merged.max(died);
    let single = frames.saturating_sub(merged).max(single_died);
    Some(Table {
        merged_lost: died,
        merged,
        single_lost: single_died,
        single,
    })
}

/// Segments of a merged frame that came through the interface and was not dropped, on average; none if none came.
pub(super) fn passing_segments(drop: &Drop, watched: &Watched) -> Option<f64> {
    type Counts = fn(&Frames) -> [u64; 2];
    let (frames, segments): (Counts, Counts) = match drop.from {
        Some(_) => (received, |of| [of.received.segments, 0]),
        None => (queued, |of| [of.queued.segments, 0]),
    };
    let [merged, frames] = all(watched, drop.place()?, frames)?;
    let [segments, _] = all(watched, drop.place()?, segments)?;
    let passed = merged.checked_sub(drop.died().min(MOST))?;
    let single = frames.saturating_sub(merged);
    let of_passed = segments.checked_sub(sum([single, drop.merged_segments]))?;
    (passed > 0).then(|| of_passed as f64 / passed as f64)
}

/// Frames of the flows of which merged ones are dropped again and again: what else an interface receives may be of senders
/// whom a rule does not ask about.
fn of_flows(drop: &Drop) -> Option<Table> {
    let of = drop.compared?;
    let [died, merged] = [of.merged_died, of.merged_frames].map(|count| count.min(MOST));
    let [single_died, single] = [of.single_died, of.single_frames].map(|count| count.min(MOST));
    Some(Table {
        merged_lost: died,
        merged: merged.max(died),
        single_lost: single_died,
        single: single.max(single_died),
    })
}

/// Of all interfaces that have, or had, this name: one that was made anew has another number.
fn all(watched: &Watched, name: &str, of: fn(&Frames) -> [u64; 2]) -> Option<[u64; 2]> {
    let all = watched.interfaces.iter().filter(|one| one.name == name);
    let counts: Vec<_> = all.filter_map(|one| one.frames.as_ref()).map(of).collect();
    let each = |n: usize| sum(counts.iter().map(|one| one[n])).min(MOST);
    (!counts.is_empty()).then(|| [each(0), each(1)])
}

/// Merged ones, and all.
fn received(frames: &Frames) -> [u64; 2] {
    let of = frames.received;
    [sum([of.merged_frames, of.long_frames]), of.frames]
}

fn queued(frames: &Frames) -> [u64; 2] {
    let of = frames.queued;
    [sum([of.merged_frames, of.long_frames]), of.frames]
}
