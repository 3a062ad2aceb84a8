//! Finds chosen connections at the other points.

use crate::connection::Connection;
use crate::facts::trace::Trace;

/// A connection of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its point, as an index into the trace's.
    pub point: usize,
    /// Its id there.
    pub id: u64,
}

/// Each chosen connection with itself at the other points; each connection once.
pub(super) fn groups(trace: &Trace, chosen: &[Chosen], separate: bool) -> Vec<Vec<Chosen>> {
    let mut groups: Vec<Vec<Chosen>> = Vec::new();
    for one in chosen {
        let is_known = groups.iter().any(|group| group.contains(one));
        if !is_known && one.point < trace.points.len() {
            groups.push(if separate {
                vec![*one]
            } else {
                everywhere(trace, *one)
            });
        }
    }
    groups
}

fn everywhere(trace: &Trace, chosen: Chosen) -> Vec<Chosen> {
    let follow = |points: &mut dyn Iterator<Item = usize>| {
        let mut at = chosen;
        let mut found = Vec::new();
        for point in points {
            if let Some(next) = at_next(trace, at, point) {
                found.push(next);
                at = next;
            }
        }
        found
    };
    let mut group = follow(&mut (0..chosen.point).rev());
    group.reverse();
    group.push(chosen);
    group.extend(follow(&mut (chosen.point + 1..trace.points.len())));
    group
}

/// The same connection at another point, none if it passes that by: as the hop between them links it, or, since a hop lists its worst
/// connections only, the connection with the same ends that began with the same numbers.
fn at_next(trace: &Trace, chosen: Chosen, point: usize) -> Option<Chosen> {
    linked(trace, chosen, point)
        .or_else(|| alike(trace, chosen, point))
        .map(|id| Chosen { point, id })
}

fn linked(trace: &Trace, chosen: Chosen, point: usize) -> Option<u64> {
    let [here, there] = [chosen.point, point].map(|point| trace.points[point].name.as_str());
    trace.hops.iter().find_map(|hop| {
        let ends = (hop.from.as_str(), hop.to.as_str());
        hop.connections.iter().find_map(|seen| {
            if ends == (here, there) && seen.from_id == chosen.id {
                Some(seen.to_id)
            } else if ends == (there, here) && seen.to_id == chosen.id {
                Some(seen.from_id)
            } else {
                None
            }
        })
    })
}

fn alike(trace: &Trace, chosen: Chosen, point: usize) -> Option<u64> {
    let wanted = trace.points[chosen.point].connections.followed(chosen.id)?;
    let there = &trace.points[point].connections;
    (0..there.len() as u64).find(|id| {
        there
            .followed(*id)
            .is_some_and(|known| known.key == wanted.key && began_alike(known, wanted))
    })
}

fn began_alike(a: &Connection, b: &Connection) -> bool {
    let isn = |connection: &Connection| connection.handshake.syn.map(|syn| syn.isn);
    isn(a).is_some() && isn(a) == isn(b)
}
