//! Which interfaces carry the outer packets of a tunnel: computed here alone, of a host that was
//! looked at and of one that was saved.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::model::{Interface, Route, Snapshot, Tunnel};
use crate::names::LINK_NAMESPACE;
use crate::roles::stack_of;

/// Sets the underlay of each tunnel that has none yet; nothing where it is not known.
pub(crate) fn find(snapshot: &mut Snapshot) {
    let keys = snapshot.interfaces.keys();
    let found: Vec<(String, Vec<String>)> = keys
        .filter_map(|key| Some((key.clone(), beneath(snapshot, key)?)))
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
fn beneath(snapshot: &Snapshot, key: &str) -> Option<Vec<String>> {
    let interface = snapshot.interfaces.get(key)?;
    let tunnel = interface.tunnel.as_ref()?;
    let is_elsewhere = interface.properties.contains_key(LINK_NAMESPACE);
    if !tunnel.underlay.is_empty() || is_elsewhere {
        return None;
    }
    if let Some(parent) = &interface.parent {
        return Some(vec![parent.clone()]);
    }
    let place = Place {
        snapshot,
        interface,
    };
    let mut names = place.by_routes(&remotes(snapshot, interface, tunnel));
    if names.is_empty() {
        names = place.by_address(tunnel);
    }
    // A route into the tunnel itself would be a loop, not an underlay.
    names.remove(&interface.name);
    (!names.is_empty()).then(|| names.into_iter().collect())
}

/// Where the packets go; those of Open vSwitch, which sends to all of its ports' other ends by one
/// interface of each kind (`vxlan_sys_4789`, `genev_sys_6081`).
fn remotes(snapshot: &Snapshot, interface: &Interface, tunnel: &Tunnel) -> Vec<IpAddr> {
    let own = tunnel
        .remote
        .iter()
        .filter_map(|remote| remote.parse().ok());
    let mut all: Vec<IpAddr> = own.collect();
    if tunnel.external == Some(true) && interface.namespace.is_none() {
        let bridges = snapshot.ovs.iter().flat_map(|ovs| ovs.bridges.values());
        let ports = bridges.flat_map(|bridge| bridge.ports.values());
        let alike = ports.filter(|port| port.kind.is_some() && port.kind == interface.kind);
        all.extend(alike.filter_map(|port| port.remote.as_ref()?.parse::<IpAddr>().ok()));
    }
    all
}

/// The neighbours of a tunnel.
struct Place<'a> {
    snapshot: &'a Snapshot,
    interface: &'a Interface,
}

impl<'a> Place<'a> {
    fn beside(&self) -> impl Iterator<Item = &'a Interface> {
        let own = &self.interface.namespace;
        let all = self.snapshot.interfaces.values();
        all.filter(move |other| other.namespace == *own)
    }

    fn by_routes(&self, remotes: &[IpAddr]) -> BTreeSet<String> {
        let ways = remotes.iter().filter_map(|remote| self.way_to(*remote));
        ways.flatten().collect()
    }

    /// The most particular way that is known: a network that an interface has an address in, or a
    /// route.
    fn way_to(&self, remote: IpAddr) -> Option<Vec<String>> {
        // A group is reached by the interface that the tunnel is bound to.
        if remote.is_multicast() {
            return None;
        }
        let addressed = self.beside().flat_map(|interface| {
            let ways = interface.addresses.iter().filter_map(move |address| {
                let length = holds(address, remote)?;
                Some((length, None, vec![interface.name.clone()]))
            });
            ways.collect::<Vec<_>>()
        });
        let stack = stack_of(self.snapshot, self.interface);
        let routed = stack.routes.iter().filter_map(|route| {
            let length = leads_to(route, remote)?;
            Some((length, route.metric, route.interfaces.clone()))
        });
        let best = routed
            .chain(addressed)
            .min_by_key(|(length, metric, _)| (u8::MAX - length, metric.unwrap_or(0)));
        best.map(|(.., names)| names).or_else(|| self.by_default())
    }

    /// The only interface with a default route, where the routes themselves were not read.
    fn by_default(&self) -> Option<Vec<String>> {
        let mut carrying = self
            .beside()
            .filter(|interface| interface.default_route == Some(true));
        let only = carrying.next().filter(|_| carrying.next().is_none())?;
        Some(vec![only.name.clone()])
    }

    fn by_address(&self, tunnel: &Tunnel) -> BTreeSet<String> {
        let Some(local) = &tunnel.local else {
            return BTreeSet::new();
        };
        let own = self.beside().filter(|interface| {
            let mut addresses = interface.addresses.iter();
            addresses.any(|address| address.split('/').next() == Some(local))
        });
        own.map(|interface| interface.name.clone()).collect()
    }
}

/// How long the prefix of a route is, if it leads there.
fn leads_to(route: &Route, remote: IpAddr) -> Option<u8> {
    match route.to.as_str() {
        "default" => Some(0),
        network => holds(network, remote),
    }
}

/// How long the prefix of a network is, if it holds an address.
fn holds(network: &str, address: IpAddr) -> Option<u8> {
    let (network, length) = network.split_once('/')?;
    let length: u8 = length.parse().ok()?;
    let same = match (network.parse().ok()?, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let shift = 32_u32.checked_sub(length.into())?;
            shifted(network.to_bits().into(), shift) == shifted(address.to_bits().into(), shift)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let shift = 128_u32.checked_sub(length.into())?;
            shifted(network.to_bits(), shift) == shifted(address.to_bits(), shift)
        }
        _ => false,
    };
    same.then_some(length)
}

fn shifted(bits: u128, shift: u32) -> u128 {
    bits.checked_shr(shift).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            snapshot.interfaces.insert(name, interface);
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
