//! The rules by which an interface gets a role of its own.

use super::around::{Around, Counted};
use super::forward::{forwarder, is_routed, redirected};
use super::graph::{FAILOVER, Graph};
use super::place::{is_enslaved, is_internal, is_kind, keeps_frames, master_kind, role};
use super::{Role, RoleName};
use crate::model::{Interface, Platform, Snapshot};
use crate::names::{CUT_DESCRIPTION, QUEUEING, is_placeholder};

/// Name of a master that no text names.
const NOT_NAMED: &str = "one that is not named";

/// Facts that are counted once per host.
pub(super) const COUNTED: Counted = Counted {
    has_guest: |snapshot, key| guest_behind(snapshot, key).is_some(),
};

/// Roles that follow from the interface and its neighbours, without inheritance.
pub(super) fn own_roles(snapshot: &Snapshot, around: &Around<'_>, key: &str) -> Vec<Role> {
    let Some(interface) = snapshot.interfaces.get(key) else {
        return Vec::new();
    };
    if is_internal(interface) {
        return Vec::new();
    }
    let mut roles = Vec::new();
    roles.extend(port(snapshot, around.graph, key));
    roles.extend(guest_port(snapshot, around.graph, key));
    roles.extend(guest_uplink(snapshot, around, key));
    roles.extend(forwarder(snapshot, around, key).or_else(|| redirected(snapshot, interface)));
    roles.extend(director(snapshot, interface));
    roles.extend(underlay(around, key));
    roles.extend(tap(snapshot, around, interface));
    roles.extend(xdp(interface));
    roles
}

/// An interface that receives packets and has no transit role is an endpoint.
pub(super) fn endpoint(snapshot: &Snapshot, graph: &Graph, key: &str, roles: &mut Vec<Role>) {
    let Some(interface) = snapshot.interfaces.get(key) else {
        return;
    };
    let is_transit = roles.iter().any(|role| role.role.is_transit());
    if !is_transit
        && keeps_frames(snapshot, graph, key)
        && is_place_known(snapshot, interface)
        && !is_internal(interface)
        && interface.up != Some(false)
    {
        let why = "what it receives is not passed on";
        roles.push(role(RoleName::Endpoint, why.to_owned()));
    }
}

/// Whether a text was read that would have named a master, as ip(8) does with the index. ifconfig(8),
/// features and counters of Linux name none; an address or a route shows that it is no port. Of ESXi
/// only its own interfaces (vmk0) are ends: its NICs are there for its switches.
fn is_place_known(snapshot: &Snapshot, interface: &Interface) -> bool {
    let is_end = !interface.addresses.is_empty() || interface.default_route == Some(true);
    match snapshot.platform {
        Some(Platform::Linux) | None => interface.index.is_some() || is_end,
        Some(Platform::Esxi) => interface.name.starts_with("vmk"),
        Some(Platform::Windows) => !may_be_uplink(snapshot, interface),
        Some(_) => true,
    }
}

/// Whether an uplink may be this adapter, of which nobody read the description or its end: one that begins so, or one that
/// no adapter is.
fn may_be_uplink(snapshot: &Snapshot, interface: &Interface) -> bool {
    if interface.description.is_some() || is_kind(interface, "vethernet") {
        return false;
    }
    let begin = interface.text(CUT_DESCRIPTION).map(|rest| {
        let begin = rest.split("...").next().unwrap_or(rest);
        begin.trim_end_matches('…')
    });
    let switches = snapshot.switches.values();
    let mut uplinks = switches.flat_map(|switch| &switch.uplinks);
    uplinks.any(|uplink| match begin {
        Some(begin) => uplink.starts_with(begin),
        None => !snapshot
            .interfaces
            .values()
            .any(|other| other.name == *uplink || other.description.as_ref() == Some(uplink)),
    })
}

/// Interfaces whose role hangs on what was not read: those with a master of which no text says what
/// it is. Each with that master.
pub(super) fn undecided<'a>(
    snapshot: &'a Snapshot,
    graph: &'a Graph,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let ports = snapshot.interfaces.keys().filter_map(|key| {
        let unnamed = is_enslaved(snapshot, key).then_some(NOT_NAMED);
        Some((key.as_str(), graph.master(key).or(unnamed)?))
    });
    ports.filter(|(key, _)| master_kind(snapshot, graph, key).is_none())
}

/// Port of a bridge, of Open vSwitch, or member of a bond.
fn port(snapshot: &Snapshot, graph: &Graph, key: &str) -> Option<Role> {
    let master = graph.master(key).unwrap_or(NOT_NAMED);
    match master_kind(snapshot, graph, key)? {
        "bond" | "team" | "lagg" => Some(role(RoleName::BondMember, format!("member of {master}"))),
        "openvswitch" => Some(role(
            RoleName::BridgePort,
            format!("port of {master} (Open vSwitch)"),
        )),
        "bridge" => Some(role(RoleName::BridgePort, format!("port of {master}"))),
        FAILOVER => {
            let why = format!("virtual function of {master}, which has what it receives");
            Some(role(RoleName::BondMember, why))
        }
        _ => None,
    }
}

/// A TAP, a veth into another namespace, an epair into a jail, macvtap: a guest is behind it.
fn guest_port(snapshot: &Snapshot, graph: &Graph, key: &str) -> Option<Role> {
    let guest = guest_behind(snapshot, key)?;
    // A TAP or veth that is neither switched nor routed ends here: a VPN, a test.
    let passed_on = graph.master(key).is_some() || is_routed(snapshot, key) || guest == "macvtap";
    passed_on.then(|| role(RoleName::GuestPort, format!("leads to a guest ({guest})")))
}

/// Evidence that a guest is behind an interface.
fn guest_behind<'a>(snapshot: &'a Snapshot, key: &str) -> Option<&'a str> {
    let interface = snapshot.interfaces.get(key)?;
    if is_xen_backend(interface) {
        return Some("Xen");
    }
    match interface.kind.as_deref()? {
        "veth" => is_far(interface).then_some("veth"),
        "epair" => Some("epair"),
        "macvtap" => Some("macvtap"),
        "tap" => Some("TAP"),
        "tun" => (is_tap(interface) && !is_placeholder(&interface.name)).then_some("TAP"),
        _ => None,
    }
}

/// The host's end of a Xen guest's interface: on its bus `vif-1-0`, the first interface of guest 1. A guest's own is
/// `vif-0` there (xenbus_probe_backend.c and xenbus_probe_frontend.c of drivers/xen/xenbus).
fn is_xen_backend(interface: &Interface) -> bool {
    let driver = interface.driver.as_ref();
    let bus = driver.and_then(|driver| driver.bus.as_deref());
    bus.is_some_and(|bus| bus.starts_with("vif-") && bus.matches('-').count() == 2)
}

fn is_tap(interface: &Interface) -> bool {
    let mode = interface.tun.as_ref().and_then(|tun| tun.mode.as_deref());
    mode == Some("tap")
}

/// A veth whose other end is in another namespace.
fn is_far(interface: &Interface) -> bool {
    let peer = interface.peer.as_ref();
    peer.is_some_and(|peer| peer.namespace.is_some())
}

/// Guests hang on the same bridge, on top of it, or are reached by routing.
fn guest_uplink(snapshot: &Snapshot, around: &Around<'_>, key: &str) -> Option<Role> {
    let interface = snapshot.interfaces.get(key)?;
    if guest_behind(snapshot, key).is_some() || !is_uplink_kind(interface) {
        return None;
    }
    bridged_guests(around, key)
        .or_else(|| stacked_guests(around, key))
        .or_else(|| switched_guests(snapshot, around, key))
}

/// Bridges and tunnels are no uplinks themselves: what is beneath them is. Of what nobody said what it is, the kernel's own
/// interfaces queue nothing.
fn is_uplink_kind(interface: &Interface) -> bool {
    match interface.kind.as_deref() {
        None => interface.text(QUEUEING) != Some("noqueue"),
        Some(kind) => matches!(kind, "physical" | "bond" | "team" | "lagg" | "vlan"),
    }
}

fn bridged_guests(around: &Around<'_>, key: &str) -> Option<Role> {
    let bridge = around.graph.master(key)?;
    let number = around.guests_behind(bridge);
    (number > 0).then(|| {
        role(
            RoleName::GuestUplink,
            format!(
                "{} behind {bridge}, whose port this is",
                guests_in_words(number)
            ),
        )
    })
}

fn stacked_guests(around: &Around<'_>, key: &str) -> Option<Role> {
    let number = around.guests_on(key);
    let why = || {
        format!(
            "{} on top of it (macvlan, macvtap or ipvlan)",
            guests_in_words(number)
        )
    };
    (number > 0).then(|| role(RoleName::GuestUplink, why()))
}

/// Uplink of a Hyper-V or ESXi switch, by name or by description.
fn switched_guests(snapshot: &Snapshot, around: &Around<'_>, key: &str) -> Option<Role> {
    let interface = snapshot.interfaces.get(key)?;
    let names = [
        Some(interface.name.as_str()),
        interface.description.as_deref(),
    ];
    let by_rest = || around.switch_of_cut(interface.text(CUT_DESCRIPTION)?);
    let switch = around.switch_of(&names).or_else(by_rest)?;
    Some(role(
        RoleName::GuestUplink,
        format!("uplink of the virtual switch {switch}"),
    ))
}

fn guests_in_words(number: usize) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} guest port{s}")
}

fn director(snapshot: &Snapshot, interface: &Interface) -> Option<Role> {
    let services = snapshot.stack_of(interface).ipvs.as_ref()?.len();
    let s = if services == 1 { "" } else { "s" };
    (services > 0 && interface.up != Some(false)).then(|| {
        role(
            RoleName::IpvsDirector,
            format!("{services} IPVS service{s}"),
        )
    })
}

fn underlay(around: &Around<'_>, key: &str) -> Option<Role> {
    let tunnel = around.tunnel_over(key)?;
    Some(role(
        RoleName::TunnelUnderlay,
        format!("outer packets of {tunnel} go through it"),
    ))
}

fn tap(snapshot: &Snapshot, around: &Around<'_>, interface: &Interface) -> Option<Role> {
    let space = interface.namespace.as_deref();
    // One whose namespace has no stack of its own is of the host's.
    let space = space.filter(|name| snapshot.namespaces.contains_key(*name));
    let socket = around.tap_of(space, &interface.name)?;
    let who = socket.process.as_deref().unwrap_or("a process");
    Some(role(
        RoleName::CaptureTap,
        format!("{who} captures everything on it"),
    ))
}

fn xdp(interface: &Interface) -> Option<Role> {
    let mode = &interface.xdp.as_ref()?.mode;
    Some(role(RoleName::XdpAttached, format!("XDP program, {mode}")))
}
