//! How interfaces hang together.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Interface, OvsBridge, Snapshot};
use crate::names::{key_of, of_key};

/// Which interface is on top of which, by keys.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Bridge, bond or Open vSwitch bridge that a port belongs to.
    masters: BTreeMap<String, String>,
    /// What lies directly on top: bond over members, VLAN and macvlan over their parent.
    above: BTreeMap<String, BTreeSet<String>>,
    /// The same from above: what each lies directly on.
    below: BTreeMap<String, BTreeSet<String>>,
    /// The ports of each master.
    ports: BTreeMap<String, BTreeSet<String>>,
    /// For each bridge that patch ports or pairs of veth join to others, the first of all that hang together.
    joined: BTreeMap<String, String>,
}

/// The kernel's name of the one datapath that all bridges of Open vSwitch share: the master of all their ports.
pub(super) const OVS_DATAPATH: &str = "ovs-system";

/// Kinds through which a frame passes as it is: what is on top has the role, what is beneath
/// receives the frames.
const PASSES_THROUGH: [&str; 7] = ["bond", "team", "lagg", "vlan", "macvlan", "macvtap", "dsa"];

/// The kind of a master that is a NIC itself, whose virtual function the port is (netvsc of Hyper-V, `net_failover`):
/// what the port receives is handed to the master.
pub(super) const FAILOVER: &str = "physical";

impl Graph {
    /// The graph of a host.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut graph = Self::default();
        for (key, interface) in &snapshot.interfaces {
            graph.add(snapshot, key, interface);
        }
        graph.add_ovs(snapshot);
        graph.joined = joined(graph.pairs(snapshot).chain(patches(snapshot)));
        graph
    }

    /// Bridges that a pair of veth joins, one end a port of each: what firewalls of OpenStack (`qbr`) and Proxmox (`fwbr`)
    /// are made of.
    fn pairs(&self, snapshot: &Snapshot) -> impl Iterator<Item = (String, String)> {
        snapshot.interfaces.iter().filter_map(|(key, interface)| {
            let peer = interface.peer.as_ref()?;
            let name = peer.name.as_ref().filter(|_| peer.namespace.is_none())?;
            let here = self.masters.get(key)?.clone();
            let there = self.masters.get(&beside(key, name))?.clone();
            Some((here, there))
        })
    }

    fn add(&mut self, snapshot: &Snapshot, key: &str, interface: &Interface) {
        if let Some(master) = &interface.master {
            let master = beside(key, master);
            if passes_through(snapshot, &master) || is_failover(snapshot, &master) {
                self.put_above(key, &master);
            }
            self.put_master(key, master);
        }
        if let Some(parent) = &interface.parent
            && (passes_through(snapshot, key) || is_like_its_parent(snapshot, key, parent))
        {
            self.put_above(&beside(key, parent), key);
        }
    }

    fn add_ovs(&mut self, snapshot: &Snapshot) {
        let Some(ovs) = &snapshot.ovs else {
            return;
        };
        for (bridge, about) in &ovs.bridges {
            for port in outer_ports(bridge, about) {
                let is_apart =
                    |master: &String| master == OVS_DATAPATH && leads_here(bridge, about);
                if self.masters.get(port).is_none_or(is_apart) {
                    self.put_master(port, bridge.clone());
                }
            }
        }
    }

    fn put_master(&mut self, port: &str, master: String) {
        let before = self
            .masters
            .get(port)
            .and_then(|before| self.ports.get_mut(before));
        before.map(|ports| ports.remove(port));
        let ports = self.ports.entry(master.clone()).or_default();
        ports.insert(port.to_owned());
        self.masters.insert(port.to_owned(), master);
    }

    fn put_above(&mut self, lower: &str, upper: &str) {
        let above = self.above.entry(lower.to_owned()).or_default();
        above.insert(upper.to_owned());
        let below = self.below.entry(upper.to_owned()).or_default();
        below.insert(lower.to_owned());
    }

    /// The bridge, bond or virtual switch that an interface is a port of.
    #[must_use]
    pub fn master(&self, key: &str) -> Option<&str> {
        self.masters.get(key).map(String::as_str)
    }

    /// The ports of a bridge, bond or virtual switch.
    pub fn ports<'a>(&'a self, master: &str) -> impl Iterator<Item = &'a str> {
        let ports = self.ports.get(master);
        ports.into_iter().flatten().map(String::as_str)
    }

    /// All masters, each with its ports.
    pub(super) fn masters(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        let masters = self.ports.iter();
        masters.map(|(master, ports)| (master.as_str(), ports))
    }

    /// What stands for all bridges between whose ports frames pass: those that patch ports join to one.
    pub(super) fn switch<'a>(&'a self, master: &'a str) -> &'a str {
        self.joined.get(master).map_or(master, String::as_str)
    }

    /// All interfaces that are stacked on top of one, at any height, nearest first.
    #[must_use]
    pub fn stacked_above(&self, key: &str) -> Vec<String> {
        walk(&self.above, key)
    }

    /// All interfaces that one is stacked on, at any depth, nearest first.
    #[must_use]
    pub fn stacked_below(&self, key: &str) -> Vec<String> {
        walk(&self.below, key)
    }
}

/// Ports of a bridge of Open vSwitch that frames come in by from outside: what an internal one receives is for the
/// host itself, which is why the kernel gives it no master (`ovs_netdev_link` of net/openvswitch/vport-netdev.c is not for
/// it).
pub(crate) fn outer_ports<'a>(
    bridge: &'a str,
    about: &'a OvsBridge,
) -> impl Iterator<Item = &'a String> {
    let ports = about.ports.iter();
    let outer = ports
        .filter(move |(port, about)| *port != bridge && about.kind.as_deref() != Some("internal"));
    outer.map(|(port, _)| port)
}

/// Whether a bridge of Open vSwitch has one port beside the host's own: what that receives ends here. Those with more are one with all
/// others of the datapath: flows and tunnels, which no listing shows, lead from one to the other.
fn leads_here(bridge: &str, about: &OvsBridge) -> bool {
    let others = about.ports.keys().filter(|port| *port != bridge);
    others.count() == 1
}

/// Bridges of Open vSwitch that patch ports join.
fn patches(snapshot: &Snapshot) -> Vec<(String, String)> {
    let bridges = || snapshot.ovs.iter().flat_map(|ovs| &ovs.bridges);
    let mut of_port: BTreeMap<&str, &str> = BTreeMap::new();
    for (bridge, about) in bridges() {
        for port in about.ports.keys() {
            of_port.entry(port).or_insert(bridge);
        }
    }
    let of_bridge = |(bridge, about): (&String, &OvsBridge)| {
        let peers = about.ports.values().filter_map(|port| port.peer.as_deref());
        let others = peers.filter_map(|peer| of_port.get(peer));
        let pairs = others.map(|other| (bridge.clone(), (*other).to_owned()));
        pairs.collect::<Vec<_>>()
    };
    bridges().flat_map(of_bridge).collect()
}

/// For each bridge that is joined to another one, the first of those that hang together.
fn joined(pairs: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let mut next: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (one, other) in pairs {
        next.entry(one.clone()).or_default().insert(other.clone());
        next.entry(other).or_default().insert(one);
    }
    let mut joined = BTreeMap::new();
    for first in next.keys() {
        if !joined.contains_key(first) {
            let others = walk(&next, first).into_iter();
            joined.extend(others.map(|other| (other, first.clone())));
            joined.insert(first.clone(), first.clone());
        }
    }
    joined
}

/// Breadth first; each once, so that a loop in damaged data ends.
fn walk(next: &BTreeMap<String, BTreeSet<String>>, from: &str) -> Vec<String> {
    let mut known: BTreeSet<&str> = BTreeSet::from([from]);
    let mut found: Vec<&str> = vec![from];
    let mut at = 0;
    while let Some(current) = found.get(at) {
        let beside = next.get(*current).into_iter().flatten();
        let new: Vec<&str> = beside
            .map(String::as_str)
            .filter(|one| known.insert(one))
            .collect();
        found.extend(new);
        at += 1;
    }
    found.into_iter().skip(1).map(str::to_owned).collect()
}

fn passes_through(snapshot: &Snapshot, key: &str) -> bool {
    let kind = snapshot.interfaces.get(key).and_then(|i| i.kind.as_deref());
    kind.is_some_and(|kind| PASSES_THROUGH.contains(&kind))
}

fn is_failover(snapshot: &Snapshot, master: &str) -> bool {
    let master = snapshot.interfaces.get(master);
    master.is_some_and(|master| master.kind.as_deref() == Some(FAILOVER))
}

/// Without `ip -d` nothing says what lies on another interface. Of Ethernet devices VLANs, ipvlan and the ports of a
/// switch chip have the address of what is beneath (`vlan_dev_init`, `ipvlan_init`, `dsa_user_create`), and a
/// tunnel has one of its own.
fn is_like_its_parent(snapshot: &Snapshot, key: &str, parent: &str) -> bool {
    let interface = snapshot.interfaces.get(key);
    let beneath = snapshot.interfaces.get(&beside(key, parent));
    let address = |of: Option<&Box<Interface>>| of.and_then(|one| one.mac.clone());
    let is_unknown = interface.is_some_and(|one| one.kind.is_none());
    is_unknown && address(interface).is_some() && address(interface) == address(beneath)
}

/// The key of an interface named `name` in the namespace of `key`.
#[must_use]
pub fn beside(key: &str, name: &str) -> String {
    key_of(of_key(key).0, name)
}

/// The keys of what carries a tunnel's outer packets: interfaces of its own namespace.
pub fn carriers(key: &str, tunnel: &Interface) -> impl Iterator<Item = String> {
    let names = tunnel.tunnel.iter().flat_map(|tunnel| &tunnel.underlay);
    names.map(move |name| beside(key, name))
}

/// The keys of tunnels by the key of what carries them.
#[must_use]
pub fn carried(snapshot: &Snapshot) -> BTreeMap<String, Vec<&str>> {
    let mut carried: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (key, interface) in &snapshot.interfaces {
        for carrier in carriers(key, interface) {
            carried.entry(carrier).or_default().push(key);
        }
    }
    carried
}
