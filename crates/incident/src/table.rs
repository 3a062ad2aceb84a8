//! A table of measurements beside the published ones.

use crate::setting::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One measurement, with settings of its own from the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What is different, by the names of the columns: `{MTU: 1500, GRO: off}` with quotes. All rows have
    /// the same names.
    pub levels: BTreeMap<String, String>,
    /// The settings that this means.
    #[serde(default)]
    pub set: Vec<Setting>,
    /// What the operators measured, if they did.
    #[serde(default)]
    pub published: Option<PublishedRow>,
}

/// What was published of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Payload bits per second, more than 0.
    pub bps: f64,
    /// CPU time of one end in microseconds for 1024 bytes, more than 0.
    #[serde(default)]
    pub service_demand_us_per_kb: Option<f64>,
}

/// A row of an incident's table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabRow {
    /// What is different, by the names of the columns.
    pub levels: BTreeMap<String, String>,
    /// Bits per second.
    pub bps: f64,
    /// CPU time in microseconds for 1024 bytes that the sender's interface carried. Both ends are on one
    /// machine, whose time it is.
    pub sender_us_per_kb: Option<f64>,
    /// The same for the receiver's interface.
    pub receiver_us_per_kb: Option<f64>,
    /// Segments, nearly all of them ACKs, that the receiver sent for each segment of data that was sent.
    pub acks_per_segment: Option<f64>,
    /// Segments that the sender sent for each frame that arrived at the receiver's IP.
    pub merge_factor: Option<f64>,
    /// Segments that the sender sent again.
    pub retransmitted_segments: Option<f64>,
    /// What the operators measured.
    pub published: Option<PublishedRow>,
}

impl LabRow {
    /// The run with the median throughput.
    #[must_use]
    pub fn middle<'a>(runs: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let mut runs: Vec<_> = runs.collect();
        runs.sort_by(|one, other| one.bps.total_cmp(&other.bps));
        runs.get(runs.len() / 2).map(|run| (*run).clone())
    }

    /// Its levels in words: `GRO off, MTU 1500`.
    #[must_use]
    pub fn label(&self) -> String {
        words_of(self.levels.iter())
    }
}

/// Levels in words.
pub(crate) fn words_of<'a>(levels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let words: Vec<_> = levels
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    words.join(", ")
}
