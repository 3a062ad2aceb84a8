//! Which connections of different points are one and the same.

use std::collections::HashMap;

use coalescope_capture::facts::Trace;

/// Groups of connections that hops found to be the same.
pub(crate) struct Same {
    groups: HashMap<(String, u64), usize>,
}

impl Same {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut same = Self {
            groups: HashMap::new(),
        };
        for hop in &trace.hops {
            for connection in &hop.connections {
                let from = (hop.from.clone(), connection.from_id);
                let to = (hop.to.clone(), connection.to_id);
                same.join(from, to);
            }
        }
        same
    }

    fn join(&mut self, a: (String, u64), b: (String, u64)) {
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

    /// The group of a connection; one that was found at one point only is its own.
    pub(crate) fn group(&self, point: &str, id: u64) -> Group {
        let key = (point.to_owned(), id);
        self.groups
            .get(&key)
            .map_or(Group::Alone(key.0, key.1), |group| Group::Of(*group))
    }
}

/// One connection, wherever it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// Seen at several points.
    Of(usize),
    /// Seen at one point.
    Alone(String, u64),
}
