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
