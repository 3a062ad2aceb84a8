//! Two transfers side by side, such as one direct and one through a load balancer.

use coalescope_capture::facts::{Connection, Direction, Phases, Point, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::finding::{Finding, Id, Proof, Subject};
use crate::limits::{has_few_segments, main_direction, segments};
use crate::thresholds::{
    DOES_NOT_MERGE, ENOUGH_SEGMENTS, GAPS, HANDFUL, HEAVY_LOSS, MERGES, NEAR, SLOWER, WAITS,
};
use crate::words::{endpoint, rate, reference, shown, time, without_frames};

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
    /// How one arrives merged and the other in single segments, if so, and what that costs.
    pub difference: Option<String>,
}

/// Sets the largest connections of the first two points side by side, and returns what the difference means. `None` if
/// either point has no data.
#[must_use]
pub fn compare(trace: &Trace) -> Option<(Comparison, Vec<Finding>)> {
    let [first, second, ..] = &trace.points[..] else {
        return None;
    };
    let (a, b) = (largest(first)?, largest(second)?);
    let mut comparison = Comparison {
        first: transfer(first, &a),
        second: transfer(second, &b),
        difference: None,
    };
    let swapped = comparison.swapped();
    let findings =
        no_merging(&comparison, (second, &b)).or_else(|| no_merging(&swapped, (first, &a)));
    comparison.difference =
        difference(&comparison, (second, &b)).or_else(|| difference(&swapped, (first, &a)));
    Some((comparison, findings.into_iter().collect()))
}

impl Comparison {
    fn swapped(&self) -> Self {
        Self {
            first: self.second.clone(),
            second: self.first.clone(),
            difference: None,
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

/// The second transfer arrives in single segments, the first merged.
fn is_unlike(first: &Transfer, second: &Transfer) -> bool {
    let mean = |transfer: &Transfer| transfer.merge_factor_mean.unwrap_or(0.0);
    let known = second.segment_size_bytes.map_or(f64::INFINITY, f64::from);
    let enough = second.unique_bytes as f64 >= ENOUGH_SEGMENTS * known;
    enough && mean(first) >= MERGES && mean(second) < DOES_NOT_MERGE
}

/// Whether losses in front of the capture slow the transfer: frames come late, or after a timeout, and few arrive in
/// each round trip. Segments that come far apart for any other reason cannot be merged by anything.
fn is_torn(data: &Direction) -> bool {
    let repaired = data.late_frames + data.retransmitted_frames;
    let often = repaired >= HANDFUL && repaired as f64 >= HEAVY_LOSS * segments(data);
    let duration = data.duration_s.unwrap_or(0.0);
    let long = duration > 0.0 && data.gaps >= WAITS && data.gaps_s >= GAPS * duration;
    has_few_segments(data) && (often || long)
}

/// The second transfer arrives in single segments and is slow, the first merged and fast; and the second had losses
/// that the first had not.
fn no_merging(pair: &Comparison, slow: (&Point, &Connection)) -> Option<Finding> {
    let (first, second) = (&pair.first, &pair.second);
    let data = main_direction(slow.1).1;
    let (fast_bps, slow_bps) = (first.throughput_bps?, second.throughput_bps?);
    if !is_unlike(first, second) || fast_bps < SLOWER * slow_bps || !is_torn(data) {
        return None;
    }
    Some(Finding {
        id: Id::NoMerging,
        proof: Proof::Suspected,
        reason: None,
        subject: Subject::Plain,
        note: false,
        share: None,
        title: format!(
            "{} arrives merged and fast, {} in single segments and slow",
            first.point, second.point
        ),
        connection: Some(reference(&slow.0.name, slow.1)),
        hop: None,
        evidence: vec![
            without_frames(format!(
                "{}: {} data frames, {:.1} segments each, {}",
                first.point,
                first.data_frames,
                first.merge_factor_mean?,
                rate(fast_bps)
            )),
            shown(
                torn_words(second, data, slow_bps),
                &second.point,
                data.frames_of(|examples| &examples.retransmitted),
            ),
        ],
        next: format!(
            "what lies only on the way of {} either cannot carry merged frames on or sends one \
             segment at a time: capture in front of it and behind it, and give coalescope both",
            second.point
        ),
    })
}

fn torn_words(second: &Transfer, data: &Direction, bps: f64) -> String {
    format!(
        "{}: {} data frames, {:.1} segments each, {}; {} late, {} sent again, {} in gaps as long as a timeout",
        second.point,
        second.data_frames,
        second.merge_factor_mean.unwrap_or(1.0),
        rate(bps),
        data.late_frames,
        second.retransmitted_frames,
        time(data.gaps_s)
    )
}

/// The difference in merging as a fact, with its cost, whether or not it slows anything.
fn difference(pair: &Comparison, plain: (&Point, &Connection)) -> Option<String> {
    let (merged, single) = (&pair.first, &pair.second);
    if !is_unlike(merged, single) {
        return None;
    }
    let (direction, acks) = (main_direction(plain.1).1, main_direction(plain.1).2);
    let near = direction.near_frames as f64 >= NEAR * direction.data_frames as f64;
    let why = if is_torn(direction) {
        "what is lost on the way leaves little to merge"
    } else if near {
        "these come near enough to be merged: each costs its own way through the host"
    } else {
        "these come too far apart to be merged by anything"
    };
    Some(format!(
        "{} arrives in {} for each megabyte, {} in {}, acknowledged by {} frames; {why}",
        merged.point,
        frames(merged),
        single.point,
        frames(single),
        acks.acks,
    ))
}

fn frames(transfer: &Transfer) -> String {
    format!(
        "{:.0} frames",
        transfer.frames_per_megabyte.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// A transfer of 1 MB at the given rate in frames of so many segments.
    fn point(name: &str, mbit: f64, factor: f64, change: impl FnOnce(&mut Direction)) -> Point {
        let mut data = Direction {
            unique_bytes: 1_000_000,
            data_frames: (691.0 / factor) as u64,
            segment_size_bytes: Some(1448),
            merge_factor_mean: Some(factor),
            throughput_bps: Some(mbit * 1e6),
            duration_s: Some(8.0 / mbit),
            ..Direction::default()
        };
        change(&mut data);
        sample::point(name, data)
    }

    fn compared(second: Point) -> (Option<String>, Vec<Finding>) {
        let trace = Trace {
            points: vec![point("direct", 100.0, 6.0, |_| {}), second],
            hops: Vec::new(),
            ..Trace::default()
        };
        let (comparison, findings) = compare(&trace).expect("both have data");
        (comparison.difference, findings)
    }

    #[test]
    fn segments_that_come_far_apart_accuse_nobody() {
        let (difference, findings) = compared(point("slow", 4.0, 1.0, |_| {}));
        assert!(findings.is_empty());
        assert!(difference.expect("a fact").contains("too far apart"));
    }

    #[test]
    fn the_same_rate_is_a_fact() {
        let near = |data: &mut Direction| data.near_frames = 600;
        let (difference, findings) = compared(point("via", 99.0, 1.0, near));
        assert!(findings.is_empty());
        assert!(difference.expect("a fact").contains("near enough"));
    }

    /// Ordinary loss leaves few merged frames, too, but more segments in flight than a box that carries none.
    #[test]
    fn losses_among_many_segments_accuse_nobody() {
        let lossy = |data: &mut Direction| {
            (data.late_frames, data.effective_window_segments) = (80, Some(5.1));
        };
        assert!(compared(point("via", 40.0, 1.4, lossy)).1.is_empty());
        let few = |data: &mut Direction| data.late_frames = 60;
        assert!(compared(point("via", 40.0, 1.4, few)).1.is_empty());
    }

    #[test]
    fn a_third_slower_with_losses_is_a_finding() {
        let torn = |data: &mut Direction| data.late_frames = 100;
        let (_, findings) = compared(point("via", 75.0, 1.1, torn));
        assert_eq!(findings[0].id, Id::NoMerging);
        let gaps = |data: &mut Direction| (data.gaps_s, data.gaps) = (3.0, 12);
        let (_, findings) = compared(point("via", 1.5, 1.0, gaps));
        assert_eq!(findings[0].id, Id::NoMerging);
    }
}
