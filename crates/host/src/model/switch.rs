//! Virtual switches: Open vSwitch, Hyper-V, ESXi.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setting;

/// Open vSwitch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ovs {
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Bridges or datapaths by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bridges: BTreeMap<String, OvsBridge>,
}

/// A bridge or datapath of Open vSwitch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OvsBridge {
    /// `system` (the kernel's datapath) or `netdev` (DPDK and other userspace).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datapath: Option<String>,
    /// Ports by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<String, OvsPort>,
}

/// A port of Open vSwitch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OvsPort {
    /// `system`, `internal`, `vxlan`, `geneve`, `gre`, `patch`, `dpdk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The port of another bridge that a patch port is joined to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The other end of a tunnel (`remote_ip`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// A virtual switch of Hyper-V or ESXi.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VirtualSwitch {
    /// `hyper-v` or `esxi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Hyper-V: `external`, `internal` or `private`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// MTU, where the switch has one (ESXi).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
    /// Hyper-V software RSC: whether it is wanted and active (`SoftwareRscEnabled`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software_rsc: Option<bool>,
    /// Adapters that connect it to the outside: names or descriptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<String>,
    /// Other properties by the platform's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Setting>,
}
