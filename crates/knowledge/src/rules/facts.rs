//! The facts of a host for rules: a view of its snapshot, with roles, in which no field is missing.
//!
//! Text that was not read is empty, a number that was not read is -1, a list or map is empty; so a condition needs no
//! case for missing values, and a feature that was not read is in neither `on` nor `off`.

use std::collections::BTreeMap;
use std::sync::Arc;

use coalescope_host::model::{Interface, LengthRule, Setting, Snapshot, Stack, VirtualSwitch};
use coalescope_host::roles::{Graph, Role, carried, carriers, roles};
use serde_json::{Map, Value, json};

use super::rule::plain;

/// The view of a host. A host may have thousands of interfaces, and as many counters, so nothing is stored twice.
pub(super) struct HostFacts {
    /// `host` with all its `interfaces` and `switches`; stacks are referred to by name.
    pub(super) host: Arc<Value>,
    /// The stacks that interfaces belong to, by namespace; the host's own stack has an empty name.
    pub(super) stacks: BTreeMap<String, Value>,
}

/// Builds the facts of a host.
pub(super) fn host_facts(snapshot: &Snapshot) -> HostFacts {
    let roles = roles(snapshot);
    let graph = Graph::of(snapshot);
    let tunnels = carried(snapshot);
    let view = View {
        snapshot,
        roles: &roles,
        graph: &graph,
        tunnels: &tunnels,
    };
    let interfaces: Vec<Value> = snapshot
        .interfaces
        .keys()
        .map(|key| view.interface(key))
        .collect();
    let switches: Vec<Value> = snapshot
        .switches
        .iter()
        .map(|(name, switch)| switch_facts(name, switch))
        .collect();
    let mut host = host_fields(snapshot);
    host.insert("interfaces".into(), interfaces.into());
    host.insert("switches".into(), switches.into());
    HostFacts {
        host: Arc::new(Value::Object(host)),
        stacks: stacks(snapshot),
    }
}

fn stacks(snapshot: &Snapshot) -> BTreeMap<String, Value> {
    let named = snapshot.namespaces.iter();
    let named = named.map(|(name, stack)| (name.clone(), stack));
    let all = named.chain([(String::new(), &snapshot.stack)]);
    all.map(|(name, stack)| (name, stack_fields(stack).into()))
        .collect()
}

fn host_fields(snapshot: &Snapshot) -> Map<String, Value> {
    let distribution = snapshot.distribution.clone().unwrap_or_default();
    let mut host = object(json!({
        "name": snapshot.name.clone().unwrap_or_default(),
        "platform": snapshot.platform,
        "kernel": snapshot.kernel.clone().unwrap_or_default(),
        "distribution": {
            "id": distribution.id,
            "version": distribution.version.unwrap_or_default(),
            "name": distribution.name.unwrap_or_default(),
        },
        "virtualisation": snapshot.virtualisation.clone().unwrap_or_default(),
        "cpus": number(snapshot.cpus),
        "modules": snapshot.modules.clone().unwrap_or_default(),
        "log": snapshot.log,
        "softnet": snapshot.softnet,
        "settings": settings(&snapshot.settings),
        "ovs": snapshot.ovs.is_some(),
    }));
    host.extend(stack_fields(&snapshot.stack));
    host
}

fn stack_fields(stack: &Stack) -> Map<String, Value> {
    let nat = stack.nat.clone().unwrap_or_default();
    let translates = [nat.nftables, nat.iptables, nat.pf].contains(&Some(true));
    let taps = stack.packet_sockets.iter().flatten();
    object(json!({
        "sysctls": stack.sysctls,
        "counters": stack.counters,
        "nat": translates,
        "pf_nat": nat.pf == Some(true),
        "ipvs": stack.ipvs.clone().unwrap_or_default(),
        "length_rules": stack.length_rules.iter().flatten().map(length_rule).collect::<Vec<_>>(),
        "capturing": taps.filter_map(|tap| tap.process.clone()).collect::<Vec<_>>(),
    }))
}

fn length_rule(rule: &LengthRule) -> Value {
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    json!({
        "by": rule.by,
        "family": word(&rule.family),
        "chain": rule.chain,
        "hook": word(&rule.hook),
        "interface": word(&rule.interface),
        "to": word(&rule.to),
        "longer_than_bytes": number(rule.longer_than_bytes),
        "up_to_bytes": number(rule.up_to_bytes),
        "verdict": word(&rule.verdict),
        "protocol": word(&rule.protocol),
        "narrow": rule.narrow,
    })
}

fn switch_facts(name: &str, switch: &VirtualSwitch) -> Value {
    json!({
        "name": name,
        "product": switch.product.clone().unwrap_or_default(),
        "kind": switch.kind.clone().unwrap_or_default(),
        "mtu_bytes": number(switch.mtu_bytes),
        "software_rsc_on": switch.software_rsc == Some(true),
        "software_rsc_off": switch.software_rsc == Some(false),
        "uplinks": switch.uplinks,
        "properties": settings(&switch.properties),
    })
}

struct View<'a> {
    snapshot: &'a Snapshot,
    roles: &'a BTreeMap<String, Vec<Role>>,
    graph: &'a Graph,
    tunnels: &'a BTreeMap<String, Vec<&'a str>>,
}

impl View<'_> {
    fn interface(&self, key: &str) -> Value {
        let Some(interface) = self.snapshot.interfaces.get(key) else {
            return Value::Null;
        };
        let mut view = own_fields(key, interface);
        view.extend(switches_of(interface));
        view.extend(self.place(key, interface));
        view.extend(kind_fields(interface));
        view.extend(self.underlay(key, interface));
        view.insert("carries".into(), self.carries(key).into());
        view.insert("stack".into(), self.stack(interface).into());
        Value::Object(view)
    }

    /// The name of the stack that an interface belongs to.
    fn stack<'b>(&self, interface: &'b Interface) -> &'b str {
        let space = interface.namespace.as_deref();
        let named = space.filter(|name| self.snapshot.namespaces.contains_key(*name));
        named.unwrap_or_default()
    }

    /// Roles and neighbours.
    fn place(&self, key: &str, interface: &Interface) -> Map<String, Value> {
        let roles = self.roles.get(key).map(Vec::as_slice).unwrap_or_default();
        let because: BTreeMap<&str, &str> = roles
            .iter()
            .map(|role| (role.role.name(), role.because.as_str()))
            .collect();
        let master = self.graph.master(key).unwrap_or_default();
        let above = self.graph.stacked_above(key);
        object(json!({
            "roles": because.keys().collect::<Vec<_>>(),
            "because": because,
            "transit": roles.iter().any(|role| role.role.is_transit()),
            "master": master,
            "master_kind": self.kind(master),
            "parent": interface.parent.clone().unwrap_or_default(),
            "above": above,
            "above_kinds": above.iter().map(|key| self.kind(key)).collect::<Vec<_>>(),
            "below": self.graph.stacked_below(key),
            "ports": self.graph.ports(key).collect::<Vec<_>>(),
            "port_kinds": self.graph.ports(key).map(|key| self.kind(key)).collect::<Vec<_>>(),
        }))
    }

    fn kind(&self, key: &str) -> String {
        let interface = self.snapshot.interfaces.get(key);
        interface.and_then(|i| i.kind.clone()).unwrap_or_default()
    }

    /// The interfaces beneath a tunnel, and the smallest of their MTUs.
    fn underlay(&self, key: &str, interface: &Interface) -> Map<String, Value> {
        let keys: Vec<String> = carriers(key, interface).collect();
        let below = keys.iter();
        let below = below.filter_map(|below| self.snapshot.interfaces.get(below));
        let mtus = below.filter_map(|below| below.mtu_bytes);
        let mtu = number(mtus.min());
        object(json!({ "underlay": keys, "underlay_mtu_bytes": mtu }))
    }

    /// The tunnels whose outer packets go through the interface.
    fn carries(&self, key: &str) -> Vec<&str> {
        self.tunnels.get(key).cloned().unwrap_or_default()
    }
}

fn own_fields(key: &str, interface: &Interface) -> Map<String, Value> {
    let driver = interface.driver.clone().unwrap_or_default();
    object(json!({
        "key": key,
        "name": interface.name,
        "namespace": interface.namespace.clone().unwrap_or_default(),
        "kind": interface.kind.clone().unwrap_or_default(),
        "description": interface.description.clone().unwrap_or_default(),
        "driver": driver.name,
        "driver_version": driver.version.unwrap_or_default(),
        "firmware": driver.firmware.unwrap_or_default(),
        "mtu_bytes": number(interface.mtu_bytes),
        "mac": interface.mac.clone().unwrap_or_default(),
        "up": interface.up != Some(false),
        "carrier": interface.carrier != Some(false),
        "speed_bps": number(interface.speed_bps),
        "addresses": interface.addresses,
        "default_route": interface.default_route == Some(true),
        "statistics": interface.statistics,
        "counters": interface.counters,
        "rings": interface.rings,
        "channels": interface.channels,
        "coalescing": settings(&interface.coalescing),
        "properties": settings(&interface.properties),
        "rss": interface.rss.clone().unwrap_or_default().fields,
    }))
}

/// Features as lists of names.
fn switches_of(interface: &Interface) -> Map<String, Value> {
    let names = |wanted: &dyn Fn(&coalescope_host::model::Feature) -> bool| -> Vec<&String> {
        let features = interface.features.iter();
        features
            .filter(|(_, feature)| wanted(feature))
            .map(|(name, _)| name)
            .collect()
    };
    object(json!({
        "on": names(&|feature| feature.active),
        "off": names(&|feature| !feature.active),
        "fixed": names(&|feature| feature.fixed == Some(true)),
        "refused": names(&|feature| feature.wanted == Some(!feature.active)),
    }))
}

/// Fields that only some kinds of interfaces have.
fn kind_fields(interface: &Interface) -> Map<String, Value> {
    let bond = interface.bond.clone().unwrap_or_default();
    let bridge = interface.bridge.clone().unwrap_or_default();
    let tunnel = interface.tunnel.clone().unwrap_or_default();
    let tun = interface.tun.clone().unwrap_or_default();
    let napi = interface.napi.clone().unwrap_or_default();
    let gso = interface.gso.clone().unwrap_or_default();
    let owners = tun
        .owners
        .iter()
        .flatten()
        .map(|owner| owner.process.clone());
    object(json!({
        "xdp": interface.xdp.clone().unwrap_or_default().mode,
        "bond_mode": bond.mode.unwrap_or_default(),
        "vlan_filtering": bridge.vlan_filtering == Some(true),
        "tunnel_udp_checksum_on": tunnel.udp_checksum == Some(true),
        "tunnel_udp_checksum_off": tunnel.udp_checksum == Some(false),
        "tunnel_sequence": tunnel.sequence == Some(true),
        "tunnel_external": tunnel.external == Some(true),
        "tun_mode": tun.mode.clone().unwrap_or_default(),
        "tun_vnet_header": tun.vnet_header == Some(true),
        "tun_owners": owners.collect::<Vec<_>>(),
        "gro_flush_timeout_ns": number(napi.gro_flush_timeout_ns),
        "defer_hard_irqs": number(napi.defer_hard_irqs),
        "gso_max_size_bytes": number(gso.gso_max_size_bytes),
        "gro_max_size_bytes": number(gso.gro_max_size_bytes),
        "gso_ipv4_max_size_bytes": number(gso.gso_ipv4_max_size_bytes),
        "gro_ipv4_max_size_bytes": number(gso.gro_ipv4_max_size_bytes),
        "tso_max_size_bytes": number(gso.tso_max_size_bytes),
    }))
}

fn settings(settings: &BTreeMap<String, Setting>) -> Map<String, Value> {
    let pairs = settings.iter();
    pairs
        .map(|(name, setting)| (name.clone(), plain(setting)))
        .collect()
}

fn number<N: Into<u64>>(value: Option<N>) -> Value {
    value.map_or(Value::from(-1), |number| number.into().into())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
