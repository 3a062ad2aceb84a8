//! Which interfaces carry the outer packets of a tunnel: computed here alone, of a host that was
//! looked at and of one that was saved.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::model::{Interface, Snapshot, Stack, Tunnel};
use crate::names::LINK_NAMESPACE;
use crate::network::{Network, bits, network, networks, within};

/// Sets the underlay of each tunnel that has none yet; nothing where it is not known.
pub(crate) fn find(snapshot: &mut Snapshot) {
    let places = places(snapshot);
    let interfaces = snapshot.interfaces.iter();
    let found: Vec<(String, Vec<String>)> = interfaces
        .filter_map(|(key, interface)| Some((key.clone(), beneath(&places, interface)?)))
        .collect();
    for (key, names) in found {
        let interface = snapshot.interfaces.get_mut(&key);
        if let Some(tunnel) = interface.and_then(|interface| interface.tunnel.as_mut()) {
            tunnel.underlay = names;
        }
    }
}

/// By the interface that the tunnel is bound to, the routes to its other ends, or the interface
/// that has its own outer address.
fn beneath(places: &Places<'_>, interface: &Interface) -> Option<Vec<String>> {
    let tunnel = interface.tunnel.as_ref()?;
    let is_elsewhere = interface.properties.contains_key(LINK_NAMESPACE);
    if !tunnel.underlay.is_empty() || is_elsewhere {
        return None;
    }
    if let Some(parent) = &interface.parent {
        return Some(vec![parent.clone()]);
    }
    let place = places.get(&interface.namespace.as_deref())?;
    let mut names = place.by_routes(interface, tunnel);
    if names.is_empty() {
        names.extend(place.by_address(tunnel));
    }
    // A route into the tunnel itself would be a loop, not an underlay.
    names.remove(interface.name.as_str());
    (!names.is_empty()).then(|| names.into_iter().map(str::to_owned).collect())
}

/// Where packets of each namespace that has interfaces go.
type Places<'a> = BTreeMap<Option<&'a str>, Place<'a>>;

fn places(snapshot: &Snapshot) -> Places<'_> {
    let mut places = Places::new();
    for interface in snapshot.interfaces.values() {
        let space = interface.namespace.as_deref();
        let place = places.entry(space);
        let place = place.or_insert_with(|| Place::routed(snapshot.stack_of(interface)));
        place.add(interface);
    }
    if let Some(host) = places.get_mut(&None) {
        host.add_ovs(snapshot);
    }
    places
}

/// Ways out of a namespace, each found without a look at all of the others: a host may have as many tunnels as
/// addresses.
#[derive(Default)]
struct Place<'a> {
    /// By network: the metric, and what leads there.
    ways: BTreeMap<Network, (u32, Vec<&'a str>)>,
    /// Interfaces by their own addresses.
    own: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Those with a default route, the second at most.
    by_default: Vec<&'a str>,
    /// What leads to the other ends of ports of Open vSwitch, by their kind. It sends to all of them by one
    /// interface of each kind (`vxlan_sys_4789`, `genev_sys_6081`).
    ovs: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Place<'a> {
    fn routed(stack: &'a Stack) -> Self {
        let mut place = Self::default();
        for route in &stack.routes {
            let names: Vec<&str> = route.interfaces.iter().map(String::as_str).collect();
            for network in networks(&route.to) {
                place.add_way(network, route.metric.unwrap_or(0), names.clone());
            }
        }
        place
    }

    fn add(&mut self, interface: &'a Interface) {
        for address in &interface.addresses {
            if let Some(network) = network(address) {
                self.add_way(network, 0, vec![&interface.name]);
            }
            let own = address.split('/').next().unwrap_or_default();
            self.own.entry(own).or_default().insert(&interface.name);
        }
        if interface.default_route == Some(true) && self.by_default.len() < 2 {
            self.by_default.push(&interface.name);
        }
    }

    /// The first of the lowest metric stays: a route before an address.
    fn add_way(&mut self, network: Network, metric: u32, names: Vec<&'a str>) {
        let known = self.ways.get(&network);
        if known.is_none_or(|(known, _)| metric < *known) {
            self.ways.insert(network, (metric, names));
        }
    }

    fn add_ovs(&mut self, snapshot: &'a Snapshot) {
        let bridges = snapshot.ovs.iter().flat_map(|ovs| ovs.bridges.values());
        for port in bridges.flat_map(|bridge| bridge.ports.values()) {
            let remote = port.remote.as_ref().and_then(|remote| remote.parse().ok());
            if let (Some(kind), Some(remote)) = (&port.kind, remote) {
                let names = self.way_to(remote);
                self.ovs.entry(kind).or_default().extend(names);
            }
        }
    }

    fn by_routes(&self, interface: &Interface, tunnel: &Tunnel) -> BTreeSet<&'a str> {
        let remote = tunnel.remote.as_ref();
        let remote = remote.and_then(|remote| remote.parse().ok());
        let own = remote.map(|remote| self.way_to(remote)).into_iter();
        let kind = interface
            .kind
            .as_deref()
            .filter(|_| tunnel.external == Some(true));
        let of_ovs = kind.and_then(|kind| self.ovs.get(kind)).into_iter();
        own.flatten().chain(of_ovs.flatten().copied()).collect()
    }

    /// The most particular way that is known: a network that an interface has an address in, or a
    /// route; the only interface with a default route, where the routes themselves were not read.
    fn way_to(&self, remote: IpAddr) -> Vec<&'a str> {
        // A group is reached by the interface that the tunnel is bound to.
        if remote.is_multicast() {
            return Vec::new();
        }
        let lengths = (0..=bits(remote)).rev();
        let mut ways = lengths.filter_map(|length| {
            let network = within(remote, length)?;
            self.ways.get(&network)
        });
        let best = ways.next().map(|(_, names)| names.clone());
        best.unwrap_or_else(|| match self.by_default.as_slice() {
            [only] => vec![*only],
            _ => Vec::new(),
        })
    }

    fn by_address(&self, tunnel: &Tunnel) -> BTreeSet<&'a str> {
        let local = tunnel.local.as_deref();
        let own = local.and_then(|local| self.own.get(local));
        own.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Route;

    fn vxlan(tunnel: Tunnel) -> Interface {
        Interface {
            name: "vxlan0".to_owned(),
            kind: Some("vxlan".to_owned()),
            tunnel: Some(tunnel),
            ..Interface::default()
        }
    }

    fn nic(name: &str, address: &str) -> Interface {
        Interface {
            name: name.to_owned(),
            addresses: vec![address.to_owned()],
            ..Interface::default()
        }
    }

    fn underlay(tunnel: Tunnel, routes: &[(&str, &str, Option<u32>)]) -> Vec<String> {
        let mut snapshot = Snapshot::default();
        for interface in [
            vxlan(tunnel),
            nic("eth0", "192.0.2.1/24"),
            nic("eth1", "198.51.100.1/24"),
        ] {
            let name = interface.name.clone();
            snapshot.interfaces.insert(name, Box::new(interface));
        }
        let routes = routes.iter().map(|(to, by, metric)| Route {
            to: (*to).to_owned(),
            interfaces: vec![(*by).to_owned()],
            metric: *metric,
        });
        snapshot.stack.routes = routes.collect();
        find(&mut snapshot);
        let found = snapshot.interfaces.remove("vxlan0").and_then(|i| i.tunnel);
        found.map(|tunnel| tunnel.underlay).unwrap_or_default()
    }

    fn to(remote: &str) -> Tunnel {
        Tunnel {
            remote: Some(remote.to_owned()),
            ..Tunnel::default()
        }
    }

    #[test]
    fn the_most_particular_way_carries_the_tunnel() {
        let default = ("default", "eth0", Some(100));
        assert_eq!(underlay(to("198.51.100.9"), &[default]), ["eth1"]);
        assert_eq!(underlay(to("203.0.113.9"), &[default]), ["eth0"]);
        let own = ("203.0.113.0/24", "eth1", None);
        assert_eq!(underlay(to("203.0.113.9"), &[default, own]), ["eth1"]);
        let nearer = ("default", "eth1", Some(50));
        assert_eq!(underlay(to("203.0.113.9"), &[default, nearer]), ["eth1"]);
    }

    #[test]
    fn without_a_way_the_own_address_tells_and_else_nothing_does() {
        let bound = Tunnel {
            local: Some("192.0.2.1".to_owned()),
            ..to("203.0.113.9")
        };
        assert_eq!(underlay(bound, &[]), ["eth0"]);
        assert!(underlay(to("203.0.113.9"), &[]).is_empty());
        assert!(underlay(to("2001:db8::1"), &[]).is_empty());
        // A group has no route of its own.
        let group = ("default", "eth0", None);
        assert!(underlay(to("239.1.1.1"), &[group]).is_empty());
    }
}
