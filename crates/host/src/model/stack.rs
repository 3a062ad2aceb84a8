//! The network stack of one namespace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Passages;

/// The network stack of one namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stack {
    /// sysctls by their dotted name, values as printed: `net.ipv4.ip_forward` -> `1`,
    /// `net.inet.ip.forwarding` -> `1`. A dot within an interface's name is `/`, as sysctl(8) does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    /// Protocol counters by the names of nstat(8): `TcpRetransSegs`, `TcpExtTCPRcvCoalesce`; of
    /// FreeBSD by protocol and words: `ip: datagrams that can't be fragmented`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Address translation; `None` if not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nat: Option<Nat>,
    /// IPVS services; `None` if not read, empty if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipvs: Option<Vec<IpvsService>>,
    /// Packet sockets (AF_PACKET), that is tcpdump, IDS and DHCP clients; `None` if not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_sockets: Option<Vec<PacketSocket>>,
    /// Routes of the main table as far as they were read; live, those to the other ends of tunnels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
    /// Rules that ask for a packet's length; `None` if not read, empty if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_rules: Option<Vec<LengthRule>>,
    /// Interfaces of which tc sends what they receive out of another one (tc-mirred(8)).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<Redirect>,
    /// What packet filters let through and translate, by family, table and name of their base chains
    /// (`inet filter forward`); only those that let through or drop anything by a rule, as far as they were read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub passages: BTreeMap<String, Passages>,
}

impl Stack {
    /// Whether nothing at all was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A route.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Route {
    /// `default`, or a network with the length of its prefix: `192.0.2.0/24`, `2001:db8::1/128`.
    pub to: String,
    /// The interfaces that packets leave by: several if it has several legs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// Of several to the same network the smallest is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<u32>,
}

/// A rule of a packet filter or policer that asks how long a packet is. A merged frame is as long as
/// all its segments together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LengthRule {
    /// `nftables`, `iptables` or `tc`.
    pub by: String,
    /// `ip`, `ip6`, `inet`, `bridge` or `netdev`; of tc none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Where it is: table and chain, `filter forward`.
    pub chain: String,
    /// The hook of its base chain (`forward`, `prerouting`), `ingress` or `egress`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The interface that packets come in by; of tc, the one that it is at. `None` if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The interface that packets leave by. `None` if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// It applies to packets that are longer than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer_than_bytes: Option<u64>,
    /// It applies to packets that are not longer than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_bytes: Option<u64>,
    /// What becomes of the packet: `drop`, `reject`, `accept` or another verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// `tcp`, `udp`, `icmp`; `None` if it asks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// It asks for more than this: addresses, ports, marks, a rate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub narrow: bool,
}

/// What an interface receives, all or a part of it, goes out of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Redirect {
    /// The interface that receives.
    pub from: String,
    /// The interface that sends.
    pub to: String,
}

/// Whether addresses are translated, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nat {
    /// There is a chain of type nat with rules in nftables (or iptables-nft).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nftables: Option<bool>,
    /// The nat table of the old iptables is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iptables: Option<bool>,
    /// pf translates (FreeBSD `nat` or `rdr` rules).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pf: Option<bool>,
}

/// A virtual service of IPVS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IpvsService {
    /// `tcp`, `udp`, `sctp` or `fwmark`.
    pub protocol: String,
    /// `192.0.2.1:80`, `[2001:db8::1]:80`, or the mark.
    pub address: String,
    /// `rr`, `wlc` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Real servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destinations: Vec<IpvsDestination>,
}

/// A real server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IpvsDestination {
    /// Address and port.
    pub address: String,
    /// How packets get there: `nat`, `route`, `tunnel`, `local` or `bypass`; empty where the list has counters instead.
    pub forward: String,
    /// Weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
}

/// A packet socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PacketSocket {
    /// The interface that it is bound to; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// EtherType that it takes: 3 (`ETH_P_ALL`) is everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u16>,
    /// The process; `None` if it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// It takes packets through a mapped ring, as capture tools do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<bool>,
}
