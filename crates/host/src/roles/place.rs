//! Where an interface is: what its master is, and whether packets could be routed to it.

use super::ends::{has_dead_ports, is_bare, is_dead_end};
use super::graph::{Graph, OVS_DATAPATH, beside};
use super::{Role, RoleName};
use crate::model::{Interface, Snapshot};

/// A master takes what its ports receive; a VRF only chooses the routes for it.
pub(super) fn keeps_frames(snapshot: &Snapshot, graph: &Graph, key: &str) -> bool {
    match master_kind(snapshot, graph, key) {
        Some(kind) => kind == "vrf",
        None => graph.master(key).is_none() && !is_enslaved(snapshot, key),
    }
}

/// It is a port of something that is not named (`networkctl list`).
pub(super) fn is_enslaved(snapshot: &Snapshot, key: &str) -> bool {
    let interface = snapshot.interfaces.get(key);
    interface.is_some_and(|interface| interface.properties.contains_key("enslaved"))
}

/// Through what the kernel made for itself no traffic of others goes: the loopback, and what pf and IPsec of BSD show
/// packets at (pflog(4), pfsync(4), enc(4)).
pub(super) fn is_internal(interface: &Interface) -> bool {
    let kind = interface.kind.as_deref();
    matches!(kind, Some("loopback" | "pflog" | "pfsync" | "enc"))
}

pub(super) fn is_kind(interface: &Interface, kind: &str) -> bool {
    interface.kind.as_deref() == Some(kind)
}

pub(super) fn kind_of<'a>(snapshot: &'a Snapshot, key: &str) -> &'a str {
    let interface = snapshot.interfaces.get(key);
    interface.and_then(|i| i.kind.as_deref()).unwrap_or("")
}

/// What the master of an interface is, as far as any text says; none without a master.
pub(super) fn master_kind<'a>(snapshot: &'a Snapshot, graph: &Graph, key: &str) -> Option<&'a str> {
    let said = snapshot.interfaces.get(key)?.master_kind.as_deref();
    let Some(master) = graph.master(key) else {
        return said;
    };
    if is_ovs(snapshot, master) {
        return Some("openvswitch");
    }
    let of_master = Some(kind_of(snapshot, master)).filter(|kind| !kind.is_empty());
    of_master.or(said)
}

fn is_ovs(snapshot: &Snapshot, bridge: &str) -> bool {
    let ovs = snapshot.ovs.as_ref();
    let listed = ovs.is_some_and(|ovs| ovs.bridges.contains_key(bridge));
    listed || bridge == OVS_DATAPATH
}

/// Not up, or without an address and a route, as far as is known.
pub(super) fn is_unrouted(snapshot: &Snapshot, key: &str) -> bool {
    let interface = snapshot.interfaces.get(key);
    interface.is_none_or(|i| i.up == Some(false) || is_internal(i) || is_bare(snapshot, i))
}

/// Whether packets from other interfaces of its stack could be routed to it.
pub(super) fn is_routed_to(snapshot: &Snapshot, graph: &Graph, key: &str) -> bool {
    let interface = snapshot.interfaces.get(key);
    let is_able = interface
        .is_some_and(|i| !is_kind(i, "vrf") && i.carrier != Some(false) && !is_dead_end(i));
    is_able
        && keeps_frames(snapshot, graph, key)
        && !is_unrouted(snapshot, key)
        && !has_dead_ports(snapshot, graph, key)
}

/// The interfaces among which its packets are routed: those of its namespace, or of its VRF.
pub(super) fn domain<'a>(snapshot: &'a Snapshot, key: &str) -> Domain<'a> {
    let Some(interface) = snapshot.interfaces.get(key) else {
        return (None, None);
    };
    let own = is_kind(interface, "vrf").then_some(interface.name.as_str());
    let vrf = own.or_else(|| vrf(snapshot, key, interface));
    (interface.namespace.as_deref(), vrf)
}

/// A namespace, and a VRF of it.
pub(super) type Domain<'a> = (Option<&'a str>, Option<&'a str>);

fn vrf<'a>(snapshot: &'a Snapshot, key: &str, interface: &'a Interface) -> Option<&'a str> {
    let master = interface.master.as_deref()?;
    let of_master = kind_of(snapshot, &beside(key, master));
    let said = interface.master_kind.as_deref();
    (of_master == "vrf" || said == Some("vrf")).then_some(master)
}

pub(super) fn role(role: RoleName, because: String) -> Role {
    Role { role, because }
}
