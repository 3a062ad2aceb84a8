//! What an incident file says.

use crate::path::Part;
use crate::setting::Setting;
use crate::table::Row;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// An incident, or a path that is often mistaken for one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// What it is asked for by: lower-case words joined by `-`.
    pub name: String,
    /// One line.
    pub title: String,
    /// Which of the project's five stories it is.
    #[serde(default)]
    pub story: Option<Story>,
    /// Where others wrote about it.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Whether merging is to blame.
    pub kind: Kind,
    /// What the operators measured.
    #[serde(default)]
    pub published: Published,
    /// Round trip between client and server without load, in microseconds: for the effective window.
    pub rtt_us: u64,
    /// Payload bytes of a full segment: for the effective window.
    pub segment_bytes: u32,
    /// Rooms and what joins them, from the client, who asks, to the server.
    pub path: Vec<Part>,
    /// What the client asks for.
    pub workload: Workload,
    /// The one setting that switches the harm, with its cured value. Of an innocent path, the setting
    /// that somebody would try.
    pub remedy: Setting,
    /// What has to be found.
    pub expect: Expect,
    /// Points to capture at, in the order of the path. Each is an element of it.
    #[serde(default)]
    pub points: Vec<String>,
    /// Other measurements, on the same build or a changed one.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// Measurements beside published ones, each with settings of its own.
    #[serde(default)]
    pub table: Vec<Row>,
    /// What is different in user-mode Linux.
    #[serde(default)]
    pub uml: Option<OnUml>,
    /// What is random follows from this.
    #[serde(default = "one_u64")]
    pub seed: u64,
}

/// The stories of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Story {
    /// A VM behind a hypervisor.
    A,
    /// A jail behind FreeBSD's bridge.
    B,
    /// A round-robin bond.
    C,
    /// An IPVS director.
    D,
    /// A guest of Hyper-V with jumbo frames.
    E,
}

/// Whether merging is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Merged frames are lost.
    Harm,
    /// Merging is off and would help.
    Cure,
    /// Merging has nothing to do with it.
    Innocent,
}

impl Kind {
    /// What merging does there, in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Harm => "harms",
            Self::Cure => "helps",
            Self::Innocent => "innocent",
        }
    }
}

/// What the operators measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Bits per second as it was.
    #[serde(default)]
    pub slow_bps: Option<f64>,
    /// Bits per second with the remedy, or from where it was not slow.
    #[serde(default)]
    pub fast_bps: Option<f64>,
    /// How many times faster.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// Segments a round trip, as it was.
    #[serde(default)]
    pub effective_window_segments: Option<f64>,
    /// What the figures are of.
    #[serde(default)]
    pub note: Option<String>,
}

/// What the client asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Payload bytes that are asked for, 1 to 1 GiB; of all streams together.
    pub bytes: u64,
    /// Payload bytes of one run of an experiment, which makes many: large enough that merging
    /// happens, small enough to be over soon when slow. By default `bytes`.
    #[serde(default)]
    pub trial_bytes: Option<u64>,
    /// The measurement ends after so many seconds at the latest, 0.1 to 600.
    pub limit_s: f64,
    /// Connections at the same time, 1 to 1,000.
    #[serde(default = "one_u32")]
    pub streams: u32,
    /// The client sends; otherwise the server.
    #[serde(default)]
    pub upload: bool,
    /// The sending program produces no more than so many bits per second.
    #[serde(default)]
    pub sender_rate_bps: Option<u64>,
    /// The receiver has buffers for so many bytes, 2,048 or more; by default its system's.
    #[serde(default)]
    pub receive_window_bytes: Option<u64>,
}

/// What has to be found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Ids of findings of `coalescope trace`, any one of which names the matter.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Ids of findings of `coalescope watch` in the path's rooms, any one of which names the matter; where the kernel
    /// itself drops the frames.
    #[serde(default)]
    pub watched: Vec<String>,
    /// What merging does here.
    pub merging: Merging,
    /// With the remedy it is at least so many times as fast.
    #[serde(default)]
    pub ratio_at_least: Option<f64>,
    /// With the remedy it is at most so many times as fast.
    #[serde(default)]
    pub ratio_at_most: Option<f64>,
    /// Segments a round trip of one stream as it is: at least, and at most.
    #[serde(default)]
    pub window: Option<[f64; 2]>,
}

/// What merging does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merging {
    /// It is the cause.
    Harms,
    /// It helps.
    Helps,
    /// Nothing, or nothing bad.
    Innocent,
}

/// Another measurement, to be compared with those without and with the remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// What it is asked for by.
    pub name: String,
    /// One line: what it shows.
    pub title: String,
    /// The room that asks instead of the client.
    #[serde(default)]
    pub from: Option<String>,
    /// Settings that are different from the start.
    #[serde(default)]
    pub set: Vec<Setting>,
    /// Elements that are left out; of a room that does `ipvs` its service: it routes.
    #[serde(default)]
    pub without: Vec<String>,
    /// Links, cards, switches, directors or the kernel's bonds that are different, by their names.
    #[serde(default)]
    pub change: BTreeMap<String, Change>,
    /// Another workload.
    #[serde(default)]
    pub workload: Option<Workload>,
    /// Another round trip, where a link changes it, in microseconds.
    #[serde(default)]
    pub rtt_us: Option<u64>,
    /// Another segment, where an MTU changes it, in payload bytes.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// Which of the two measurements it is like; nothing is said where nothing was published.
    #[serde(default)]
    pub expect: Option<Nearer>,
    /// Frames with data that are captured at the first of the points: at least, and at most.
    #[serde(default)]
    pub frames: Option<[u64; 2]>,
    /// It takes at most so many seconds.
    #[serde(default)]
    pub within_s: Option<f64>,
}

/// What is different of an element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Of a link: bits per second, both ways.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Of a link: delay each way in microseconds.
    #[serde(default)]
    pub delay_us: Option<u64>,
    /// Of a card: time between polls in microseconds.
    #[serde(default)]
    pub interval_us: Option<u64>,
    /// Of a link: jitter both ways in microseconds.
    #[serde(default)]
    pub jitter_us: Option<u64>,
    /// Of a link: probability of loss toward the client.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Of a switch or director: its MTU in bytes.
    #[serde(default)]
    pub mtu_bytes: Option<u16>,
    /// Of the kernel's bonds: packets that each line gets in turn.
    #[serde(default)]
    pub packets_per_slave: Option<u16>,
}

/// Which of two measurements a third is like: compared by the ratio of throughputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nearer {
    /// As it is without the remedy.
    Slow,
    /// As it is with the remedy.
    Fast,
}

impl Nearer {
    /// Which of two throughputs a third one is nearer to, by its ratio to each.
    #[must_use]
    pub fn of(bps: f64, slow_bps: f64, fast_bps: f64) -> Self {
        let middle = (slow_bps * fast_bps).sqrt();
        if (bps > middle) == (fast_bps > slow_bps) {
            Self::Fast
        } else {
            Self::Slow
        }
    }
}

impl fmt::Display for Nearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slow => "slow",
            Self::Fast => "fast",
        })
    }
}

impl Workload {
    /// Payload bytes of one run of an experiment.
    #[must_use]
    pub fn trial(&self) -> u64 {
        self.trial_bytes.unwrap_or(self.bytes)
    }
}

impl Incident {
    /// Throughput times round trip, in full segments, of one stream: of a throughput of all.
    #[must_use]
    pub fn effective_window(&self, bps: f64) -> f64 {
        let bytes = bps / 8.0 * self.rtt_us as f64 / 1e6;
        let streams = f64::from(self.workload.streams.max(1));
        bytes / streams / f64::from(self.segment_bytes.max(1))
    }

    /// The control of a name.
    #[must_use]
    pub fn control(&self, name: &str) -> Option<&Control> {
        self.controls.iter().find(|control| control.name == name)
    }
}

fn one_u64() -> u64 {
    1
}

fn one_u32() -> u32 {
    1
}

/// What takes the place of fields of the incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnUml {
    /// Instead of the incident's.
    pub path: Vec<Part>,
    /// Instead of the incident's, in microseconds.
    #[serde(default)]
    pub rtt_us: Option<u64>,
    /// Instead of the incident's, in payload bytes.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// Instead of the incident's.
    #[serde(default)]
    pub workload: Option<Workload>,
    /// Instead of the incident's.
    #[serde(default)]
    pub remedy: Option<Setting>,
    /// Instead of the incident's.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// Instead of the incident's.
    #[serde(default)]
    pub points: Option<Vec<String>>,
    /// Instead of the incident's.
    #[serde(default)]
    pub controls: Option<Vec<Control>>,
}
