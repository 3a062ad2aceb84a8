//! Rooms, and what joins them.

use crate::element::{Element, Lane};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of a room's bridge.
pub const BRIDGE: &str = "br0";

/// One part of a path: rooms and joints take turns, and it begins and ends with a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A host.
    Room(Room),
    /// Two interfaces, and elements between them.
    Wire(Wire),
    /// Two interfaces with nothing between them: merged frames pass whole.
    Veth(Veth),
    /// Two bonds of the kernel's own.
    Bond(Bonded),
}

/// A host: its own network stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Room {
    /// Lower-case letters and digits.
    pub name: String,
    /// What it does with what is not for itself.
    #[serde(default)]
    pub does: Does,
    /// Its interface on the side of the client; `down0` by default, `eth0` of the server.
    #[serde(default)]
    pub toward_client: Option<String>,
    /// Its interface on the side of the server; `up0` by default, `eth0` of the client.
    #[serde(default)]
    pub toward_server: Option<String>,
    /// Settings of its network stack: `net.ipv4.tcp_reordering`.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Offloads by interface and name, short or long or the kernel's: `eth0: {gro: false}`.
    #[serde(default)]
    pub features: BTreeMap<String, BTreeMap<String, bool>>,
    /// `gso_max_size` by interface, in bytes; the room's bridge is br0.
    #[serde(default)]
    pub gso_max_size: BTreeMap<String, u32>,
}

/// What a room does with what is not for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Nothing: it is an end of the path.
    #[default]
    Nothing,
    /// The kernel's bridge, with an address for the room itself.
    Bridge,
    /// The kernel's router.
    Route,
    /// A router whose address stands for the client's.
    Nat,
    /// The kernel's IPVS: a router with a virtual address toward the client, from which it hands
    /// requests on to the server, translating addresses both ways.
    Ipvs,
}

impl Does {
    /// Whether the room divides two networks.
    #[must_use]
    pub const fn is_router(self) -> bool {
        matches!(self, Self::Route | Self::Nat | Self::Ipvs)
    }
}

/// Two interfaces, and elements between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// MTUs of both interfaces in bytes, 68 to 65,521.
    #[serde(default)]
    pub mtu_bytes: Ends,
    /// Whether what passes is in an ESP tunnel of the kernel's between its rooms (AES-GCM, RFC 4106), neither of
    /// which is a bridge.
    #[serde(default)]
    pub esp: bool,
    /// From the client's side to the server's.
    #[serde(default)]
    pub elements: Vec<Element>,
}

impl Wire {
    /// The longest packet that passes whole, in bytes. Around it ESP has an IPv4 header of 20 bytes, 8 of its own
    /// header, 8 of an initialization vector and 16 of a check value (RFC 4303, RFC 4106); and 2 bytes behind it, with
    /// which it is padded to a multiple of 4.
    pub(crate) fn packet_bytes(&self) -> u16 {
        let mtu = self.mtu_bytes.0.min(self.mtu_bytes.1);
        match self.esp {
            true => (mtu.saturating_sub(20 + 8 + 8 + 16) & !3).saturating_sub(2),
            false => mtu,
        }
    }
}

/// MTUs of the client's and the server's interface, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ends(pub u16, pub u16);

impl Default for Ends {
    /// Ethernet's (RFC 894).
    fn default() -> Self {
        Self(1500, 1500)
    }
}

/// A pair of the kernel's own interfaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Veth {
    /// MTU of both in bytes, 68 to 65,535.
    pub mtu_bytes: u16,
}

/// The kernel's bonding, round robin, at both ends of several lines: pairs of veth interfaces with its
/// netem. Where the bond's feature `rx-gro` is switched, its members follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bonded {
    /// What a control's `change` names both bonds by.
    #[serde(default = "bond")]
    pub name: String,
    /// MTU of both bonds in bytes, 68 to 65,521.
    #[serde(default = "ethernet")]
    pub mtu_bytes: u16,
    /// The lines, 1 to 16, each the same both ways; without `bursts` and `reorder`. A jitter keeps the
    /// order of a line only if the line has a rate.
    pub lanes: Vec<Lane>,
    /// How many packets each line gets in turn, 1 or more: bonding's parameter of this name
    /// (Documentation/networking/bonding.rst).
    #[serde(default = "one")]
    pub packets_per_slave: u16,
    /// Frames toward the client leave each line together, so many microseconds after those before them, at least
    /// and at most: as a card hands them over whose interrupts are moderated (netem's `slot`, tc-netem(8)).
    #[serde(default)]
    pub slot_us: Option<[u64; 2]>,
}

impl Bonded {
    /// How long a frame and its answer take on average where nothing waits, in microseconds.
    pub(crate) fn round_trip_us(&self) -> f64 {
        let line = self.lanes.first().map_or(0.0, Lane::mean_us);
        let [least, most] = self.slot_us.unwrap_or_default();
        2.0 * line + (least + most) as f64 / 4.0
    }
}

fn bond() -> String {
    "bond".to_owned()
}

fn one() -> u16 {
    1
}

fn ethernet() -> u16 {
    Ends::default().0
}
