//! Interfaces as rtnetlink has them, in the terms of the model.

use super::identity::Identity;
use super::namespaces::Spaces;
use super::peers::{self, Ids};
use super::unread::{Of, Unreads};
use super::{device, napi};
use crate::model::{
    self, Bond, Bridge, BridgePort, GsoLimits, Interface, Setting, Tun, Tunnel, Vlan, Xdp,
};
use crate::names::network_of;
use coalescope_netlink::Error;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::{
    Address, Details, Limits, Link, Port, Route, Tunnel as Linux, VlanProtocol, XdpMode,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// What is asked, all in one namespace.
#[derive(Debug)]
pub(super) struct Handles {
    pub(super) route: Route,
    /// `None` where the kernel is older than it.
    pub(super) ethtool: Option<Ethtool>,
}

impl Handles {
    pub(super) fn open(unread: &mut Unreads, inside: &str) -> Result<Self, Error> {
        let route = Route::open()?;
        let ethtool = Ethtool::open();
        if let Err(error) = &ethtool {
            let what = format!("ethtool (offloads, coalescing, statistics){inside}");
            unread.note(what, error);
        }
        Ok(Self {
            route,
            ethtool: ethtool.ok(),
        })
    }
}

/// State that is read once for all interfaces of a namespace.
struct Common {
    names: BTreeMap<u32, String>,
    addresses: Vec<Address>,
    default_routes: Option<BTreeSet<u32>>,
    napi: napi::Instances,
    ids: Ids,
}

/// Where the namespace is among the others.
pub(super) struct Around<'a> {
    pub(super) spaces: &'a Spaces,
    pub(super) own: Option<Identity>,
    /// ` in NAME`, if this is not the main one.
    pub(super) inside: &'a str,
}

/// All interfaces of the namespace, their names by number, and the routes to tunnels' other ends.
pub(super) fn read(
    handles: &Handles,
    around: &Around<'_>,
    unread: &mut Unreads,
) -> (Vec<Interface>, BTreeMap<u32, String>, Vec<model::Route>) {
    let inside = around.inside;
    let what = format!("interfaces{inside}");
    let links = note(handles.route.links(), &what, unread).unwrap_or_default();
    let common = common(handles, &links, around, unread);
    let interfaces = links.iter().map(|link| {
        let of = Of {
            interface: &link.name,
            inside,
        };
        for text in &link.undecoded {
            unread.note_of("an attribute", of, text);
        }
        one(handles, link, &common, of, unread)
    });
    let interfaces = interfaces.collect();
    let routes = tunnels(&links).filter_map(|remote| route(&handles.route, remote, &common.names));
    let routes = routes.collect();
    (interfaces, common.names, routes)
}

/// The other ends of tunnels, each once.
fn tunnels(links: &[Link]) -> impl Iterator<Item = IpAddr> {
    let remotes = links.iter().filter_map(|link| match &link.details {
        Details::Tunnel(tunnel) if link.link_namespace.is_none() => tunnel.remote,
        _ => None,
    });
    remotes.collect::<BTreeSet<_>>().into_iter()
}

/// The kernel's own answer: it also follows rules and further tables.
fn route(route: &Route, to: IpAddr, names: &BTreeMap<u32, String>) -> Option<model::Route> {
    let indices = route.interfaces_to(to).ok()?;
    let interfaces: Vec<String> = indices
        .iter()
        .filter_map(|index| names.get(index).cloned())
        .collect();
    (!interfaces.is_empty()).then(|| model::Route {
        to: network_of(to),
        interfaces,
        metric: None,
    })
}

/// A result, or a note that there is none.
pub(super) fn note<T>(result: Result<T, Error>, what: &str, unread: &mut Unreads) -> Option<T> {
    result.map_err(|error| unread.note(what, error)).ok()
}

fn common(handles: &Handles, links: &[Link], around: &Around<'_>, unread: &mut Unreads) -> Common {
    let inside = around.inside;
    let names = links.iter().map(|link| (link.index, link.name.clone()));
    let addresses = handles.route.addresses();
    let routes = handles.route.default_routes();
    Common {
        names: names.collect(),
        addresses: note(addresses, &format!("addresses{inside}"), unread).unwrap_or_default(),
        default_routes: note(routes, &format!("routes{inside}"), unread)
            .map(|interfaces| interfaces.into_iter().collect()),
        napi: napi::Instances::ask(),
        ids: Ids::ask(&handles.route, links, around.spaces, around.own),
    }
}

fn one(
    handles: &Handles,
    link: &Link,
    common: &Common,
    of: Of<'_>,
    unread: &mut Unreads,
) -> Interface {
    let mut interface = plain(link, common);
    peers::set(
        &mut interface,
        link,
        &common.names,
        &handles.route,
        &common.ids,
    );
    details(&mut interface, link);
    if let Details::Tunnel(linux) = &link.details {
        let bound = linux.link.and_then(|index| common.names.get(&index));
        interface.parent = interface.parent.or_else(|| bound.cloned());
    }
    if let Some(ethtool) = &handles.ethtool {
        device::read(&mut interface, ethtool, of.inside, unread);
    }
    interface.napi = common.napi.of(link);
    interface
}

/// Properties of every interface.
fn plain(link: &Link, common: &Common) -> Interface {
    let own = common
        .addresses
        .iter()
        .filter(|address| address.interface == link.index);
    let addresses = own.map(|address| format!("{}/{}", address.address, address.prefix));
    let routes = common.default_routes.as_ref();
    Interface {
        name: link.name.clone(),
        index: Some(link.index),
        kind: Some(kind(link)),
        description: link.alias.clone(),
        mtu_bytes: link.mtu.map(u64::from),
        max_mtu_bytes: link.max_mtu.map(u64::from),
        up: Some(link.up),
        // Of one that is down, nobody knows.
        carrier: link.carrier.filter(|_| link.up),
        mac: mac(link),
        addresses: addresses.collect(),
        master: link
            .master
            .and_then(|index| common.names.get(&index).cloned()),
        default_route: routes.map(|routes| routes.contains(&link.index)),
        counters: counters(link),
        properties: properties(link),
        gso: Some(limits(&link.limits)).filter(|limits| *limits != GsoLimits::default()),
        xdp: xdp(link),
        ..Interface::default()
    }
}

fn kind(link: &Link) -> String {
    match &link.kind {
        Some(kind) => kind.clone(),
        None if link.loopback => "loopback".to_owned(),
        None => "physical".to_owned(),
    }
}

fn mac(link: &Link) -> Option<String> {
    let is_mac = (link.ethernet || link.loopback) && link.address.len() == 6;
    is_mac.then(|| {
        let bytes: Vec<_> = link
            .address
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        bytes.join(":")
    })
}

fn counters(link: &Link) -> BTreeMap<String, u64> {
    let named = link
        .counters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value));
    named.collect()
}

/// What the model has no field for, by the names that saved output of `ip` gets as well.
fn properties(link: &Link) -> BTreeMap<String, Setting> {
    let numbers = [
        ("promiscuity", link.promiscuity),
        ("txqlen", link.queue_length),
    ];
    let mut properties = BTreeMap::new();
    for (name, value) in numbers {
        if let Some(value) = value {
            properties.insert(name.to_owned(), Setting::Number(value.into()));
        }
    }
    if let Details::Mode(mode) = &link.details {
        properties.insert("mode".to_owned(), Setting::Text((*mode).to_owned()));
    }
    properties
}

fn limits(limits: &Limits) -> GsoLimits {
    GsoLimits {
        gso_max_size_bytes: limits.gso_max_size.map(u64::from),
        gso_max_segs: limits.gso_max_segs.map(u64::from),
        gro_max_size_bytes: limits.gro_max_size.map(u64::from),
        gso_ipv4_max_size_bytes: limits.gso_ipv4_max_size.map(u64::from),
        gro_ipv4_max_size_bytes: limits.gro_ipv4_max_size.map(u64::from),
        tso_max_size_bytes: limits.tso_max_size.map(u64::from),
        tso_max_segs: limits.tso_max_segs.map(u64::from),
    }
}

fn xdp(link: &Link) -> Option<Xdp> {
    let xdp = link.xdp?;
    let mode = match xdp.mode {
        XdpMode::Native => "native",
        XdpMode::Generic => "generic",
        XdpMode::Offload => "offload",
        XdpMode::Multi => "multi",
    };
    Some(Xdp {
        mode: mode.to_owned(),
        program_id: xdp.program,
    })
}

/// Properties of single kinds of interfaces, and of ports.
fn details(interface: &mut Interface, link: &Link) {
    match &link.details {
        Details::Bridge {
            vlan_filtering,
            stp,
        } => {
            interface.bridge = Some(Bridge {
                vlan_filtering: *vlan_filtering,
                stp: *stp,
                members: Vec::new(),
            });
        }
        Details::Bond { mode } => {
            let mode = mode.clone();
            let members = Vec::new();
            interface.bond = Some(Bond { mode, members });
        }
        Details::Vlan { id, protocol } => interface.vlan = Some(vlan(*id, *protocol)),
        Details::Tun { tap, vnet_header } => interface.tun = Some(tun(*tap, *vnet_header)),
        Details::Tunnel(linux) => interface.tunnel = Some(tunnel(link, linux)),
        Details::Mode(_) | Details::None => {}
    }
    interface.bridge_port = bridge_port(link);
}

fn bridge_port(link: &Link) -> Option<BridgePort> {
    match &link.port {
        Some(Port::Bridge { state, hairpin }) => Some(BridgePort {
            state: state.map(str::to_owned),
            hairpin: *hairpin,
        }),
        _ => None,
    }
}

fn vlan(id: Option<u16>, protocol: Option<VlanProtocol>) -> Vlan {
    let protocol = protocol.map(|protocol| match protocol {
        VlanProtocol::Customer => "802.1Q",
        VlanProtocol::Service => "802.1ad",
    });
    Vlan {
        id,
        protocol: protocol.map(str::to_owned),
    }
}

fn tun(tap: Option<bool>, vnet_header: Option<bool>) -> Tun {
    let mode = tap.map(|tap| if tap { "tap" } else { "tun" });
    Tun {
        mode: mode.map(str::to_owned),
        vnet_header,
        owners: None,
    }
}

fn tunnel(link: &Link, linux: &Linux) -> Tunnel {
    Tunnel {
        local: linux.local.map(|address| address.to_string()),
        remote: linux.remote.map(|address| address.to_string()),
        id: linux.id,
        port: linux.port,
        udp_checksum: udp_checksum(link, linux),
        sequence: linux.sequence,
        external: Some(linux.external),
        underlay: Vec::new(),
    }
}

/// Over IPv6 it is the other flag that decides. GRE's own checksums are not of UDP.
fn udp_checksum(link: &Link, linux: &Linux) -> Option<bool> {
    if !matches!(link.kind.as_deref(), Some("vxlan" | "geneve")) {
        return None;
    }
    let outer = linux.remote.or(linux.local);
    if outer.is_some_and(|address| address.is_ipv6()) {
        return linux.zero_checksum6.map(|zero| !zero);
    }
    linux.checksum
}
