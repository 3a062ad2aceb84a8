//! What was counted.

mod flow;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use flow::{Flow, Tunnel};

/// What a host did with frames in a span of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// The host's name.
    pub host: Option<String>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// When counting began, in seconds since 1970.
    pub begun_unix_s: f64,
    /// For how long.
    pub took_s: f64,
    /// What counted.
    pub level: Level,
    /// What this level cannot see, and why no better one was had.
    pub unseen: Vec<Unseen>,
    /// Interfaces with frames.
    pub interfaces: Vec<Interface>,
    /// Counters of the network stack that moved, by the names of nstat(8); only at the level of counters.
    pub stack: BTreeMap<String, u64>,
    /// Dropped frames, by where and why; those with most merged frames first. Empty at the level of counters.
    pub drops: Vec<Drop>,
    /// What was counted nowhere, for lack of room.
    pub lost: Lost,
    /// Time in which frames came too fast to count each; left out if each was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// How often each event of the kernel happened on the whole host, also those that nobody read in time; only at the
    /// level of perf.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, u64>,
    /// TCP connections that end on this host and moved meanwhile, those that sent most first; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<Connection>,
}

/// A TCP connection, as the kernel of its end knows it. What is counted is what came to pass meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// The network namespace; none for the main one.
    pub namespace: Option<String>,
    /// Address and port of this end.
    pub local: String,
    /// Address and port of the other end.
    pub remote: String,
    /// Bytes of data in a segment to be sent.
    pub segment_bytes: u32,
    /// Bytes that were sent and acknowledged.
    pub acked_bytes: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
    /// Segments with data that were sent, the repeated ones among them.
    pub sent_segments: u64,
    /// Segments that were repeated.
    pub repeated_segments: u64,
    /// For how long there was something to send, in seconds.
    pub busy_s: f64,
    /// For how long of that the receiver's window was full.
    pub receiver_limited_s: f64,
    /// For how long of that the send buffer was too small.
    pub buffer_limited_s: f64,
    /// Data acknowledged in a round trip while there was something to send, in segments; none if nothing was sent.
    pub effective_window_segments: Option<f64>,
    /// In flight at the last look, in segments.
    pub in_flight_segments: u32,
    /// The congestion window at the last look, in segments.
    pub congestion_window_segments: u32,
    /// Rate at which the kernel saw data delivered most recently, in bits per second.
    pub delivery_rate_bps: u64,
    /// Smoothed round trip time at the last look, in seconds.
    pub rtt_s: f64,
    /// The least round trip time, in seconds; none where the kernel has none.
    pub min_rtt_s: Option<f64>,
}

/// What counted the frames.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Counters that every kernel keeps for each interface: neither merged frames nor reasons.
    #[default]
    Counters,
    /// Events of the kernel that perf hands over: frames, segments, and why frames are dropped; not which of the dropped
    /// ones were merged.
    Perf,
    /// Programs in the kernel, which look at each frame.
    Bpf,
}

impl Level {
    /// The level's name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counters => "counters",
            Self::Perf => "perf",
            Self::Bpf => "bpf",
        }
    }
}

/// Something that is not seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unseen {
    /// What.
    pub what: String,
    /// Why, and what would help.
    pub why: String,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name: `eth0`, or `ns/NAMESPACE/eth0`.
    pub name: String,
    /// Its number in its namespace.
    pub index: u32,
    /// Its kind, such as `bridge` or `veth`; none for hardware.
    pub kind: Option<String>,
    /// Its driver.
    pub driver: Option<String>,
    /// The bridge or bond that it is a port of.
    pub master: Option<String>,
    /// Its MTU, in bytes.
    pub mtu_bytes: Option<u64>,
    /// Speed of its link, in bits per second.
    pub speed_bps: Option<u64>,
    /// Names of its roles (docs/check.md).
    pub roles: Vec<String>,
    /// Which of its offloads were on, of `gro`, `lro`, `rx-gro-hw`, `tso` and `gso`; left out where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads_on: Option<Vec<String>>,
    /// Frames as they were counted one by one; `null` at the level of counters.
    pub frames: Option<Frames>,
    /// Counters of the kernel that moved, as `ip -s link` has them: `rx_packets` is of segments if the kernel merges.
    /// Only at the level of counters.
    pub counters: BTreeMap<String, u64>,
}

/// Frames of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frames {
    /// Received, after merging.
    pub received: Received,
    /// To be sent, before they are cut.
    pub queued: Queued,
    /// Those of them that this host had received, on whatever interface.
    pub forwarded: Forwarded,
    /// Given to the driver.
    pub sent: Sent,
}

/// Received frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Received {
    /// How many.
    pub frames: u64,
    /// Their bytes, from the network header on.
    pub bytes: u64,
    /// Segments in them: a frame that is not merged is one. At the level of perf, segments that drivers handed over.
    pub segments: u64,
    /// Frames of more than one segment; at the level of perf, frames longer than the MTU.
    pub merged_frames: u64,
    /// Frames longer than the MTU whose segment size is not known.
    pub long_frames: u64,
    /// A sample of the frames, which was looked into.
    pub looked_frames: u64,
    /// Those of the sample that carry TCP data.
    pub looked_tcp_frames: u64,
    /// Those of them that are merged.
    pub looked_tcp_merged_frames: u64,
    /// Segments in those that carry TCP data.
    pub looked_tcp_segments: u64,
}

/// Frames to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queued {
    /// How many.
    pub frames: u64,
    /// Segments in them; at the level of perf, in those that the driver got.
    pub segments: u64,
    /// Frames of more than one segment; at the level of perf, frames longer than the MTU.
    pub merged_frames: u64,
    /// Frames longer than the MTU whose segment size is not known.
    pub long_frames: u64,
}

/// Frames to be sent that were received before; the level of perf sees none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forwarded {
    /// How many.
    pub frames: u64,
    /// Frames of more than one segment.
    pub merged_frames: u64,
}

/// Frames that the driver got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    /// How many.
    pub frames: u64,
    /// Frames of more than one segment: the driver or what stands behind it cuts them.
    pub merged_frames: u64,
    /// Merged frames that the processor cut. Where that cannot be counted (there is no `cut_ns`): those that were queued, not
    /// dropped, and not given to the driver, so that frames which still wait in the queue are among these.
    pub cut_frames: u64,
    /// Nanoseconds of processors for cutting them; left out where the kernel does not let programs be attached to functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_ns: Option<u64>,
}

/// Frames that were dropped in one place for one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drop {
    /// The interface that the frame belonged to when it was dropped; not known at the level of perf.
    pub interface: Option<String>,
    /// The interface that it came in by; none if this host made it.
    pub from: Option<String>,
    /// The kernel's reason, such as `PKT_TOO_BIG`; none before Linux 5.17.
    pub reason: Option<String>,
    /// The kernel's function that dropped it.
    pub location: Option<String>,
    /// Frames of more than one segment.
    pub merged_frames: u64,
    /// Segments in them.
    pub merged_segments: u64,
    /// Frames longer than the MTU of the interface that they came in by, and dropped there, whose segment size is not
    /// known.
    pub long_frames: u64,
    /// All others.
    pub single_frames: u64,
    /// Frames of which nobody knows whether they were merged; only at the level of perf.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown_frames: u64,
    /// What became of the flows of which merged frames were dropped here; left out where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// Some of the merged and long frames.
    pub samples: Vec<Sample>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Drop {
    /// The interface that the frames came in by, else the one that they left by.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.from.as_deref().or(self.interface.as_deref())
    }

    /// Dropped frames that were certainly or probably merged: merged and long ones.
    #[must_use]
    pub fn died(&self) -> u64 {
        sum([self.merged_frames, self.long_frames])
    }
}

/// Flows of which merged frames were dropped in one place again and again, a second or more apart. Their merged and single
/// frames compare: all others of an interface may be of senders whom what drops does not concern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// How many flows.
    pub flows: u64,
    /// Their merged frames, since the first one that was dropped.
    pub merged_frames: u64,
    /// Those of them that were dropped here.
    pub merged_died: u64,
    /// Their single frames in the same time; of TCP, those with data.
    pub single_frames: u64,
    /// Those of them that were dropped here.
    pub single_died: u64,
}

/// A dropped frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When, in seconds since 1970.
    pub unix_s: f64,
    /// Its bytes, from the first header that was there on.
    pub bytes: u32,
    /// Bytes of data in each segment; 0 if not known.
    pub segment_bytes: u32,
    /// Segments.
    pub segments: u32,
    /// Its sender and receiver, if it is IP.
    pub flow: Option<Flow>,
}

/// What was counted nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// Frames of interfaces beyond those that there was room for.
    pub frames: u64,
    /// Dropped frames of places beyond those that there was room for.
    pub drops: u64,
    /// Samples that nobody fetched in time; at the level of perf, events.
    pub samples: u64,
}

/// Time in which frames came so fast that counting each would slow down the host. Counts of frames and segments are then
/// estimates; dropped frames are all counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sampling {
    /// Frames were counted in one span of so many, and multiplied by that.
    pub one_in: u64,
    /// For how long, in seconds.
    pub took_s: f64,
}

/// A sum, or the greatest number where it is none: a record may come from a stranger.
#[must_use]
pub fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Whether a queue of the way out dropped a frame for this reason. Some qdiscs have reasons of their own.
#[must_use]
pub fn is_of_queue(reason: &str) -> bool {
    const QUEUES: [&str; 4] = ["QDISC_", "FQ_", "CAKE_", "DUALPI2_"];
    QUEUES.iter().any(|begin| reason.starts_with(begin))
}

impl Lost {
    /// Whether anything was lost.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

impl Frames {
    /// Segments per received frame; none if there was no frame.
    #[must_use]
    pub fn per_frame(&self) -> Option<f64> {
        let received = &self.received;
        (received.frames > 0).then(|| received.segments as f64 / received.frames as f64)
    }
}

impl Watched {
    /// Keeps only the interfaces that were asked for, and those from which merged frames died on their way to these; all
    /// if none was.
    pub fn keep_interfaces(&mut self, asked: &[String]) {
        if asked.is_empty() {
            return;
        }
        self.drops.retain(|drop| {
            let mut ends = drop.interface.iter().chain(&drop.from);
            // What has no interface may have been one of these.
            ends.any(|name| asked.contains(name)) || drop.unknown_frames > 0
        });
        // Where merged frames came in that died on the way to these says how many there were.
        let dead = self.drops.iter().filter(|drop| drop.died() > 0);
        let ways_in: BTreeSet<_> = dead.filter_map(|drop| drop.from.as_ref()).collect();
        self.interfaces.retain(|interface| {
            asked.contains(&interface.name) || ways_in.contains(&interface.name)
        });
    }

    /// Merged frames that were dropped, of all interfaces.
    #[must_use]
    pub fn dropped_merged(&self) -> u64 {
        sum(self.drops.iter().map(|drop| drop.merged_frames))
    }

    /// Dropped frames of which nobody knows whether they were merged.
    #[must_use]
    pub fn dropped_unknown(&self) -> u64 {
        sum(self.drops.iter().map(|drop| drop.unknown_frames))
    }
}
