//! What roles ask of the whole host, counted once: asked anew for each of ten thousand interfaces, it would be
//! a look at all of them each time.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, beside, carried};
use super::place::{Domain, domain, is_routed_to};
use crate::model::{PacketSocket, Snapshot};

/// `ETH_P_ALL` of linux/if_ether.h: a packet socket that takes everything.
const ETH_P_ALL: u16 = 3;

/// Facts that the rules need of one interface, and that are counted once.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    /// A guest is behind it.
    pub(super) has_guest: fn(&Snapshot, &str) -> bool,
}

/// Counts and neighbours, by the key of an interface.
pub(super) struct Around<'a> {
    pub(super) graph: &'a Graph,
    /// Interfaces that packets could be routed to.
    routed: BTreeSet<&'a str>,
    /// How many of them each namespace has, or each VRF of one.
    routed_in: BTreeMap<Domain<'a>, usize>,
    /// Guests behind the ports of each switch.
    switched: BTreeMap<&'a str, usize>,
    /// Guests stacked on an interface: macvlan, macvtap, ipvlan.
    stacked: BTreeMap<String, usize>,
    /// Tunnels whose outer packets go through an interface.
    tunnels: BTreeMap<String, Vec<&'a str>>,
    /// The first virtual switch that has an uplink of that name or description.
    uplinks: BTreeMap<&'a str, &'a str>,
    /// The first socket that takes everything of an interface, by its namespace and name.
    taps: BTreeMap<(Option<&'a str>, &'a str), &'a PacketSocket>,
}

impl<'a> Around<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, graph: &'a Graph, counted: Counted) -> Self {
        let keys = snapshot.interfaces.keys().map(String::as_str);
        let routed = keys.filter(|key| is_routed_to(snapshot, graph, key));
        let routed = routed.collect();
        Self {
            graph,
            routed_in: by_domain(snapshot, &routed),
            routed,
            switched: switched(snapshot, graph, counted),
            stacked: stacked(snapshot),
            tunnels: carried(snapshot),
            uplinks: uplinks(snapshot),
            taps: taps(snapshot),
        }
    }

    /// Other interfaces to which packets of one could be routed.
    pub(super) fn routed_beside(&self, snapshot: &Snapshot, key: &str) -> usize {
        let own = domain(snapshot, key);
        let all = self.routed_in.get(&own).copied().unwrap_or(0);
        let beneath = self.graph.stacked_below(key);
        let itself = beneath.iter().map(String::as_str).chain([key]);
        let itself = itself.filter(|key| self.is_routed_to(key) && domain(snapshot, key) == own);
        all.saturating_sub(itself.count())
    }

    /// The same, one by one.
    pub(super) fn each_beside(
        &self,
        snapshot: &Snapshot,
        key: &str,
    ) -> impl Iterator<Item = &'a str> {
        let own = domain(snapshot, key);
        let beneath = self.graph.stacked_below(key);
        let others = self.routed.iter().copied();
        others.filter(move |other| {
            *other != key
                && domain(snapshot, other) == own
                && !beneath.iter().any(|one| one == other)
        })
    }

    /// Whether packets could be routed to an interface.
    pub(super) fn is_routed_to(&self, key: &str) -> bool {
        self.routed.contains(key)
    }

    /// Guests behind the ports of a bridge, and of those that are joined to it.
    pub(super) fn guests_behind(&self, bridge: &str) -> usize {
        let switch = self.graph.switch(bridge);
        self.switched.get(switch).copied().unwrap_or(0)
    }

    pub(super) fn guests_on(&self, key: &str) -> usize {
        self.stacked.get(key).copied().unwrap_or(0)
    }

    /// The first tunnel whose outer packets go through an interface.
    pub(super) fn tunnel_over(&self, key: &str) -> Option<&'a str> {
        self.tunnels.get(key)?.first().copied()
    }

    /// The first of the switches, by their names, that one of these names is an uplink of.
    pub(super) fn switch_of(&self, names: &[Option<&str>]) -> Option<&'a str> {
        let switches = names.iter().flatten();
        let switches = switches.filter_map(|name| self.uplinks.get(name).copied());
        switches.min()
    }

    /// The first that has an uplink whose description begins and ends as one that was cut within.
    pub(super) fn switch_of_cut(&self, cut: &str) -> Option<&'a str> {
        let (begin, end) = cut.split_once("...").filter(|(_, end)| !end.is_empty())?;
        let is_it = |uplink: &str| uplink.starts_with(begin) && uplink.ends_with(end);
        let uplinks = self.uplinks.iter().filter(|(uplink, _)| is_it(uplink));
        uplinks.map(|(_, switch)| *switch).min()
    }

    pub(super) fn tap_of(&self, space: Option<&str>, name: &str) -> Option<&'a PacketSocket> {
        self.taps.get(&(space, name)).copied()
    }
}

fn by_domain<'a>(snapshot: &'a Snapshot, routed: &BTreeSet<&str>) -> BTreeMap<Domain<'a>, usize> {
    let mut counts = BTreeMap::new();
    for key in routed {
        *counts.entry(domain(snapshot, key)).or_default() += 1;
    }
    counts
}

fn switched<'a>(
    snapshot: &Snapshot,
    graph: &'a Graph,
    counted: Counted,
) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for (master, ports) in graph.masters() {
        let ports = ports.iter();
        let guests = ports.filter(|port| (counted.has_guest)(snapshot, port));
        *counts.entry(graph.switch(master)).or_default() += guests.count();
    }
    counts
}

fn stacked(snapshot: &Snapshot) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (key, interface) in &snapshot.interfaces {
        let kind = interface.kind.as_deref();
        let is_guest = matches!(kind, Some("macvtap" | "macvlan" | "ipvlan"));
        if let Some(parent) = interface.parent.as_ref().filter(|_| is_guest) {
            *counts.entry(beside(key, parent)).or_default() += 1;
        }
    }
    counts
}

fn uplinks(snapshot: &Snapshot) -> BTreeMap<&str, &str> {
    let mut of = BTreeMap::new();
    for (name, switch) in &snapshot.switches {
        for uplink in &switch.uplinks {
            of.entry(uplink.as_str()).or_insert(name.as_str());
        }
    }
    of
}

fn taps(snapshot: &Snapshot) -> BTreeMap<(Option<&str>, &str), &PacketSocket> {
    let named = snapshot.namespaces.iter();
    let named = named.map(|(name, stack)| (Some(name.as_str()), stack));
    let mut taps = BTreeMap::new();
    for (space, stack) in named.chain([(None, &snapshot.stack)]) {
        let all = stack.packet_sockets.iter().flatten();
        for socket in all.filter(|socket| socket.protocol == Some(ETH_P_ALL)) {
            if let Some(name) = &socket.interface {
                taps.entry((space, name.as_str())).or_insert(socket);
            }
        }
    }
    taps
}
