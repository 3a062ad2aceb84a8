//! Two transfers side by side, such as one direct and one through a load balancer.

use coalescope_capture::facts::{Connection, Direction, Phases, Point, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::finding::{Finding, Id, Proof};
use crate::limits::main_direction;
use crate::thresholds::{DOES_NOT_MERGE, ENOUGH_SEGMENTS, MERGES, SLOWER};
use crate::words::{endpoint, rate, reference, shown, told};

/// What one of the two transfers looked like, at the point that has its capture.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The first one given.
    pub first: Transfer,
    /// The second one given.
    pub second: Transfer,
}

/// Sets the largest connections of the first two points side by side, and says what the
/// difference means. `None` if either point has no data.
#[must_use]
pub fn compare(trace: &Trace) -> Option<(Comparison, Vec<Finding>)> {
    let [first, second, ..] = &trace.points[..] else {
        return None;
    };
    let (a, b) = (largest(first)?, largest(second)?);
    let comparison = Comparison {
        first: transfer(first, &a),
        second: transfer(second, &b),
    };
    let findings = no_merging(&comparison, (second, &b))
        .or_else(|| no_merging(&comparison.swapped(), (first, &a)));
    Some((comparison, findings.into_iter().collect()))
}

impl Comparison {
    fn swapped(&self) -> Self {
        Self {
            first: self.second.clone(),
            second: self.first.clone(),
        }
    }
}

fn largest(point: &Point) -> Option<Connection> {
    let largest = point
        .connections
        .iter()
        .max_by_key(|c| main_direction(c).1.unique_bytes)?;
    (main_direction(&largest).1.unique_bytes > 0).then_some(largest)
}

fn transfer(point: &Point, connection: &Connection) -> Transfer {
    let (direction, data, _) = main_direction(connection);
    Transfer {
        point: point.name.clone(),
        connection: connection.id,
        client: endpoint(&connection.client),
        server: endpoint(&connection.server),
        direction,
        unique_bytes: data.unique_bytes,
        data_frames: data.data_frames,
        frames_per_megabyte: frames_per_megabyte(data),
        segments: data
            .merge_factor_mean
            .map(|mean| (mean * data.data_frames as f64).round() as u64),
        segment_size_bytes: data.segment_size_bytes,
        merged_frames: data.merged_frames,
        merge_factor_mean: data.merge_factor_mean,
        merge_factor_max: data.merge_factor_max,
        retransmitted_frames: data.retransmitted_frames,
        out_of_order_frames: data.out_of_order_frames,
        throughput_bps: data.throughput_bps,
        rtt_min_s: data.rtt_min_s,
        effective_window_segments: data.effective_window_segments,
        phases: connection.phases,
    }
}

fn frames_per_megabyte(data: &Direction) -> Option<f64> {
    (data.unique_bytes > 0).then(|| data.data_frames as f64 * 1e6 / data.unique_bytes as f64)
}

/// The second transfer arrives in single segments and is slow, the first merged and fast.
fn no_merging(pair: &Comparison, slow: (&Point, &Connection)) -> Option<Finding> {
    let (first, second) = (&pair.first, &pair.second);
    let segment = f64::from(second.segment_size_bytes?);
    let enough = second.unique_bytes as f64 >= ENOUGH_SEGMENTS * segment;
    let merging = first.merge_factor_mean? >= MERGES && second.merge_factor_mean? < DOES_NOT_MERGE;
    let (fast_bps, slow_bps) = (first.throughput_bps?, second.throughput_bps?);
    if !enough || !merging || fast_bps < SLOWER * slow_bps {
        return None;
    }
    Some(Finding {
        id: Id::NoMerging,
        proof: Proof::Suspected,
        reason: None,
        title: format!(
            "{} arrives merged and fast, {} in single segments and slow",
            first.point, second.point
        ),
        connection: Some(reference(&slow.0.name, slow.1)),
        hop: None,
        evidence: vec![
            told(format!(
                "{}: {} data frames, {:.1} segments each, {}",
                first.point,
                first.data_frames,
                first.merge_factor_mean?,
                rate(fast_bps)
            )),
            shown(
                format!(
                    "{}: {} data frames, none of several segments, {}, {} retransmitted",
                    second.point,
                    second.data_frames,
                    rate(slow_bps),
                    second.retransmitted_frames
                ),
                &second.point,
                main_direction(slow.1)
                    .1
                    .frames_of(|examples| &examples.retransmitted),
            ),
        ],
        next: format!(
            "what lies only on the way of {} either cannot carry merged frames on or sends one \
             segment at a time: capture in front of it and behind it, and give coalescope both",
            second.point
        ),
    })
}
