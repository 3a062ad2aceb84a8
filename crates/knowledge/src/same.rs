//! Which connections of different points are the same one.

use std::collections::HashMap;

use coalescope_capture::facts::Trace;

/// Groups of connections that hops found to be the same.
#[derive(Default)]
pub(crate) struct Same<'a> {
    groups: HashMap<(&'a str, u64), usize>,
}

impl<'a> Same<'a> {
    pub(crate) fn of(trace: &'a Trace) -> Self {
        let mut same = Self::default();
        for hop in &trace.hops {
            for connection in &hop.connections {
                let from = (hop.from.as_str(), connection.from_id);
                let to = (hop.to.as_str(), connection.to_id);
                same.join(from, to);
            }
            for loser in &hop.losers {
                let from = (hop.from.as_str(), loser.from_id);
                same.join(from, (hop.to.as_str(), loser.to_id));
            }
        }
        same
    }

    fn join(&mut self, a: (&'a str, u64), b: (&'a str, u64)) {
        let next = self.groups.len();
        let (group, other) = (self.groups.get(&a).copied(), self.groups.get(&b).copied());
        let kept = group.or(other).unwrap_or(next);
        if let (Some(group), Some(other)) = (group, other)
            && group != other
        {
            self.groups
                .values_mut()
                .filter(|g| **g == other)
                .for_each(|g| *g = group);
        }
        self.groups.insert(a, kept);
        self.groups.insert(b, kept);
    }

    /// The group of a connection; a connection that was found at one point only is a group of its own.
    pub(crate) fn group<'b>(&self, point: &'b str, id: u64) -> Group<'b> {
        // Most traces have one point, and many connections.
        let group = if self.groups.is_empty() {
            None
        } else {
            self.groups.get(&(point, id))
        };
        group.map_or(Group::Alone(point, id), |group| Group::Of(*group))
    }
}

/// One connection, at whichever points it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group<'a> {
    /// Seen at several points.
    Of(usize),
    /// Seen at one point.
    Alone(&'a str, u64),
}
