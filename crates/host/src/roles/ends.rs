//! Interfaces to which nothing is routed, although they are up: behind them is no network, or they have no address and no route.

use super::graph::Graph;
use crate::model::{Interface, Platform, Snapshot, Stack};
use crate::names::{NICS, is_placeholder_of, numbered};
use crate::network::{Network, any, holds, network, without_zone};

/// Kinds whose transmit function drops what is sent to them (drivers/net: dummy.c, nlmon.c, vsockmon.c), takes only what
/// tc redirects (ifb.c), or carries no IP (can).
const DEAD_ENDS: [&str; 7] = ["dummy", "ifb", "nlmon", "vsockmon", "can", "vcan", "vxcan"];

/// Names that Kubernetes gives its dummies: kube-proxy with IPVS, and NodeLocal DNSCache.
const DUMMIES: [&str; 2] = ["kube-ipvs0", "nodelocaldns"];

/// Whether nothing that is routed to it arrives anywhere: a dummy has addresses of services, and no network behind it. Where
/// no text says what it is, its name does.
pub(super) fn is_dead_end(interface: &Interface) -> bool {
    let driver = interface.driver.as_ref();
    let driver = driver.map(|driver| driver.name.as_str());
    match (interface.kind.as_deref(), driver) {
        (None | Some("physical"), Some(driver)) => DEAD_ENDS.contains(&driver),
        (None, None) => is_named_so(&interface.name),
        (kind, _) => kind.is_some_and(|kind| DEAD_ENDS.contains(&kind)),
    }
}

/// The kernel's own name and a number: `dummy0`.
fn is_named_so(name: &str) -> bool {
    let kind = name.trim_end_matches(|last: char| last.is_ascii_digit());
    DUMMIES.contains(&name) || kind.len() < name.len() && DEAD_ENDS.contains(&kind)
}

/// Whether it is a bridge whose ports are all down or without a carrier: older kernels show a carrier at it all the same.
pub(super) fn has_dead_ports(snapshot: &Snapshot, graph: &Graph, key: &str) -> bool {
    let mut ports = graph.ports(key).peekable();
    let is_dead = |port: &str| {
        let interface = snapshot.interfaces.get(port);
        let is_down = interface.is_some_and(|i| i.up == Some(false) || i.carrier == Some(false));
        is_down || is_placeholder_of(key, port)
    };
    let interface = snapshot.interfaces.get(key);
    let is_bridge = interface.is_some_and(|one| one.kind.as_deref() == Some("bridge"));
    is_bridge && ports.peek().is_some() && ports.all(is_dead)
}

/// Whether it is a NIC without an address, where the addresses of its stack were read, and without a route: no neighbour sends
/// it anything to pass on, and nothing is routed to it. What leads to containers and guests needs no address.
pub(super) fn is_bare(snapshot: &Snapshot, interface: &Interface) -> bool {
    let stack = snapshot.stack_of(interface);
    is_nic(interface)
        && is_place_shown(snapshot, interface)
        && interface.default_route != Some(true)
        && are_addresses_read(snapshot, interface)
        && !is_way(stack, interface)
        && match interface.addresses.as_slice() {
            [] => true,
            all => all.iter().all(|one| is_link_local(one)) && are_of_no_use(all, stack),
        }
}

/// Begins of other names of NICs: by the hardware address, and of biosdevname(1).
const OTHERS: [&str; 2] = ["enx", "p"];

/// Whether it is a device of its own, by its kind, or by its name where no text says the kind.
fn is_nic(interface: &Interface) -> bool {
    let name = interface.name.as_str();
    let is_named_so = || numbered(name, &[NICS, &OTHERS]).any(|number| !number.contains('.'));
    match interface.kind.as_deref() {
        Some(kind) => kind == "physical",
        None => interface.driver.is_some() || is_named_so(),
    }
}

/// ip(8) shows the index, and with it what is beneath or above: what ifconfig(8) of Linux shows may be a port or carry VLANs.
fn is_place_shown(snapshot: &Snapshot, interface: &Interface) -> bool {
    snapshot.platform != Some(Platform::Linux) || interface.index.is_some()
}

/// The loopback of a stack has an address of each protocol: a text that names both names those of all interfaces. Without one of
/// IPv6 there may be none (`disable_ipv6`), or nobody asked for it (`ip -4 addr`): then its forwarding has to be off.
fn are_addresses_read(snapshot: &Snapshot, interface: &Interface) -> bool {
    let stack = snapshot.stack_of(interface);
    let mut all = snapshot.interfaces.values();
    let loopback = all.find(|other| {
        other.kind.as_deref() == Some("loopback") && other.namespace == interface.namespace
    });
    let has = |v6| loopback.is_some_and(|lo| lo.addresses.iter().any(|one| is_v6(one) == v6));
    has(false) && (has(true) || is_v6_off(stack))
}

fn is_v6(text: &str) -> bool {
    text.contains(':')
}

/// Whether the stack routes no IPv6.
fn is_v6_off(stack: &Stack) -> bool {
    let is_off = |sysctl| stack.sysctls.get(sysctl).is_some_and(|value| value == "0");
    is_off("net.ipv6.conf.all.forwarding") || is_off("net.inet6.ip6.forwarding")
}

/// Whether a route leaves by the interface, but for that of its link.
fn is_way(stack: &Stack, interface: &Interface) -> bool {
    let mut own = stack.routes.iter();
    own.any(|route| route.interfaces.contains(&interface.name) && !is_link_local(&route.to))
}

/// Each interface that is up has an address of its link (RFC 4291 section 2.8), which routers of IPv6 may route by: not where
/// forwarding is off, or where the routes of IPv6 were read and none leaves by it. Of IPv4 the routes have to be known.
fn are_of_no_use(addresses: &[String], stack: &Stack) -> bool {
    let is_read = |v6| stack.routes.iter().any(|route| is_v6(&route.to) == v6);
    let has_v6 = addresses.iter().any(|one| is_v6(one));
    is_read(false) && (!has_v6 || is_v6_off(stack) || is_read(true))
}

/// RFC 4291 section 2.5.6; RFC 3927 section 2.7, by which no router passes on what is from or for such an address.
const LINK_LOCAL: [&str; 2] = ["fe80::/10", "169.254.0.0/16"];

fn is_link_local(text: &str) -> bool {
    let bare = without_zone(text);
    let inner: Option<Network> = any(&bare);
    let mut known = LINK_LOCAL.iter().filter_map(|one| network(one));
    known.any(|outer| inner.is_some_and(|inner| holds(outer, inner)))
}
