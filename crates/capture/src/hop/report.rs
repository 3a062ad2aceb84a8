//! A hop's facts.

use std::collections::BTreeSet;

use super::Hop;
use super::over_time::OverTime;
use super::pair::Pair;
use crate::connection::Connection;
use crate::facts::hop::{self, Blocked, HopConnection, Outcomes};
use crate::fisher::odds_and_p;
use crate::lengths::Lengths;
use crate::point::Point;
use crate::vantage::flow_is_uncut;

/// Connections listed for a hop, worst first.
const LISTED: usize = 100;

/// So many single frames lost, and none that arrived, show that a connection is blocked: one may be chance.
const BLOCKED: u64 = 2;

impl Hop {
    /// Judges the rest and returns the facts of both directions; the way back is included only if data went it.
    pub(crate) fn finish(&mut self, points: [&Point; 2], names: [&str; 2]) -> Vec<hop::Hop> {
        self.round(points, true);
        let mut forth = self.direction(points, names, true);
        let back = self.direction(points, [names[1], names[0]], false);
        forth.connections_matched = self.pairs.len() as u64;
        let mut hops = vec![forth];
        if back.merged.seen + back.tso.seen + back.single.seen > 0 {
            hops.push(back);
        }
        hops
    }

    fn direction(&mut self, points: [&Point; 2], names: [&str; 2], forth: bool) -> hop::Hop {
        let mut hop = hop::Hop {
            from: names[0].to_owned(),
            to: names[1].to_owned(),
            connections_matched: self.pairs.len() as u64,
            ..hop::Hop::default()
        };
        self.fill_clock(&mut hop, forth);
        let over_time = &mut self.over_time[usize::from(!forth)];
        for pair in &mut self.pairs {
            add_pair(&mut hop, pair, points, forth, over_time);
        }
        over_time.fill(&mut hop);
        hop.leave_out_blocked();
        (hop.odds_ratio, hop.p_value) = association(&hop.merged, &hop.single);
        hop.connections
            .sort_by_key(|c| std::cmp::Reverse((c.merged.lost, c.single.lost, c.single.seen)));
        let others = hop.connections.drain(LISTED.min(hop.connections.len())..);
        let losers = others.filter(|seen| seen.merged.lost > 0);
        hop.losers = losers.map(|seen| seen.loser()).collect();
        hop
    }

    fn fill_clock(&self, hop: &mut hop::Hop, forth: bool) {
        // Adding 0 makes a zero of either sign positive.
        let sign = if forth { 1.0 } else { -1.0 };
        let (offset, drift) = self.clock.fit();
        hop.clock_offset_s = offset.map(|ns| sign * ns as f64 / 1e9 + 0.0);
        hop.clock_drift_ppm = drift.map(|ppm| sign * ppm + 0.0);
        hop.delay_min_s = self.clock.delay_ns().map(|ns| ns as f64 / 1e9);
        hop.delay_median_s = self.delays[0]
            .median_ns(&self.clock)
            .filter(|_| forth)
            .map(|ns| ns as f64 / 1e9);
        let delays = &self.delays[usize::from(!forth)];
        let spread = delays.spread_ns(&self.clock, forth);
        hop.delay_spread_s = spread.map(|ns| ns as f64 / 1e9);
    }
}

impl hop::Hop {
    /// Counts frames of a connection that were taken for TSO frames as merged frames.
    pub(crate) fn call_merged(&mut self, from_id: u64, direction: &str) {
        let seen = |c: &&mut HopConnection| c.from_id == from_id && c.direction == direction;
        let Some(connection) = self.connections.iter_mut().find(seen) else {
            return;
        };
        let uncut = std::mem::take(&mut connection.tso);
        sum(&mut connection.merged, &uncut);
        sum(&mut self.merged, &uncut);
        if uncut.seen > 0 {
            compare((&mut self.by_length, &mut self.blocked), connection);
        }
        subtract(&mut self.tso, &uncut);
        (self.odds_ratio, self.p_value) = association(&self.merged, &self.single);
        self.connections.sort_by_key(worst_first);
        self.leave_out_blocked();
    }

    /// Frames that are not compared with others say nothing in their turn either: no bucket and no box that explains the other
    /// losses explains these.
    fn leave_out_blocked(&mut self) {
        let blocked = self.connections.iter().filter(|seen| is_blocked(seen));
        let blocked: BTreeSet<u32> = blocked.map(|seen| seen.in_turn_as).collect();
        self.in_turn
            .retain(|left| !blocked.contains(&left.connection));
    }
}

fn worst_first(c: &HopConnection) -> std::cmp::Reverse<(u64, u64, u64, u64)> {
    std::cmp::Reverse((c.merged.lost, c.tso.lost, c.single.lost, c.single.seen))
}

fn add_pair(
    hop: &mut hop::Hop,
    pair: &mut Pair,
    points: [&Point; 2],
    forth: bool,
    over_time: &mut OverTime,
) {
    let Some(way) = pair
        .forth
        .map(|index| if forth { index } else { 1 - index })
    else {
        return;
    };
    let side = usize::from(!forth);
    let Some(connection) = points[side].table.get(pair.ids[side]) else {
        return;
    };
    let index = pair.flow_at(way, side);
    let flow = &connection.flows[index];
    pair.ways[way]
        .result
        .settle(|len| flow.tally.is_multi(len), over_time);
    let listed = list_pair(pair, way, forth, connection, index);
    if listed.merged.seen + listed.tso.seen + listed.single.seen == 0 {
        return;
    }
    sum(&mut hop.merged, &listed.merged);
    if listed.merged.seen > 0 {
        compare((&mut hop.by_length, &mut hop.blocked), &listed);
    }
    hop.together.add_all(&listed.together);
    hop.full.add(listed.full);
    hop.amid.add(listed.amid);
    sum(&mut hop.tso, &listed.tso);
    sum(&mut hop.single, &listed.single);
    sum(&mut hop.lone, &pair.ways[way].result.lone);
    pair.ways[way].result.rested.add_to(&mut hop.rested);
    hop.reordered += pair.ways[way].join.reordered;
    hop.connections.push(listed);
}

/// Adds merged frames of a connection to those that are compared with single ones, unless nothing of it arrived.
fn compare((by_length, blocked): (&mut Lengths, &mut Blocked), seen: &HopConnection) {
    if is_blocked(seen) {
        blocked.merged += seen.merged.lost;
        blocked.single += seen.single.lost;
    } else {
        by_length.add_all(&seen.by_length);
    }
}

/// Whether nothing of a connection arrived that lost merged frames.
fn is_blocked(seen: &HopConnection) -> bool {
    let arrived = seen.merged.came_through() + seen.single.came_through();
    arrived == 0 && seen.merged.lost > 0 && seen.single.lost >= BLOCKED
}

fn list_pair(
    pair: &Pair,
    way: usize,
    forth: bool,
    connection: &Connection,
    flow: usize,
) -> HopConnection {
    let result = &pair.ways[way].result;
    let uncut = flow_is_uncut(connection, flow);
    let (merged, tso) = if uncut {
        (Outcomes::default(), result.multi)
    } else {
        (result.multi, Outcomes::default())
    };
    let from_client = (flow == 0) == connection.client_is_low;
    HopConnection {
        from_id: u64::from(pair.ids[usize::from(!forth)]),
        to_id: u64::from(pair.ids[usize::from(forth)]),
        in_turn_as: pair.ids[0],
        matched_by: pair.by.name(),
        direction: if from_client {
            "to_server"
        } else {
            "to_client"
        },
        merged,
        tso,
        single: result.single,
        merged_lost_frames: result.multi_lost.clone(),
        single_lost_frames: result.single_lost.clone(),
        merged_arrived_frames: result.multi_arrived.clone(),
        by_length: result.by_length(),
        together: result.together(),
        full: result.full,
        amid: result.amid(),
    }
}

fn sum(total: &mut Outcomes, part: &Outcomes) {
    each(total, part, |total, part| *total += part);
}

fn subtract(total: &mut Outcomes, part: &Outcomes) {
    each(total, part, |total, part| {
        *total = total.saturating_sub(part);
    });
}

fn each(total: &mut Outcomes, part: &Outcomes, apply: impl Fn(&mut u64, u64)) {
    apply(&mut total.seen, part.seen);
    apply(&mut total.arrived, part.arrived);
    apply(&mut total.lost, part.lost);
    apply(&mut total.resplit, part.resplit);
    apply(&mut total.merged_further, part.merged_further);
    apply(&mut total.fragmented, part.fragmented);
    apply(&mut total.partly_lost, part.partly_lost);
    apply(&mut total.missed, part.missed);
    apply(&mut total.not_judged, part.not_judged);
}

/// Odds ratio of loss and Fisher's exact p, merged against single.
fn association(merged: &Outcomes, single: &Outcomes) -> (Option<f64>, Option<f64>) {
    odds_and_p([
        merged.lost,
        merged.came_through(),
        single.lost,
        single.came_through(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::hop::Left;

    /// A connection that lost merged and single frames, and whether anything of it arrived.
    fn connection(in_turn_as: u32, single_arrived: u64) -> HopConnection {
        let mut seen = HopConnection {
            in_turn_as,
            ..HopConnection::default()
        };
        (seen.merged.lost, seen.single.lost) = (3, 2);
        seen.single.arrived = single_arrived;
        seen
    }

    #[test]
    fn frames_of_a_blocked_connection_are_not_in_turn() {
        let left = |connection| Left {
            connection,
            lost: true,
            ..Left::default()
        };
        let mut hop = hop::Hop {
            connections: vec![connection(7, 0), connection(8, 1)],
            in_turn: [7, 8, 7, 8].map(left).to_vec(),
            ..hop::Hop::default()
        };
        hop.leave_out_blocked();
        let kept = hop.in_turn.iter().map(|left| left.connection);
        assert_eq!(kept.collect::<Vec<_>>(), [8, 8]);
    }
}
