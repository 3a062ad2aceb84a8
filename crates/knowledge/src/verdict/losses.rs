//! Losses that hops show plainly: of frames that stood alone, or among others that passed; or that want of room explains.

use std::collections::HashMap;

use coalescope_capture::facts::{Hop, HopConnection, Outcomes, Trace};

use crate::excess::Excess;
use crate::judged::{at, lost_by};
use crate::limits::{ConnectionLimit, lacks_the_longest, loss_frames};
use crate::odds::Table;
use crate::overview::Overview;
use crate::same::{Group, Same};
use crate::thresholds::{LONE, LOSS_FRAMES, PARTLY};

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

/// Frames that hops lost for want of room, by connection and direction.
pub(super) type Roomless<'a> = HashMap<(Group<'a>, &'a str), u64>;

/// What hops lost of which a bucket or a queue explains the losses, if frames were merged in front of them: a hop that merges and
/// loses what it merged passes frames that stand alone, as a bucket does that holds one.
pub(super) fn lost_for_room<'a>(
    trace: &'a Trace,
    overview: &Overview<'_>,
    same: &Same<'_>,
) -> Roomless<'a> {
    let mut lost = Roomless::new();
    let hops = trace.hops.iter().zip(overview.hops());
    let explained = hops.filter(|(hop, judged)| {
        hop.merged.seen >= LONE && judged.room().is_some() && !Excess::on_hop(judged).is_doubt()
    });
    let seen = |(hop, _): (&'a Hop, _)| hop.connections.iter().map(move |seen| (hop, seen));
    for (hop, seen) in explained.flat_map(seen) {
        let group = same.group(&hop.from, seen.from_id);
        *lost.entry((group, seen.direction)).or_default() += lost_by(seen);
    }
    lost
}

/// Whether hops show most of what a connection lost, and why. Behind a loss it may look as if few segments got through.
pub(super) fn room_explains(
    trace: &Trace,
    same: &Same<'_>,
    lost: &Roomless<'_>,
    limit: &ConnectionLimit,
) -> bool {
    let group = same.group(&limit.point, limit.connection);
    let lost = lost.get(&(group, limit.direction)).copied().unwrap_or(0);
    // A connection's facts are made anew each time.
    if lost < LOSS_FRAMES {
        return false;
    }
    let connection = at(trace, &limit.point, limit.connection);
    connection.is_some_and(|seen| 2 * lost >= loss_frames(seen.direction(limit.direction)))
}

/// Whether a hop lost frames that stood alone, or passed most of those that did not; and the same connection's, not others'.
/// Where nearly all frames close to each other are lost, they may have been merged on the hop itself, and lost for that: a few
/// that stood alone are lost for another reason.
fn is_plain(hop: &Hop, seen: &HopConnection) -> bool {
    let share = |lost: u64, came: u64| lost as f64 / (lost + came).max(1) as f64;
    let of_lone = share(hop.lone.lost, hop.lone.came_through());
    let of_all = share(hop.single.lost, hop.single.came_through());
    let lone = hop.lone.lost >= LOSS_FRAMES && of_lone >= PARTLY * of_all;
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
    let connection = at(trace, &limit.point, limit.connection);
    connection.is_some_and(|connection| {
        let data = connection.direction(limit.direction);
        let lost = loss_frames(data);
        !lacks_the_longest(data)
            && table.single_lost >= LOSS_FRAMES
            && 2 * table.single_lost >= lost
            && table.hint().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(arrived: u64, lost: u64) -> Outcomes {
        Outcomes {
            arrived,
            lost,
            ..Outcomes::default()
        }
    }

    /// A hop of one connection that loses so many of its frames that stand alone, and of the others.
    fn is_plain_of(lone: (u64, u64), close: (u64, u64)) -> bool {
        let single = outcomes(lone.0 + close.0 - lone.1 - close.1, lone.1 + close.1);
        let hop = Hop {
            lone: outcomes(lone.0 - lone.1, lone.1),
            single,
            ..Hop::default()
        };
        let seen = HopConnection {
            single,
            ..HopConnection::default()
        };
        is_plain(&hop, &seen)
    }

    #[test]
    fn a_few_lone_losses_beside_many_others_settle_nothing() {
        assert!(is_plain_of((400, 12), (400, 12)));
        assert!(is_plain_of((400, 100), (400, 120)));
        assert!(!is_plain_of((500, 5), (298, 292)));
        assert!(!is_plain_of((500, 0), (298, 292)));
    }
}
