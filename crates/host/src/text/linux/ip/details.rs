//! Facts of a link as fields of the model.

use super::facts::{Facts, flag, number, text};
use crate::model::{
    Bond, Bridge, BridgePort, GsoLimits, Interface, Peer, Setting, Tun, Tunnel, Vlan, Xdp,
};
use crate::names::{BUS, QUEUEING, VIRTIO};

/// Facts that every link has.
pub(super) fn common(block: &mut Interface, facts: &Facts) {
    block.mtu_bytes = number(facts, "mtu");
    // Zero is "no limit" to the kernel.
    block.max_mtu_bytes = number(facts, "max_mtu").filter(|max| *max != 0);
    block.master = text(facts, "master");
    block.gso = Some(gso(facts)).filter(|gso| *gso != GsoLimits::default());
    block.xdp = xdp(facts);
    if let Some(discipline) = text(facts, "qdisc") {
        let value = Setting::Text(discipline);
        block.properties.insert(QUEUEING.to_owned(), value);
    }
    for (name, key) in [("promiscuity", "promiscuity"), ("qlen", "txqlen")] {
        if let Some(value) = number(facts, key) {
            let value = Setting::Number(value);
            block.properties.insert(name.to_owned(), value);
        }
    }
}

/// Up, carrier, by flags that are named.
pub(super) fn flags<'a>(block: &mut Interface, flags: impl Iterator<Item = &'a str>) {
    let (mut up, mut arp) = (false, true);
    for flag in flags {
        match flag {
            "UP" => up = true,
            "NOARP" => arp = false,
            "LOWER_UP" => block.carrier = Some(true),
            "NO-CARRIER" => block.carrier = Some(false),
            other => bonding(block, other),
        }
    }
    block.up = Some(up);
    // A VRF has MASTER as well, and no ARP, as a bond has (`vrf_setup` of drivers/net/vrf.c).
    if !arp && block.kind.as_deref() == Some("bond") {
        block.kind = Some("vrf".to_owned());
    }
}

/// The two flags that bonding sets (`IFF_MASTER` and `IFF_SLAVE` of linux/if.h); besides, netvsc of Hyper-V sets SLAVE at
/// its virtual function, and a VRF MASTER.
pub(in crate::text::linux) fn bonding(block: &mut Interface, flag: &str) {
    match flag {
        "MASTER" => block.kind = Some("bond".to_owned()),
        "SLAVE" => block.master_kind = Some("bond".to_owned()),
        _ => {}
    }
}

fn gso(facts: &Facts) -> GsoLimits {
    GsoLimits {
        gso_max_size_bytes: number(facts, "gso_max_size"),
        gso_max_segs: number(facts, "gso_max_segs"),
        gro_max_size_bytes: number(facts, "gro_max_size"),
        gso_ipv4_max_size_bytes: number(facts, "gso_ipv4_max_size"),
        gro_ipv4_max_size_bytes: number(facts, "gro_ipv4_max_size"),
        tso_max_size_bytes: number(facts, "tso_max_size"),
        tso_max_segs: number(facts, "tso_max_segs"),
    }
}

fn xdp(facts: &Facts) -> Option<Xdp> {
    Some(Xdp {
        mode: text(facts, "xdp")?,
        program_id: number(facts, "xdp_id"),
    })
}

/// The facts of a kind of link.
pub(super) fn of_kind(block: &mut Interface, kind: &str, facts: &Facts) {
    match kind {
        "bridge" => block.bridge = Some(bridge(facts)),
        "bond" => block.bond = Some(bond(facts)),
        "vlan" => block.vlan = Some(vlan(facts)),
        "tun" => block.tun = Some(tun(facts)),
        "macvlan" | "macvtap" | "ipvlan" | "ipvtap" => mode(block, facts),
        _ if is_tunnel(kind) => tunnelled(block, kind, facts),
        _ => {}
    }
    block.kind = Some(kind.to_owned());
}

/// The facts of a port.
pub(super) fn of_port(block: &mut Interface, kind: &str, facts: &Facts) {
    block.master_kind = Some(kind.to_owned());
    if kind == "bridge" {
        block.bridge_port = Some(BridgePort {
            state: text(facts, "state"),
            hairpin: flag(facts, "hairpin"),
        });
    }
}

fn bridge(facts: &Facts) -> Bridge {
    Bridge {
        vlan_filtering: flag(facts, "vlan_filtering"),
        // 2 is spanning tree by a program.
        stp: number(facts, "stp_state").map(|state: u32| state != 0),
        members: Vec::new(),
    }
}

fn bond(facts: &Facts) -> Bond {
    Bond {
        mode: text(facts, "mode"),
        members: Vec::new(),
    }
}

fn vlan(facts: &Facts) -> Vlan {
    Vlan {
        id: number(facts, "id"),
        protocol: text(facts, "protocol"),
    }
}

fn tun(facts: &Facts) -> Tun {
    Tun {
        mode: text(facts, "type"),
        vnet_header: flag(facts, "vnet_hdr"),
        owners: None,
    }
}

fn mode(block: &mut Interface, facts: &Facts) {
    if let Some(mode) = text(facts, "mode") {
        let mode = Setting::Text(mode);
        block.properties.insert("mode".to_owned(), mode);
    }
}

fn is_tunnel(kind: &str) -> bool {
    is_gre(kind)
        || matches!(
            kind,
            "vxlan" | "geneve" | "ipip" | "sit" | "ip6tnl" | "vti" | "vti6"
        )
}

fn is_gre(kind: &str) -> bool {
    matches!(
        kind,
        "gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ip6erspan"
    )
}

fn tunnelled(block: &mut Interface, kind: &str, facts: &Facts) {
    let address = |name| text(facts, name).filter(|address| !is_any(address));
    block.parent = text(facts, "link").filter(|parent| !parent.starts_with("if"));
    block.tunnel = Some(Tunnel {
        local: address("local"),
        remote: address("remote"),
        id: number(facts, "id").or_else(|| key(facts)),
        port: number(facts, "port"),
        udp_checksum: checksum(facts),
        // It is printed where it is on, since there are keys.
        sequence: is_gre(kind).then(|| flag(facts, "oseq") == Some(true)),
        external: flag(facts, "external"),
        underlay: Vec::new(),
    });
}

fn is_any(address: &str) -> bool {
    matches!(address, "any" | "0.0.0.0" | "::")
}

/// Over IPv6 it is the other flag that decides.
fn checksum(facts: &Facts) -> Option<bool> {
    let ipv6 = ["remote", "local"].iter().any(|end| {
        let address = facts.get(end).map_or("", String::as_str);
        address.contains(':')
    });
    if ipv6 {
        return flag(facts, "udp_zero_csum6_tx").map(|zero| !zero);
    }
    flag(facts, "udp_csum")
}

/// A key of GRE, written as an address: `0.0.0.5`.
fn key(facts: &Facts) -> Option<u32> {
    let key = facts.get("okey").or_else(|| facts.get("ikey"))?;
    let address = key.parse::<std::net::Ipv4Addr>().map(u32::from);
    address.ok().or_else(|| key.parse().ok())
}

/// Of `eth0@if5`: what is told of the other end.
pub(super) fn peer(name: Option<&str>, facts: &Facts) -> Peer {
    let id = text(facts, "link_netnsid").map(|id| format!("nsid {id}"));
    Peer {
        name: name.map(str::to_owned),
        namespace: text(facts, "link_netns").or(id),
    }
}

/// Kinds that come in pairs.
pub(super) fn is_pair(kind: &str) -> bool {
    matches!(kind, "veth" | "vxcan" | "netkit")
}

/// What is on a bus is a device. All network interfaces on virtio's are virtio_net's.
pub(super) fn on_bus(block: &mut Interface, bus: &str) {
    block.kind.get_or_insert_with(|| "physical".to_owned());
    if bus == VIRTIO {
        let value = Setting::Text(bus.to_owned());
        block.properties.insert(BUS.to_owned(), value);
    }
}
