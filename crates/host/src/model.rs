//! The snapshot: what one host was set to at one time.
//!
//! Plain serde structs. A field that is `None`, or a map without an entry, was not read: that is
//! never the same as "off", "none" or zero. Units are in the names.

mod feature;
mod interface;
mod passage;
mod stack;
mod switch;

pub use feature::{Feature, Setting};
pub use interface::{
    Bond, Bridge, BridgePort, Driver, GsoLimits, Interface, Napi, Owner, Peer, Rss, Tun, Tunnel,
    Vlan, Xdp,
};
pub use passage::{Passage, Passages};
pub use stack::{
    IpvsDestination, IpvsService, LengthRule, Nat, PacketSocket, Redirect, Route, Stack,
};
pub use switch::{Ovs, OvsBridge, OvsPort, VirtualSwitch};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of this model, as written in [`Snapshot::schema`].
pub const SCHEMA: &str = "coalescope/host/1";

/// What one host was set to at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Snapshot {
    /// Name and version of the model: `coalescope/host/1`.
    pub schema: String,
    /// The host's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What runs on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Release of the kernel or build of the system: `6.1.0-25-amd64`, `14.1-RELEASE-p5`,
    /// `10.0.17763.1999`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The distribution, or the product: Debian, RHEL, OPNsense, Windows Server 2019.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// What it runs in: `none`, `kvm`, `vmware`, `microsoft`, `xen`, `docker`, `lxc`, as
    /// systemd-detect-virt(1) names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualisation: Option<String>,
    /// Processors online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Identity of this boot (`/proc/sys/kernel/random/boot_id`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Interfaces, by name; those of another network namespace by `ns/NAMESPACE/NAME`.
    // Boxed, since a node of a map has room for eleven, and most texts are of one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, Box<Interface>>,
    /// The network stack of the host itself (the initial or the asked-for namespace).
    #[serde(skip_serializing_if = "Stack::is_empty")]
    pub stack: Stack,
    /// The stacks of other network namespaces, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub namespaces: BTreeMap<String, Stack>,
    /// Sums of `/proc/net/softnet_stat` over all processors: `processed`, `dropped`,
    /// `time_squeeze`, `received_rps`, `flow_limit`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub softnet: BTreeMap<String, u64>,
    /// Loaded kernel modules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<String>>,
    /// Open vSwitch; `None` if not read, or not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovs: Option<Ovs>,
    /// Virtual switches of Hyper-V and ESXi, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<String, VirtualSwitch>,
    /// Host-wide settings that are no sysctls: ESXi advanced settings (`/Net/Vmxnet3HwLRO`),
    /// Windows global offload settings (`ReceiveSegmentCoalescing`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Setting>,
    /// Lines of the kernel's log that rules know (never the whole log).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// What runs on a host.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux, of any distribution.
    Linux,
    /// FreeBSD and what is built on it (pfSense, OPNsense, TrueNAS CORE).
    Freebsd,
    /// OpenBSD.
    Openbsd,
    /// Windows and Hyper-V Server.
    Windows,
    /// VMware ESXi.
    Esxi,
    /// macOS: its saved output is recognised, no rule is about it.
    Macos,
}

impl Platform {
    /// Its name, as its makers write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Freebsd => "FreeBSD",
            Self::Openbsd => "OpenBSD",
            Self::Windows => "Windows",
            Self::Esxi => "ESXi",
            Self::Macos => "macOS",
        }
    }
}

/// A distribution or product, by `/etc/os-release` or what stands for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Distribution {
    /// `ID`: `debian`, `rhel`, `opnsense`, `windows-server`.
    pub id: String,
    /// `VERSION_ID`: `12`, `9.4`, `2019`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `PRETTY_NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Something that was not read.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Unread {
    /// What: a file, a section of one, a kernel interface, an option that is not understood.
    pub what: String,
    /// Why, and what would help.
    pub why: String,
}

impl Snapshot {
    /// The stack that an interface belongs to.
    #[must_use]
    pub fn stack_of(&self, interface: &Interface) -> &Stack {
        let space = interface.namespace.as_deref();
        let named = space.and_then(|name| self.namespaces.get(name));
        named.unwrap_or(&self.stack)
    }
}
