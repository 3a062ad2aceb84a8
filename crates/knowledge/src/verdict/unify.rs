//! One limit for a connection that several points saw.

use std::collections::{HashMap, HashSet};

use coalescope_capture::facts::{HopConnection, Trace};

use crate::judged::{at, left_by, lost_by};
use crate::limits::{ConnectionLimit, Limit, lacks_the_longest};
use crate::same::{Group, Same};
use crate::thresholds::{HEAVY_LOSS, LOSS_FRAMES};

/// Gives each connection one limit, the gravest of those at its points.
pub(super) fn unify(
    trace: &Trace,
    limits: &mut [ConnectionLimit],
    explained: &[(String, u64)],
    same: &Same<'_>,
) {
    let mut gravest: HashMap<Group<'_>, Limit> = explained
        .iter()
        .map(|(point, id)| (same.group(point, *id), Limit::MergedLoss))
        .collect();
    let open = Open::of(trace, limits, same);
    for limit in &*limits {
        let group = same.group(&limit.point, limit.connection);
        if matches!(group, Group::Of(_)) {
            let own = open.limit(&group, limit.limit);
            let known = gravest.entry(group).or_insert(own);
            *known = (*known).min(own);
        }
    }
    if gravest.is_empty() {
        return;
    }
    let unified = limits.iter().map(|limit| {
        let group = same.group(&limit.point, limit.connection);
        let own = open.limit(&group, limit.limit);
        gravest
            .get(&group)
            .map_or(own, |gravest| *gravest.min(&own))
    });
    let unified: Vec<Limit> = unified.collect();
    for (limit, unified) in limits.iter_mut().zip(unified) {
        limit.limit = unified;
    }
}

/// Connections that are unclear at one point, and that other points settle less well.
struct Open<'a> {
    /// Hops show that much of them was lost: behind a loss a connection may look idle, or limited by the path.
    lossy: HashSet<Group<'a>>,
    /// Behind a hop, all that is missing is longer than whatever came, and no hop judges merged frames: in front, before they
    /// are merged, it looks like any other loss.
    marked: HashSet<Group<'a>>,
}

impl<'a> Open<'a> {
    fn of(trace: &'a Trace, limits: &'a [ConnectionLimit], same: &Same<'_>) -> Self {
        let unclear = || {
            let these = limits.iter().filter(|limit| limit.limit == Limit::Unclear);
            let groups = these.map(|limit| (limit, same.group(&limit.point, limit.connection)));
            // One point settles nothing of another's, and may have thousands of connections.
            groups.filter(|(_, group)| matches!(group, Group::Of(_)))
        };
        let on_hops = |is_so: fn(&HopConnection) -> bool| {
            let all = trace.hops.iter().flat_map(move |hop| {
                let these = hop.connections.iter().filter(move |seen| is_so(seen));
                these.map(|seen| same.group(&hop.from, seen.from_id))
            });
            all.collect::<HashSet<_>>()
        };
        let (much, judged) = (on_hops(loses_much), on_hops(|seen| seen.merged.seen > 0));
        let is_marked = |limit: &ConnectionLimit| {
            let connection = at(trace, &limit.point, limit.connection);
            let data = connection.map(|seen| lacks_the_longest(seen.direction(limit.direction)));
            data == Some(true)
        };
        let groups = unclear().map(|(_, group)| group);
        let marked = unclear().filter(|(limit, group)| !judged.contains(group) && is_marked(limit));
        Self {
            lossy: groups.filter(|group| much.contains(group)).collect(),
            marked: marked.map(|(_, group)| group).collect(),
        }
    }

    /// The limit of a connection at a point, as far as that counts.
    fn limit(&self, group: &Group<'_>, own: Limit) -> Limit {
        match own {
            Limit::Loss if self.marked.contains(group) => Limit::Unclear,
            Limit::SenderIdle | Limit::PathBandwidth if self.lossy.contains(group) => {
                Limit::Unclear
            }
            own => own,
        }
    }
}

fn loses_much(seen: &HopConnection) -> bool {
    let lost = lost_by(seen);
    lost >= LOSS_FRAMES && lost as f64 >= HEAVY_LOSS * left_by(seen) as f64
}
