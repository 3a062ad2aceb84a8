//! Two transfers side by side, such as one direct and one through a load balancer.

use coalescope_capture::facts::{Connection, Direction, Phases, Trace};
use serde::Serialize;

use crate::finding::Finding;

/// What one of the two transfers looked like, at the point that has its capture.
#[derive(Clone, Debug, Serialize)]
pub struct Transfer {
    /// The point.
    pub point: String,
    /// Its largest connection's id.
    pub connection: u64,
    /// Client, `address:port`.
    pub client: String,
    /// Server, `address:port`.
    pub server: String,
    /// Which way most data went: `to_client` or `to_server`.
    pub direction: &'static str,
    /// Payload bytes, each once.
    pub unique_bytes: u64,
    /// Frames with payload.
    pub data_frames: u64,
    /// Frames with payload for each 1,000,000 bytes.
    pub frames_per_megabyte: Option<f64>,
    /// Segments carried.
    pub segments: Option<u64>,
    /// Segment size in bytes.
    pub segment_size_bytes: Option<u32>,
    /// Merged frames.
    pub merged_frames: u64,
    /// Segments per data frame, mean.
    pub merge_factor_mean: Option<f64>,
    /// Segments in the largest frame.
    pub merge_factor_max: Option<u32>,
    /// Retransmitted frames.
    pub retransmitted_frames: u64,
    /// Out-of-order frames.
    pub out_of_order_frames: u64,
    /// Payload bits per second.
    pub throughput_bps: Option<f64>,
    /// Smallest round trip.
    pub rtt_min_s: Option<f64>,
    /// throughput x smallest RTT / segment size.
    pub effective_window_segments: Option<f64>,
    /// The phases that curl prints.
    pub phases: Phases,
}

/// Two transfers.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The first one given.
    pub first: Transfer,
    /// The second one given.
    pub second: Transfer,
}
