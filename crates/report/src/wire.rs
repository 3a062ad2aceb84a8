//! The report of a wire that merges.

use std::io::{self, Write};

use coalescope_replay::facts::Reasons;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document::{self, Document};
use crate::text::{self, TextOptions};

/// Name and version of the JSON document.
const SCHEMA: &str = "coalescope/lab-wire/1";

/// What `coalescope lab wire` has to say. Its fields are printed in this order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WireReport {
    /// The profile's name.
    pub profile: String,
    /// Where the profile's rules were read.
    pub profile_source: String,
    /// How long a frame was held at most, in microseconds.
    pub hold_us: u64,
    /// The interface whose frames were merged.
    #[serde(rename = "in")]
    pub input: String,
    /// The other one.
    #[serde(rename = "out")]
    pub output: String,
    /// How long the wire ran, in seconds.
    pub seconds: f64,
    /// From `in` to `out`.
    pub forward: WireForward,
    /// From `out` to `in`, where nothing is merged.
    pub back: WireWay,
    /// What looked odd, a sentence each.
    pub warnings: Vec<String>,
}

/// What went through one direction of a wire.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct WireWay {
    /// Frames in.
    pub frames_in: u64,
    /// Frames out.
    pub frames_out: u64,
    /// Frames that the interface did not take, and that are lost: longer than its MTU, or its
    /// queue was full.
    pub refused_frames: u64,
    /// Frames in that were larger than a segment already: TSO or GRO merged them before the wire.
    pub already_merged_frames: u64,
    /// Frames in whose checksum was left to the network card, and was completed.
    pub offloaded_frames: u64,
}

/// What went through the direction that merges.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct WireForward {
    /// Frames in and out.
    #[serde(flatten)]
    pub way: WireWay,
    /// Of the frames out, those that are made of more than one.
    pub merged_frames: u64,
    /// Frames in that became part of a merged frame, its first included.
    pub segments: u64,
    /// Frames without payload (ACKs) that came out as part of another frame.
    pub absorbed_frames: u64,
    /// Why frames were not merged, and why held ones went up.
    pub reasons: Reasons,
}

impl Document for WireReport {
    fn schema() -> Schema {
        document::schema::<Self>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        document::write(SCHEMA, self, out)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_wire(self, out, options)
    }
}
