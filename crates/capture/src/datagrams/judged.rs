//! What became of datagrams on a hop, in numbers.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::Seen;
use super::fates::{Fate, Fates};
use super::way::Way;
use crate::facts::{DatagramHop, Endpoint};
use crate::fisher::odds_and_p;
use crate::lengths;
use crate::passes::{Pass, Passes, place};
use crate::summary::endpoint;
use crate::together::Together;

/// Datagrams of a client to a server that must be found at both points, before others of theirs count as lost and not
/// as sent another way: a single one might be chance.
const A_FEW: usize = 2;
/// Frame numbers kept of each sort.
const EXAMPLES: usize = 5;

/// Client, server and the server's port. Not the client's port: a resolver takes another for each query.
type Group = (u128, u128, u16);

pub(super) fn judged(fates: &Fates<'_>, way: Way, [from, to]: [&str; 2]) -> DatagramHop {
    let mut hop = DatagramHop {
        from: from.to_owned(),
        to: to.to_owned(),
        ..DatagramHop::default()
    };
    let groups = groups(fates, way);
    let between = matched(fates, way);
    let mut losers = HashMap::<Group, u64>::new();
    let mut evidence = Evidence::of(fates, way);
    for (at, seen) in fates.one.iter().enumerate() {
        if fates.ways[at] != way {
            continue;
        }
        let group = group(seen, way);
        let is_known = groups.get(&group).is_some_and(|found| *found >= A_FEW);
        let fate = Some(fates.all[at]).filter(|_| is_known && between.contains(&seen.time_ns));
        count(&mut hop, seen, fate);
        if let Some(fate) = fate {
            evidence.add(&mut hop, seen, fate);
        }
        let is_merged_lost = seen.segment > 0 && matches!(fate, Some(Fate::Lost | Fate::InPart));
        *losers.entry(group).or_default() += u64::from(is_merged_lost);
    }
    evidence.give(&mut hop);
    hop.server = worst(&losers, fates.one, way);
    let [merged, single] = [&hop.merged, &hop.single].map(|one| [one.damaged(), one.intact()]);
    (hop.odds_ratio, hop.p_value) = odds_and_p([merged[0], merged[1], single[0], single[1]]);
    hop
}

fn count(hop: &mut DatagramHop, seen: &Seen, fate: Option<Fate>) {
    let is_merged = seen.segment > 0;
    let outcomes = if is_merged {
        &mut hop.merged
    } else {
        &mut hop.single
    };
    outcomes.seen += 1;
    let (counter, examples) = match fate {
        None => (&mut outcomes.not_judged, None),
        Some(Fate::Lost) => (&mut outcomes.lost, Some(true)),
        Some(Fate::InPart) => (&mut outcomes.partly_lost, Some(true)),
        Some(Fate::Arrived) => (&mut outcomes.arrived, Some(false)),
        Some(Fate::Split) => (&mut outcomes.resplit, Some(false)),
        Some(Fate::Merged) => (&mut outcomes.merged_further, Some(false)),
    };
    *counter += 1;
    let examples = match (is_merged, examples) {
        (true, Some(true)) => &mut hop.merged_lost_frames,
        (true, Some(false)) => &mut hop.merged_arrived_frames,
        (false, Some(true)) => &mut hop.single_lost_frames,
        _ => return,
    };
    if examples.len() < EXAMPLES {
        examples.push(seen.number);
    }
}

/// What the judgment wants to know beside numbers of datagrams.
struct Evidence {
    /// Payload of the longest parts of merged datagrams.
    segment: u32,
    passes: Passes,
    together: Together,
}

impl Evidence {
    fn of(fates: &Fates<'_>, way: Way) -> Self {
        let all = fates.one.iter().zip(&fates.ways);
        let segments = all
            .filter(|(_, own)| **own == way)
            .map(|(seen, _)| seen.segment);
        Self {
            segment: segments.max().unwrap_or(0),
            passes: Passes::default(),
            together: Together::default(),
        }
    }

    fn add(&mut self, hop: &mut DatagramHop, seen: &Seen, fate: Fate) {
        let is_lost = matches!(fate, Fate::Lost | Fate::InPart);
        if !is_lost {
            self.together.arrived(seen.time_ns, seen.payload);
        }
        if seen.segment > 0 {
            self.add_merged(hop, seen, is_lost);
        } else if 2 * seen.payload >= self.segment {
            self.add_full(hop, seen, is_lost);
        }
    }

    fn add_merged(&mut self, hop: &mut DatagramHop, seen: &Seen, is_lost: bool) {
        let lost = u32::from(is_lost);
        hop.by_length.add(seen.payload, 1 - lost, lost);
        if is_lost {
            self.passes.lost(place(seen.time_ns), seen.time_ns);
        }
    }

    fn add_full(&mut self, hop: &mut DatagramHop, seen: &Seen, is_lost: bool) {
        let lost = u64::from(is_lost);
        hop.full.add(lengths::Fate {
            passed: 1 - lost,
            lost,
        });
        if !is_lost {
            self.passes.arrived(Pass::left(seen.time_ns));
        }
    }

    fn give(self, hop: &mut DatagramHop) {
        hop.together = self.together.lengths();
        hop.amid = self.passes.amid(1);
    }
}

fn group(seen: &Seen, way: Way) -> Group {
    let [client, server] = ends(seen, way);
    (client.0, server.0, server.1)
}

fn ends(seen: &Seen, way: Way) -> [(u128, u16); 2] {
    let [low, high] = seen.key.ends();
    let client_is_low = seen.from_low == (way == Way::ToServer);
    if client_is_low {
        [low, high]
    } else {
        [high, low]
    }
}

/// How many datagrams of each client and server were found at both points.
fn groups(fates: &Fates<'_>, way: Way) -> HashMap<Group, usize> {
    let mut groups = HashMap::new();
    for (seen, _) in fates.found(way) {
        *groups.entry(group(seen, way)).or_default() += 1;
    }
    groups
}

/// The time in which both captures ran: from the first datagram that both have to the last.
fn matched(fates: &Fates<'_>, way: Way) -> RangeInclusive<i64> {
    let times = || fates.found(way).map(|(seen, _)| seen.time_ns);
    times().min().unwrap_or(i64::MAX)..=times().max().unwrap_or(i64::MIN)
}

/// The server with which most merged datagrams are lost.
fn worst(losers: &HashMap<Group, u64>, seen: &[Seen], way: Way) -> Option<Endpoint> {
    let most = losers.iter().filter(|(_, lost)| **lost > 0);
    let (group, _) = most.max_by_key(|(group, lost)| (**lost, **group))?;
    let (_, address, port) = *group;
    let version = seen
        .iter()
        .find(|seen| self::group(seen, way) == *group)?
        .key
        .version();
    Some(endpoint((address, port), version))
}
