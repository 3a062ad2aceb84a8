//! Values that no single text has, derived from several.

use std::collections::BTreeMap;

use crate::model::{Driver, Interface, Platform, Snapshot, Stack, Tun, Unread, VirtualSwitch};
use crate::names::{BUS, QUEUEING, VIRTIO, is_placeholder, of_key};
use crate::roles::{beside, outer_ports};
use crate::text::linux::files::unnamed;
use crate::underlay;

/// Drivers of the kernel's own interfaces, by `ethtool -i`, and the kind that they stand for.
const KINDS: &[(&str, &str)] = &[
    ("802.1Q VLAN Support", "vlan"),
    ("bonding", "bond"),
    ("bridge", "bridge"),
    ("dummy", "dummy"),
    ("ipvlan", "ipvlan"),
    ("macvlan", "macvlan"),
    ("openvswitch", "openvswitch"),
    ("team", "team"),
    ("tun", "tun"),
    ("veth", "veth"),
    ("vxlan", "vxlan"),
    ("wireguard", "wireguard"),
    // A NIC in front of two others (drivers/net/net_failover.c).
    ("net_failover", "physical"),
];

/// What `ethtool -i` prints where there is no bus.
const NO_BUS: &[&str] = &["", "N/A", "n/a", "tap", "tun"];

/// Derives values from several texts.
pub(super) fn derive(snapshot: &mut Snapshot) {
    for (key, interface) in &mut snapshot.interfaces {
        name(key, interface);
        virtio(interface);
        kind(interface);
    }
    snapshot.interfaces.retain(|_, one| !is_only_held(one));
    members(snapshot);
    ports(snapshot);
    masters(snapshot);
    let is_linux = snapshot.platform == Some(Platform::Linux);
    for interface in snapshot.interfaces.values_mut() {
        if is_linux {
            named_tap(interface);
        }
        tap(interface);
    }
    bridges(snapshot);
    packet_sockets(snapshot);
    only_uplink(snapshot);
    underlay::find(snapshot);
}

fn name(key: &str, interface: &mut Interface) {
    let (namespace, name) = of_key(key);
    if interface.name.is_empty() {
        name.clone_into(&mut interface.name);
    }
    if interface.namespace.is_none() {
        interface.namespace = namespace.map(str::to_owned);
    }
}

/// Whether nothing but a process that holds the device speaks of it. A process may hold devices of a namespace that is
/// neither its own nor this one, and its `fdinfo` has their names only: a list of links has those that are here.
fn is_only_held(interface: &Interface) -> bool {
    let held = |tun: &Tun| Interface {
        name: interface.name.clone(),
        namespace: interface.namespace.clone(),
        tun: Some(Tun {
            owners: tun.owners.clone(),
            ..Tun::default()
        }),
        ..Interface::default()
    };
    interface
        .tun
        .as_ref()
        .is_some_and(|tun| tun.owners.is_some() && *interface == held(tun))
}

/// The driver of what is on virtio's bus, and of an interface that has LRO as virtio_net of Linux before 5.15 alone has: with a
/// checksum of received frames that is always on, and without VLANs. That LRO is the hypervisor's.
fn virtio(interface: &mut Interface) {
    if interface.driver.is_some()
        || interface
            .kind
            .as_deref()
            .is_some_and(|kind| kind != "physical")
    {
        return;
    }
    let has = |name: &str, active: bool, fixed: bool| {
        let feature = interface.features.get(name);
        feature.is_some_and(|feature| {
            feature.active == active && (!fixed || feature.fixed == Some(true))
        })
    };
    let looks_so = || {
        has("large-receive-offload", true, false)
            && has("rx-checksumming", true, true)
            && has("rx-vlan-offload", false, true)
            && has("tx-vlan-offload", false, true)
    };
    if interface.text(BUS) == Some(VIRTIO) || looks_so() {
        interface.driver = Some(Driver {
            name: "virtio_net".to_owned(),
            ..Driver::default()
        });
    }
}

/// A driver on a bus makes it a device, if nothing says that it is something else. The kernel gives
/// the name `lo` to the loopback of each namespace (drivers/net/loopback.c), and to nothing else; on
/// BSD it is `lo0`.
fn kind(interface: &mut Interface) {
    if interface.kind.is_none() && matches!(interface.name.as_str(), "lo" | "lo0") {
        interface.kind = Some("loopback".to_owned());
    }
    let (None, Some(driver)) = (&interface.kind, &interface.driver) else {
        return;
    };
    let known = KINDS.iter().find(|(name, _)| *name == driver.name);
    let bus = driver.bus.as_deref().unwrap_or_default();
    let kind = match known {
        Some((_, kind)) => *kind,
        None if NO_BUS.contains(&bus) => return,
        None => "physical",
    };
    interface.kind = Some(kind.to_owned());
}

/// Bridges, bonds and laggs that list their members (`member:`, `laggport:`, `brctl show`).
fn members(snapshot: &mut Snapshot) {
    let mut masters = Vec::new();
    for (key, interface) in &snapshot.interfaces {
        let bridge = interface.bridge.iter().flat_map(|bridge| &bridge.members);
        let bond = interface.bond.iter().flat_map(|bond| &bond.members);
        for member in bridge.chain(bond) {
            masters.push((beside(key, member), interface.name.clone()));
        }
    }
    for (member, master) in masters {
        set_master(snapshot, &member, &master);
    }
}

fn set_master(snapshot: &mut Snapshot, member: &str, master: &str) {
    let interface = snapshot.interface_mut(member);
    match &interface.master {
        None => interface.master = Some(master.to_owned()),
        Some(known) if known == master => {}
        Some(known) => {
            let why = format!(
                "{master} lists it as a member, and it says itself that its master is {known}: the \
                 latter is kept; were the texts taken at different times?"
            );
            snapshot.unread.push(Unread {
                what: format!("interfaces {member} master"),
                why,
            });
        }
    }
}

/// What a port says of its master holds of the master, if that says nothing itself.
fn masters(snapshot: &mut Snapshot) {
    let said = snapshot.interfaces.iter().filter_map(|(key, port)| {
        let master = beside(key, port.master.as_ref()?);
        Some((master, port.master_kind.clone()?))
    });
    let kinds: BTreeMap<String, String> = said.collect();
    // Of several ports, what one says of the master holds of all.
    for (key, port) in &mut snapshot.interfaces {
        let master = port.master.as_ref().map(|master| beside(key, master));
        let known = master.and_then(|master| kinds.get(&master));
        if port.master_kind.is_none() {
            port.master_kind = known.cloned();
        }
    }
    for (master, kind) in kinds {
        if let Some(interface) = snapshot.interfaces.get_mut(&master) {
            let kind = if is_netvsc(interface, &kind) {
                "physical".to_owned()
            } else {
                kind
            };
            interface.kind.get_or_insert(kind);
        }
    }
}

/// A master whose port has the flag SLAVE, and which has not the flag MASTER itself, though ip(8) printed its flags:
/// netvsc of Hyper-V (`netvsc_vf_join` of drivers/net/hyperv/netvsc_drv.c).
fn is_netvsc(master: &Interface, kind: &str) -> bool {
    kind == "bond" && master.index.is_some() && master.properties.contains_key(QUEUEING)
}

/// Ports that managers of guests name so, and nothing else is: `vnet0` of libvirt (`VIR_NET_GENERATED_VNET_PREFIX`, kept
/// for it), `tap4f1a2b` of OpenStack, `tap100i0` of Proxmox, `tap0` of most others.
fn named_tap(interface: &mut Interface) {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let name = interface.name.as_str();
    let is_vnet = name.strip_prefix("vnet").is_some_and(number);
    let is_named = name.starts_with("tap") || is_vnet || is_placeholder(name);
    let is_port = interface.master.is_some() && interface.master_kind.as_deref() != Some("vrf");
    if interface.kind.is_none() && interface.driver.is_none() && is_named && is_port {
        interface.kind = Some("tun".to_owned());
    }
}

/// Masters that have no queue, no flag of a bond or VRF, and a guest's interface or one end of a pair as a port: of what
/// can be a master that is a bridge. (`ip link` without `-d` names no kinds.)
fn bridges(snapshot: &mut Snapshot) {
    let ports = snapshot.interfaces.iter();
    let ports = ports.filter(|(_, port)| {
        let is_guest = matches!(port.kind.as_deref(), Some("tun" | "veth"));
        is_guest || port.peer.is_some()
    });
    let masters: Vec<String> = ports
        .filter_map(|(key, port)| Some(beside(key, port.master.as_ref()?)))
        .collect();
    for master in masters {
        if let Some(interface) = snapshot.interfaces.get_mut(&master)
            && interface.text(QUEUEING) == Some("noqueue")
            && interface.mac.is_some()
        {
            interface.kind.get_or_insert_with(|| "bridge".to_owned());
        }
    }
}

/// Whether a `tun` is a TUN or a TAP. iproute2 prints the mode since Linux 4.17; `bus-info` of
/// `ethtool -i` has always been it (tun_get_drvinfo of drivers/net/tun.c), and only Ethernet devices
/// become ports (br_add_if of net/bridge/br_if.c; bonding and Open vSwitch ask the same).
fn tap(interface: &mut Interface) {
    let tun = interface.tun.as_ref();
    let is_known = tun.is_some_and(|tun| tun.mode.is_some());
    if interface.kind.as_deref() != Some("tun") || is_known {
        return;
    }
    let driver = interface.driver.as_ref();
    let is_port = interface.master.is_some() && interface.master_kind.as_deref() != Some("vrf");
    let mode = match driver.and_then(|driver| driver.bus.as_deref()) {
        Some(mode @ ("tap" | "tun")) => mode,
        _ if is_port => "tap",
        _ => return,
    };
    interface.tun.get_or_insert_default().mode = Some(mode.to_owned());
}

/// Ports of Open vSwitch that are interfaces of the host and have no other master.
fn ports(snapshot: &mut Snapshot) {
    let bridges = snapshot.ovs.iter().flat_map(|ovs| &ovs.bridges);
    let ports = bridges.flat_map(|(bridge, about)| {
        let ports = outer_ports(bridge, about);
        ports.map(move |port| (port.clone(), bridge.clone()))
    });
    let masters: BTreeMap<String, String> = ports.collect();
    for (port, bridge) in masters {
        if let Some(interface) = snapshot.interfaces.get_mut(&port) {
            interface.master.get_or_insert(bridge);
        }
    }
}

/// An external switch of Hyper-V has an adapter of the host: where the listing left that out, and there is one switch and one adapter,
/// it is this one.
fn only_uplink(snapshot: &mut Snapshot) {
    let mut adapters = snapshot.interfaces.values().filter(|one| is_adapter(one));
    let (Some(adapter), None) = (adapters.next(), adapters.next()) else {
        return;
    };
    let name = adapter.name.clone();
    let is_external = |switch: &&mut VirtualSwitch| switch.kind.as_deref() == Some("external");
    let mut external = snapshot.switches.values_mut().filter(is_external);
    if let (Some(switch), None) = (external.next(), external.next())
        && switch.uplinks.is_empty()
        && switch.product.as_deref() == Some("hyper-v")
    {
        switch.uplinks = vec![name];
    }
}

/// Not one that Windows makes for a switch, a tunnel or itself.
fn is_adapter(interface: &Interface) -> bool {
    const PSEUDO: [&str; 8] = [
        "loopback",
        "teredo",
        "isatap",
        "6to4",
        "bluetooth",
        "wi-fi direct",
        "wan miniport",
        "kernel debug",
    ];
    let names = [Some(&interface.name), interface.description.as_ref()];
    let is_pseudo = names.into_iter().flatten().any(|name| {
        let name = name.to_ascii_lowercase();
        PSEUDO.iter().any(|pseudo| name.contains(pseudo))
    });
    interface.kind.is_none() && !is_pseudo
}

/// `/proc/net/packet` tells an index, another text its name.
fn packet_sockets(snapshot: &mut Snapshot) {
    let names = unnamed_interfaces(snapshot, None);
    name_sockets(&mut snapshot.stack, &names);
    let spaces: Vec<String> = snapshot.namespaces.keys().cloned().collect();
    for space in spaces {
        let names = unnamed_interfaces(snapshot, Some(&space));
        if let Some(stack) = snapshot.namespaces.get_mut(&space) {
            name_sockets(stack, &names);
        }
    }
}

/// What stands for the interfaces of a namespace by their index, and their names; without an index
/// that two have: of texts of two times, nobody knows which is meant.
fn unnamed_interfaces(snapshot: &Snapshot, space: Option<&str>) -> BTreeMap<String, String> {
    let mut names: BTreeMap<u32, Option<&str>> = BTreeMap::new();
    let all = snapshot.interfaces.values();
    for interface in all.filter(|interface| interface.namespace.as_deref() == space) {
        if let Some(index) = interface.index {
            let name = Some(interface.name.as_str());
            let known = names.entry(index).or_insert(name);
            *known = known.filter(|known| Some(*known) == name);
        }
    }
    let names = names.into_iter();
    let known = names.filter_map(|(index, name)| Some((unnamed(index), name?.to_owned())));
    known.collect()
}

fn name_sockets(stack: &mut Stack, names: &BTreeMap<String, String>) {
    let sockets = stack.packet_sockets.iter_mut().flatten();
    for interface in sockets.filter_map(|socket| socket.interface.as_mut()) {
        if let Some(name) = names.get(interface) {
            interface.clone_from(name);
        }
    }
}
