//! What stands on a wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An end of the path, and a direction: frames travel toward one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Who asks.
    #[default]
    Client,
    /// Who is asked.
    Server,
}

/// Something that frames go through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// A card that merges.
    Nic(Nic),
    /// A line of some length.
    Link(Link),
    /// Several lines that frames take in turn.
    Bond(Bond),
    /// A switch that drops what is longer than its MTU.
    Switch(Switch),
    /// FreeBSD's bridge: drops what is longer than its members' MTU.
    FreebsdBridge(Switch),
    /// A userspace stack that forwards, and compares the whole length of a merged frame with its MTU, though the
    /// frame says how long its segments are (gVisor's netstack, google/gvisor#14011).
    Forwarder(Switch),
    /// A virtual network whose frames have no virtio-net header at the other end (apple/container#2245).
    Headerless(Headerless),
    /// The end of a tunnel, which says of what it unpacks how long the segments are (oxidecomputer/opte#805).
    Decapsulator(Decapsulator),
    /// An IPVS director of Linux 2.6.32 to 2.6.36. It stands for an address of its own.
    Director(Director),
    /// The virtual switch of Windows Server 2019: the half that loses merged frames.
    #[serde(rename = "hyperv_2019")]
    HyperV2019(HyperV2019),
    /// Where frames are captured.
    Point(Point),
}

/// A card that merges frames toward one side while the feature `rx-gro` of the interface at that end of
/// the wire is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Its name, unique on the path.
    pub name: String,
    /// Toward which side it merges.
    #[serde(default)]
    pub toward: Side,
    /// By which rules.
    #[serde(default)]
    pub profile: Profile,
    /// Time between polls in microseconds, 1 to 1,000,000.
    #[serde(default = "interval")]
    pub interval_us: u64,
    /// Frames after which a poll ends all the same, 1 or more.
    #[serde(default = "frames")]
    pub frames: u32,
    /// A poll waits for the interval after its first frame. Otherwise the first frame after a silence is
    /// polled at once, alone.
    #[serde(default)]
    pub waits: bool,
    /// It forgets how long the segments were, as LRO and RSC do.
    #[serde(default)]
    pub loses_segment_size: bool,
}

/// Whose rules a card merges by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Profile {
    /// Linux 6.x.
    #[default]
    #[serde(rename = "linux-gro")]
    LinuxGro,
    /// Linux 2.6.29 to 2.6.36.
    #[serde(rename = "linux-gro-2.6")]
    LinuxGro26,
    /// FreeBSD's LRO.
    #[serde(rename = "freebsd-lro")]
    FreebsdLro,
    /// Windows' and Hyper-V's RSC.
    #[serde(rename = "ndis-rsc")]
    NdisRsc,
}

/// A line. What is said without a direction holds for both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name, unique on the path.
    pub name: String,
    /// Bits per second, with Ethernet's preamble, check sequence and gap; none for no limit.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Propagation delay in microseconds.
    #[serde(default)]
    pub delay_us: u64,
    /// Random addition to the delay, up to this, in microseconds; it keeps the order.
    #[serde(default)]
    pub jitter_us: u64,
    /// Probability of loss of a frame, 0 to 1.
    #[serde(default)]
    pub loss: f64,
    /// Losses in bursts.
    #[serde(default)]
    pub bursts: Option<Bursts>,
    /// Frames that overtake others.
    #[serde(default)]
    pub reorder: Option<Reorder>,
    /// Bytes that may wait for the rate; further frames are dropped. 4 MiB by default.
    #[serde(default = "queue")]
    pub queue_bytes: u64,
    /// Toward the server it is like this instead.
    #[serde(default)]
    pub back: Option<Lane>,
}

/// One direction of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// As of a [`Link`].
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// As of a [`Link`], in microseconds.
    #[serde(default)]
    pub delay_us: u64,
    /// As of a [`Link`], in microseconds.
    #[serde(default)]
    pub jitter_us: u64,
    /// As of a [`Link`], 0 to 1.
    #[serde(default)]
    pub loss: f64,
    /// As of a [`Link`].
    #[serde(default)]
    pub bursts: Option<Bursts>,
    /// As of a [`Link`].
    #[serde(default)]
    pub reorder: Option<Reorder>,
    /// As of a [`Link`], in bytes.
    #[serde(default = "queue")]
    pub queue_bytes: u64,
}

/// Gilbert's model of bursts of loss (Bell System Technical Journal 39, 1960).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability that a good line turns bad with a frame.
    pub begin: f64,
    /// Probability that a bad one turns good.
    pub end: f64,
    /// Probability of loss while bad.
    pub loss: f64,
}

/// Some frames take longer and are overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a frame is late.
    pub probability: f64,
    /// How much later at most, in microseconds.
    pub extra_us: u64,
}

/// Lines of a round-robin bond: each frame takes the next one, both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bond {
    /// Its name, unique on the path.
    pub name: String,
    /// The lines, 1 to 16, each the same both ways.
    pub lanes: Vec<Lane>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Its name, unique on the path.
    pub name: String,
    /// MTU of its ports in bytes, 68 or more.
    pub mtu_bytes: u16,
}

/// A virtual network that hands merged frames on, and forgets how long their segments are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Headerless {
    /// Its name, unique on the path.
    pub name: String,
    /// Of frames toward which side.
    #[serde(default)]
    pub toward: Side,
}

/// The end of a tunnel that guesses how long the segments of a merged frame are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decapsulator {
    /// Its name, unique on the path.
    pub name: String,
    /// Of frames toward which side.
    #[serde(default)]
    pub toward: Side,
    /// Payload bytes that it says a segment has, 1 or more, however many it has.
    pub guess_bytes: u16,
}

/// An IPVS director.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Director {
    /// Its name, unique on the path.
    pub name: String,
    /// MTU of its interfaces in bytes, 68 or more.
    pub mtu_bytes: u16,
}

/// The virtual switch in front of a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperV2019 {
    /// Its name, unique on the path.
    pub name: String,
    /// At which end of the wire the guest is.
    #[serde(default)]
    pub guest: Side,
}

/// Where frames are captured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its name, unique on the path; the capture's file has it.
    pub name: String,
    /// It is the own capture of the host at that end of the wire: frames are marked inbound or outbound.
    #[serde(default)]
    pub own: Option<Side>,
}

impl Element {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Nic(nic) => &nic.name,
            Self::Link(link) => &link.name,
            Self::Bond(bond) => &bond.name,
            Self::Switch(switch) | Self::FreebsdBridge(switch) | Self::Forwarder(switch) => {
                &switch.name
            }
            Self::Headerless(network) => &network.name,
            Self::Decapsulator(end) => &end.name,
            Self::Director(director) => &director.name,
            Self::HyperV2019(switch) => &switch.name,
            Self::Point(point) => &point.name,
        }
    }
}

impl Link {
    /// Both directions, toward the client first.
    #[must_use]
    pub fn lanes(&self) -> [Lane; 2] {
        let lane = Lane {
            rate_bps: self.rate_bps,
            delay_us: self.delay_us,
            jitter_us: self.jitter_us,
            loss: self.loss,
            bursts: self.bursts,
            reorder: self.reorder,
            queue_bytes: self.queue_bytes,
        };
        let back = self.back.clone().unwrap_or_else(|| lane.clone());
        [lane, back]
    }
}

impl Lane {
    /// How long a frame takes on average where nothing waits, in microseconds.
    pub(crate) fn mean_us(&self) -> f64 {
        self.delay_us as f64 + self.jitter_us as f64 / 2.0
    }
}

/// Of Intel's drivers under bulk traffic: 4,000 interrupts a second (Documentation/networking/
/// device_drivers/ethernet/intel/e1000.rst, InterruptThrottleRate).
fn interval() -> u64 {
    250
}

/// NAPI's budget.
fn frames() -> u32 {
    64
}

/// As in the lab and the simulator.
fn queue() -> u64 {
    4 << 20
}
