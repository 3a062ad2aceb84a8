//! Roles: what each interface does, derived from how the interfaces hang together.
//!
//! Whether merging helps or harms depends on the role (story A): a frame that ends here is the
//! better for being merged, one that must go on may not get through. A role is inherited downwards:
//! the members of a bond, and the interface beneath a VLAN, carry what is above them.

mod around;
mod ends;
mod forward;
mod graph;
mod passing;
mod place;
mod rules;

pub(crate) use graph::outer_ports;
pub use graph::{Graph, beside, carried, carriers};

use std::collections::BTreeMap;

use around::Around;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Snapshot;

/// What an interface does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RoleName {
    /// What it receives ends on this host.
    Endpoint,
    /// It is a port of a bridge or virtual switch.
    BridgePort,
    /// The host routes what it receives.
    Forwarder,
    /// It is a member of a bond, team or lagg.
    BondMember,
    /// Outer packets of a tunnel go through it.
    TunnelUnderlay,
    /// The host is an IPVS director.
    IpvsDirector,
    /// Virtual machines or containers reach the network through it.
    GuestUplink,
    /// It leads to a virtual machine or container.
    GuestPort,
    /// A program captures everything on it.
    CaptureTap,
    /// An XDP program is attached.
    XdpAttached,
}

impl RoleName {
    /// All roles.
    pub const ALL: [Self; 10] = [
        Self::Endpoint,
        Self::BridgePort,
        Self::Forwarder,
        Self::BondMember,
        Self::TunnelUnderlay,
        Self::IpvsDirector,
        Self::GuestUplink,
        Self::GuestPort,
        Self::CaptureTap,
        Self::XdpAttached,
    ];

    /// Its name, as printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::BridgePort => "bridge-port",
            Self::Forwarder => "forwarder",
            Self::BondMember => "bond-member",
            Self::TunnelUnderlay => "tunnel-underlay",
            Self::IpvsDirector => "ipvs-director",
            Self::GuestUplink => "guest-uplink",
            Self::GuestPort => "guest-port",
            Self::CaptureTap => "capture-tap",
            Self::XdpAttached => "xdp-attached",
        }
    }

    /// Whether frames that it receives go on to somewhere else.
    #[must_use]
    pub fn is_transit(self) -> bool {
        matches!(
            self,
            Self::BridgePort
                | Self::Forwarder
                | Self::IpvsDirector
                | Self::GuestUplink
                | Self::GuestPort
        )
    }
}

/// A role, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Which.
    pub role: RoleName,
    /// Why, in words: "port of br0".
    pub because: String,
}

/// The roles of all interfaces, by the interface's key.
#[must_use]
pub fn roles(snapshot: &Snapshot) -> BTreeMap<String, Vec<Role>> {
    let graph = Graph::of(snapshot);
    let around = Around::of(snapshot, &graph, rules::COUNTED);
    let mut all: BTreeMap<String, Vec<Role>> = snapshot
        .interfaces
        .keys()
        .map(|key| (key.clone(), rules::own_roles(snapshot, &around, key)))
        .collect();
    inherit(&graph, &mut all);
    for (key, roles) in &mut all {
        rules::endpoint(snapshot, &graph, key, roles);
        roles.sort();
        roles.dedup_by_key(|role| role.role);
    }
    all
}

/// Ports whose role is not decided, as no text says what their master is: each port's key, and its
/// master's.
#[must_use]
pub fn undecided(snapshot: &Snapshot) -> Vec<(String, String)> {
    let graph = Graph::of(snapshot);
    let ports = rules::undecided(snapshot, &graph);
    let owned = ports.map(|(port, master)| (port.to_owned(), master.to_owned()));
    owned.collect()
}

/// Whether forwarding is on at an interface, and no text lists what else there is to route to.
#[must_use]
pub fn is_alone(snapshot: &Snapshot, key: &str) -> bool {
    forward::is_alone(snapshot, key)
}

/// Gives roles of what is stacked on top to what is beneath.
fn inherit(graph: &Graph, all: &mut BTreeMap<String, Vec<Role>>) {
    let keys: Vec<String> = all.keys().cloned().collect();
    for key in keys {
        for upper in graph.stacked_above(&key) {
            let from = all.get(&upper).cloned().unwrap_or_default();
            let inherited = from
                .into_iter()
                .filter(|role| role.role.is_transit() || role.role == RoleName::TunnelUnderlay)
                .filter(|role| !role.because.contains(", through "))
                .map(|role| Role {
                    because: format!("{}, through {upper}", role.because),
                    ..role
                });
            all.entry(key.clone()).or_default().extend(inherited);
        }
    }
}
