//! The same connection at two points by its ends, where its frames do not tell, or tell something else.

use super::Half;
use super::event::{Event, Passing};
use super::link::{Mark, MatchedBy};
use super::same_frames::SameFrames;
use crate::connection::Tracked;
use crate::frame::Frame;
use crate::point::Point;

/// Data frames of a direction without a token that the other point has left, before its ends are compared.
const SAME_ENDS: u64 = 8;

/// The connection between the same ends at the other point, if that has shown the same bytes: where no frame has left the same
/// token at both points, as when one begins later, or cuts the options off, and much was lost in between.
pub(super) fn find(
    [here, there]: [&[Half]; 2],
    (id, frame, tracked): (u32, &Frame, &Tracked),
    nth: u64,
    other: &Point,
) -> Option<(MatchedBy, Mark)> {
    // Looked for seldom, the more seldom the longer it is in vain.
    if nth < SAME_ENDS || !nth.is_power_of_two() || frame.payload == 0 {
        return None;
    }
    let theirs = other.table.find(&frame.key)?;
    let [own, early] = [here.get(id as usize)?, there.get(theirs as usize)?];
    let [own, early] = [own, early].map(|half| half.shown(frame.from_low));
    let here = Mark::new(theirs, frame, tracked.start);
    // Numbers that are rewritten may happen to be near.
    let mark = elsewhere(own, early.clone(), here).or_else(|| {
        let mut shown = early;
        shown.find_map(|passing| Mark::of_bytes(theirs, passing, tracked.start))
    })?;
    Some((MatchedBy::Bytes, mark))
}

/// Where the other point has the byte that this mark has the position of here, if the same frames show how far apart numbers are.
fn elsewhere<'a>(
    own: impl Iterator<Item = &'a Passing>,
    theirs: impl Iterator<Item = &'a Passing>,
    mark: Mark,
) -> Option<Mark> {
    let mut same = SameFrames::default();
    let own = own.map(|passing| (0, passing));
    for (side, passing) in own.chain(theirs.map(|passing| (1, passing))) {
        if let Event::Data(seen) = &passing.event {
            same.add(side, seen);
        }
    }
    Some(mark.moved(same.apart()?))
}

/// Whether a connection is between ends that the other point has shown as well: what has the same payload there, from or to
/// other ends, is another transfer of the same file and no translation of this one.
pub(super) fn are_told_apart(
    side: usize,
    frame: &Frame,
    other: &Mark,
    points: [&Point; 2],
) -> bool {
    let [here, there] = [&points[side].table, &points[1 - side].table];
    let key = there.get(other.connection).map(|found| found.key);
    // The tunnels of both directions can differ, so that two keys are of one connection.
    let own = here.find(&frame.key);
    let is_shown_there = || {
        there
            .find(&frame.key)
            .is_some_and(|id| id != other.connection)
    };
    let is_shown_here = |key| here.find(key).is_some_and(|id| Some(id) != own);
    key != Some(frame.key) && (is_shown_there() || key.as_ref().is_some_and(is_shown_here))
}
