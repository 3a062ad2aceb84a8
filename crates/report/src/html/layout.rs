//! Positions of interfaces: an upper interface is above the lower ones.

use std::collections::{BTreeMap, BTreeSet};

use coalescope_host::model::{Peer, Snapshot};
use coalescope_host::names::key_of;
use coalescope_host::roles::{Graph, beside};

/// Boxes in a row; more are wrapped.
const ACROSS: usize = 6;

/// One interface is on top of the other, or both are ends of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    /// The lower interface.
    pub(crate) lower: String,
    /// The upper interface.
    pub(crate) upper: String,
    /// Whether both are ends of a pair, with neither on top.
    pub(crate) is_pair: bool,
}

/// All edges between interfaces of a host.
pub(crate) fn edges(snapshot: &Snapshot) -> BTreeSet<Edge> {
    let graph = Graph::of(snapshot);
    let mut edges = BTreeSet::new();
    let mut add = |lower: &str, upper: &str, is_pair| {
        edges.insert(Edge {
            lower: lower.to_owned(),
            upper: upper.to_owned(),
            is_pair,
        });
    };
    for (key, interface) in &snapshot.interfaces {
        if let Some(master) = graph.master(key) {
            add(key, master, false);
        }
        if let Some(parent) = &interface.parent {
            add(&beside(key, parent), key, false);
        }
        for underlay in interface.tunnel.iter().flat_map(|tunnel| &tunnel.underlay) {
            add(&beside(key, underlay), key, false);
        }
        if let Some(peer) = peer(key, interface.peer.as_ref()) {
            let (one, other) = if key < &peer {
                (key, &peer)
            } else {
                (&peer, key)
            };
            add(one, other, true);
        }
    }
    edges.retain(|edge| edge.lower != edge.upper);
    edges
}

/// The key of the other end, if it is known.
fn peer(key: &str, peer: Option<&Peer>) -> Option<String> {
    let peer = peer?;
    let name = peer.name.as_ref()?;
    Some(match peer.namespace.as_deref() {
        None => beside(key, name),
        Some("host") => name.clone(),
        Some(space) => key_of(Some(space), name),
    })
}

/// Rows of interfaces, the topmost first.
pub(crate) struct Layout<'a> {
    rows: Vec<Vec<&'a str>>,
}

impl<'a> Layout<'a> {
    /// Positions for these interfaces of a host.
    pub(crate) fn of(snapshot: &Snapshot, keys: &[&'a str]) -> Self {
        let edges = edges(snapshot);
        let levels = levels(&edges, keys.len());
        let mut by_level: BTreeMap<usize, Vec<&'a str>> = BTreeMap::new();
        for key in keys {
            let level = levels.get(key).copied().unwrap_or_default();
            by_level.entry(level).or_default().push(key);
        }
        let mut rows: Vec<Vec<&'a str>> = Vec::new();
        for (_, mut level) in by_level {
            level.sort_by_key(|key| rank(key, &edges, rows.last()));
            rows.extend(level.chunks(ACROSS).map(<[&str]>::to_vec));
        }
        rows.reverse();
        Self { rows }
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &[Vec<&'a str>] {
        &self.rows
    }

    /// The largest number of interfaces in a row.
    pub(crate) fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The row of an interface, and its column; rows are centred.
    pub(crate) fn place(&self, key: &str) -> Option<(usize, f64)> {
        let columns = self.columns();
        self.rows.iter().enumerate().find_map(|(row, keys)| {
            let column = keys.iter().position(|one| *one == key)?;
            Some((row, column as f64 + (columns - keys.len()) as f64 / 2.0))
        })
    }
}

/// The number of interfaces beneath each interface, one below the other, including those that are
/// not drawn. A cycle, which no kernel allows but a file may contain, ends at the number of
/// interfaces.
fn levels(edges: &BTreeSet<Edge>, most: usize) -> BTreeMap<&str, usize> {
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..most {
        let before = levels.clone();
        for edge in edges.iter().filter(|edge| !edge.is_pair) {
            let above = levels.get(edge.lower.as_str()).map_or(1, |level| level + 1);
            let level = levels.entry(&edge.upper).or_default();
            *level = (*level).max(above.min(most));
        }
        if levels == before {
            break;
        }
    }
    levels
}

/// The rank of an interface in its row: those on top of neighbours are neighbours.
fn rank(key: &str, edges: &BTreeSet<Edge>, below: Option<&Vec<&str>>) -> usize {
    let lower = edges
        .iter()
        .filter(|edge| !edge.is_pair && edge.upper == key);
    let places = lower.filter_map(|edge| below?.iter().position(|one| *one == edge.lower));
    places.min().unwrap_or(usize::MAX)
}
