//! One network interface.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Feature, Setting};

/// One network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Interface {
    /// Its name in its namespace.
    pub name: String,
    /// The network namespace, if it is not the host's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its index in its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// What it is: `physical`, `loopback`, or the kind that the platform names: `bridge`, `bond`,
    /// `team`, `vlan`, `macvlan`, `macvtap`, `ipvlan`, `veth`, `vxlan`, `geneve`, `gre`, `gretap`,
    /// `ipip`, `sit`, `ip6tnl`, `tun` (TUN and TAP), `wireguard`, `dummy`, `ifb`, `openvswitch`;
    /// FreeBSD: `lagg`, `epair`, `tap`, `wg`, `enc`; Windows: `vethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Description set by the operator or the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// MTU, bytes of the network layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
    /// Largest MTU that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mtu_bytes: Option<u64>,
    /// Administratively up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// Whether it has a carrier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<bool>,
    /// Speed of the link in bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// Hardware address, lower case with colons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    /// Network addresses with prefix length: `192.0.2.1/24`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Name of the bridge, bond, team or VRF that it is a port of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub master: Option<String>,
    /// What that master is, where the text says so at the port (`bridge_slave`, `bond_slave`): kinds
    /// as in `kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub master_kind: Option<String>,
    /// Name of the interface beneath it (VLAN, macvlan, tunnel with a fixed device).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The other end of a veth or epair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// It carries a default route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_route: Option<bool>,
    /// Switches, by the name that the platform's own tool prints: `generic-receive-offload`
    /// (`ethtool -k`), `LRO` (FreeBSD ifconfig options), `rsc-ipv4` and `rsc-ipv6` (Windows
    /// Get-NetAdapterRsc).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, Feature>,
    /// Interrupt coalescing, by the name in `ethtool -c`: `rx-usecs`, `adaptive-rx`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coalescing: BTreeMap<String, Setting>,
    /// Ring sizes: `rx`, `rx-max`, `tx`, `tx-max`, `rx-mini`, `rx-jumbo` and so on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rings: BTreeMap<String, u64>,
    /// Channels: `rx`, `tx`, `other`, `combined`, each with its `-max`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, u64>,
    /// Counters that the driver names itself (`ethtool -S`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub statistics: BTreeMap<String, u64>,
    /// Counters that every interface has: `rx_packets`, `rx_bytes`, `rx_errors`, `rx_dropped`,
    /// `tx_packets` and so on, as in `struct rtnl_link_stats64`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Settings that no other field has: Windows advanced properties by keyword (`*JumboPacket`),
    /// private flags, driver sysctls of FreeBSD.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Setting>,
    /// Largest frames that may be built for or by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gso: Option<GsoLimits>,
    /// XDP program; `None` if there is none or it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xdp: Option<Xdp>,
    /// It is a bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge: Option<Bridge>,
    /// It is a port of a bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge_port: Option<BridgePort>,
    /// It is a bond, team or lagg.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bond: Option<Bond>,
    /// It is a VLAN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlan: Option<Vlan>,
    /// It is a tunnel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    /// It is a TUN or TAP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tun: Option<Tun>,
    /// When polling ends a merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub napi: Option<Napi>,
    /// Which fields of a UDP or TCP packet choose the receive queue, by flow type (`udp4`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss: Option<Rss>,
}

/// A driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Driver {
    /// `ixgbe`, `virtio_net`, `vmx`.
    pub name: String,
    /// Its version; of drivers within the kernel, the kernel's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Firmware of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Where the device is: `0000:03:00.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
}

/// The other end of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Peer {
    /// Its name; `None` where its namespace was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its namespace, if it is not this interface's own: its name, `nsid N` if only the id is known,
    /// `host` for the main one, seen from another, or `jail NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Largest frames, in bytes, that segmentation takes and that receive merging makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GsoLimits {
    /// `gso_max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gso_max_size_bytes: Option<u64>,
    /// `gso_max_segs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gso_max_segs: Option<u64>,
    /// `gro_max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro_max_size_bytes: Option<u64>,
    /// `gso_ipv4_max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gso_ipv4_max_size_bytes: Option<u64>,
    /// `gro_ipv4_max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro_ipv4_max_size_bytes: Option<u64>,
    /// `tso_max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tso_max_size_bytes: Option<u64>,
    /// `tso_max_segs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tso_max_segs: Option<u64>,
}

/// An attached XDP program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Xdp {
    /// `native`, `generic`, `offload` or `multi`.
    pub mode: String,
    /// The program's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_id: Option<u32>,
}

/// Settings of a bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// VLAN filtering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlan_filtering: Option<bool>,
    /// Spanning tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stp: Option<bool>,
    /// Its ports, where the platform lists them at the bridge (FreeBSD `member:`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

/// Settings of a port of a bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BridgePort {
    /// `disabled`, `listening`, `learning`, `forwarding` or `blocking`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Frames may leave through the port that they came in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hairpin: Option<bool>,
}

/// Settings of a bond, team or lagg.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bond {
    /// `balance-rr`, `active-backup`, `802.3ad`; lagg: `lacp`, `failover`, `roundrobin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Its members, where the platform lists them at the bond (`laggport:`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

/// A VLAN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vlan {
    /// VLAN id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u16>,
    /// `802.1Q` or `802.1ad`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// A tunnel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tunnel {
    /// Own outer address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The other end's outer address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// VXLAN network identifier, Geneve id or GRE key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// UDP destination port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Outer UDP checksums are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_checksum: Option<bool>,
    /// GRE sequence numbers are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<bool>,
    /// External mode (`collect_md`): metadata comes with each packet, as with Open vSwitch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<bool>,
    /// Interfaces that its outer packets use, by the routes to the remote or by the local address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub underlay: Vec<String>,
}

/// A TUN or TAP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tun {
    /// `tun` or `tap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Packets carry a virtio-net header (`IFF_VNET_HDR`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vnet_header: Option<bool>,
    /// Processes that hold it open; `None` if they could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<Vec<Owner>>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Owner {
    /// Its id.
    pub pid: u32,
    /// Its name (`comm`).
    pub process: String,
}

/// When polling ends a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Napi {
    /// `gro_flush_timeout`, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro_flush_timeout_ns: Option<u64>,
    /// `napi_defer_hard_irqs`, polls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_hard_irqs: Option<u64>,
    /// Polling in a kernel thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threaded: Option<bool>,
    /// NAPI instances whose values differ from the interface's, by id: (timeout ns, deferred irqs).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub instances: BTreeMap<u32, (u64, u64)>,
}

/// Receive-side scaling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rss {
    /// Fields hashed, by flow type: `udp4` -> `sd` (addresses only) or `sdfn` (with ports).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}
