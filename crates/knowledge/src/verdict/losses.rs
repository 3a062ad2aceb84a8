//! Losses that hops show plainly: of frames that stood alone, or among others that passed.

use std::collections::HashMap;

use coalescope_capture::facts::{Hop, HopConnection, Outcomes, Trace};

use crate::limits::{ConnectionLimit, lacks_the_longest, loss_frames};
use crate::odds::Table;
use crate::same::{Group, Same};
use crate::thresholds::LOSS_FRAMES;

/// The frames that hops lost, by connection and direction.
pub(super) type Losses<'a> = HashMap<(Group<'a>, &'a str), Table>;

/// The plain losses of hops.
pub(super) fn losses_of_hops<'a>(trace: &'a Trace, same: &Same<'_>) -> Losses<'a> {
    let mut losses = Losses::new();
    for hop in &trace.hops {
        for seen in hop.connections.iter().filter(|seen| is_plain(hop, seen)) {
            let group = same.group(&hop.from, seen.from_id);
            *losses.entry((group, seen.direction)).or_default() +=
                Table::of(&seen.merged, &seen.single);
        }
    }
    losses
}

/// Whether a hop lost frames that stood alone, or passed most of those that did not; and the same connection's, not others'.
/// Where nearly all frames close to each other are lost, they may have been merged on the hop itself, and lost for that.
fn is_plain(hop: &Hop, seen: &HopConnection) -> bool {
    let lone = hop.lone.lost >= LOSS_FRAMES;
    let passes = seen.single.came_through() >= 2 * seen.single.lost;
    let has_most = 2 * seen.single.lost >= hop.single.lost;
    passes && (lone || passes_bursts(hop)) || lone && has_most
}

/// Whether most single frames got through that came close to others.
fn passes_bursts(hop: &Hop) -> bool {
    let came = |outcomes: &Outcomes| outcomes.came_through();
    let close = came(&hop.single).saturating_sub(came(&hop.lone));
    let lost = hop.single.lost.saturating_sub(hop.lone.lost);
    lost >= LOSS_FRAMES && close >= 2 * lost
}

/// Whether hops show most of what a connection lost, and that these were single frames.
pub(super) fn hops_show_losses(
    trace: &Trace,
    same: &Same<'_>,
    losses: &Losses<'_>,
    limit: &ConnectionLimit,
) -> bool {
    let group = same.group(&limit.point, limit.connection);
    let Some(table) = losses.get(&(group, limit.direction)) else {
        return false;
    };
    let mut points = trace.points.iter();
    let point = points.find(|point| *point.name == *limit.point);
    let connection = point.and_then(|point| point.connections.get(limit.connection));
    connection.is_some_and(|connection| {
        let data = connection.direction(limit.direction);
        let lost = loss_frames(data);
        !lacks_the_longest(data)
            && table.single_lost >= LOSS_FRAMES
            && 2 * table.single_lost >= lost
            && table.hint().is_none()
    })
}
