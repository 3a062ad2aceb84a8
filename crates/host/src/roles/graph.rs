//! How interfaces hang together.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Interface, Snapshot};

/// Who is on top of whom, by keys of interfaces.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Bridge, bond or Open vSwitch bridge that a port belongs to.
    masters: BTreeMap<String, String>,
    /// What lies directly on top: bond over members, VLAN and macvlan over their parent.
    above: BTreeMap<String, BTreeSet<String>>,
    /// Bridges of Open vSwitch that patch ports join, in both directions.
    joined: BTreeMap<String, BTreeSet<String>>,
}

/// Kinds through which a frame passes as it is: what is on top has the role, what is beneath
/// receives the frames.
const PASSES_THROUGH: [&str; 6] = ["bond", "team", "lagg", "vlan", "macvlan", "macvtap"];

impl Graph {
    /// The graph of a host.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut graph = Self::default();
        for (key, interface) in &snapshot.interfaces {
            graph.add(snapshot, key, interface);
        }
        graph.add_ovs(snapshot);
        graph
    }

    fn add(&mut self, snapshot: &Snapshot, key: &str, interface: &Interface) {
        if let Some(master) = &interface.master {
            let master = beside(key, master);
            if passes_through(snapshot, &master) {
                self.put_above(key, &master);
            }
            self.masters.insert(key.to_owned(), master);
        }
        if let Some(parent) = &interface.parent
            && passes_through(snapshot, key)
        {
            self.put_above(&beside(key, parent), key);
        }
    }

    fn add_ovs(&mut self, snapshot: &Snapshot) {
        let bridges = snapshot.ovs.iter().flat_map(|ovs| &ovs.bridges);
        for (bridge, ports) in bridges.clone() {
            for peer in ports.ports.values().filter_map(|port| port.peer.as_ref()) {
                let mut others = bridges.clone();
                let other = others.find(|(_, other)| other.ports.contains_key(peer));
                if let Some((other, _)) = other {
                    self.join(bridge, other);
                }
            }
            for port in ports.ports.keys().filter(|port| *port != bridge) {
                self.masters
                    .entry(port.clone())
                    .or_insert_with(|| bridge.clone());
            }
        }
    }

    fn join(&mut self, one: &str, other: &str) {
        for (from, to) in [(one, other), (other, one)] {
            let joined = self.joined.entry(from.to_owned()).or_default();
            joined.insert(to.to_owned());
        }
    }

    fn put_above(&mut self, lower: &str, upper: &str) {
        let above = self.above.entry(lower.to_owned()).or_default();
        above.insert(upper.to_owned());
    }

    /// The bridge, bond or virtual switch that an interface is a port of.
    #[must_use]
    pub fn master(&self, key: &str) -> Option<&str> {
        self.masters.get(key).map(String::as_str)
    }

    /// The ports of a bridge, bond or virtual switch.
    pub fn ports<'a>(&'a self, master: &'a str) -> impl Iterator<Item = &'a str> {
        let of = self.masters.iter().filter(move |(_, m)| *m == master);
        of.map(|(port, _)| port.as_str())
    }

    /// The ports between which a bridge passes frames on: its own, and those of the bridges that patch
    /// ports join to it.
    #[must_use]
    pub fn switched(&self, master: &str) -> Vec<&str> {
        let others = walk(master, |bridge| {
            self.joined.get(bridge).into_iter().flatten().cloned()
        });
        let bridges = others.iter().map(String::as_str).chain([master]);
        let bridges: BTreeSet<&str> = bridges.collect();
        let all = self.masters.iter();
        let ports = all.filter(|(_, of)| bridges.contains(of.as_str()));
        ports.map(|(port, _)| port.as_str()).collect()
    }

    /// All interfaces that are stacked on top of one, at any height, nearest first.
    #[must_use]
    pub fn stacked_above(&self, key: &str) -> Vec<String> {
        walk(key, |key| {
            self.above.get(key).into_iter().flatten().cloned()
        })
    }

    /// All interfaces that one is stacked on, at any depth, nearest first.
    #[must_use]
    pub fn stacked_below(&self, key: &str) -> Vec<String> {
        let below = |key: &str| -> Vec<String> {
            let rests_on = self.above.iter().filter(|(_, uppers)| uppers.contains(key));
            rests_on.map(|(lower, _)| lower.clone()).collect()
        };
        walk(key, below)
    }
}

/// Breadth first; each once, so that a loop in damaged data ends.
fn walk<I: IntoIterator<Item = String>>(from: &str, next: impl Fn(&str) -> I) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    let mut current = from.to_owned();
    loop {
        for one in next(&current) {
            if one != from && !found.contains(&one) {
                found.push(one);
            }
        }
        let Some(following) = found.get(at) else {
            return found;
        };
        current.clone_from(following);
        at += 1;
    }
}

fn passes_through(snapshot: &Snapshot, key: &str) -> bool {
    let kind = snapshot.interfaces.get(key).and_then(|i| i.kind.as_deref());
    kind.is_some_and(|kind| PASSES_THROUGH.contains(&kind))
}

/// The key of an interface named `name` in the namespace of `key`.
#[must_use]
pub fn beside(key: &str, name: &str) -> String {
    match key.rsplit_once('/') {
        Some((space, _)) if key.starts_with("ns/") => format!("{space}/{name}"),
        _ => name.to_owned(),
    }
}
