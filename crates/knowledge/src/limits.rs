//! What limits one connection, as one point shows it.

use std::sync::Arc;

use coalescope_capture::facts::{Connection, Direction};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::thresholds::{
    CLOSED, ENOUGH_SEGMENTS, FEW_SEGMENTS, HANDFUL, HEAVY_LOSS, IDLE, LONG_RTT_S, LOSS,
    LOSS_FRAMES, QUEUE, QUEUE_S, REORDERED, REORDERED_LATE, ROOM_SEGMENTS, WINDOW_USED,
};

/// What holds a connection back most; of two the first is the graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Merged frames are lost or refused.
    MergedLoss,
    /// Segments are lost.
    Loss,
    /// Segments arrive out of order.
    Reordering,
    /// The receiver's window.
    ReceiverWindow,
    /// The sender had nothing to send.
    SenderIdle,
    /// The path's rate.
    PathBandwidth,
    /// Losses, or a few segments a round trip, for which merging is one of several explanations.
    Unclear,
    /// Nothing stands out.
    None,
    /// Too little data to tell.
    TooShort,
}

/// The limit of one connection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConnectionLimit {
    /// The point; one name for all its connections.
    #[serde(serialize_with = "as_str")]
    #[schemars(with = "String")]
    pub point: Arc<str>,
    /// The connection's id there.
    pub connection: u64,
    /// `to_client` or `to_server`: where most data went.
    pub direction: &'static str,
    /// What limits it.
    pub limit: Limit,
}

fn as_str<S: Serializer>(name: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name)
}

/// The direction with most data, its name, and the other one.
pub(crate) fn main_direction(connection: &Connection) -> (&'static str, &Direction, &Direction) {
    let (to_client, to_server) = (&connection.to_client, &connection.to_server);
    if to_client.unique_bytes >= to_server.unique_bytes {
        ("to_client", to_client, to_server)
    } else {
        ("to_server", to_server, to_client)
    }
}

/// The limit of a connection at one point.
pub(crate) fn limit_of(point: &Arc<str>, connection: &Connection) -> ConnectionLimit {
    let (direction, data, other) = main_direction(connection);
    ConnectionLimit {
        point: Arc::clone(point),
        connection: connection.id,
        direction,
        limit: limit(data, other),
    }
}

/// Whether a limit holds for data in one direction, given the other.
type Rule = fn(&Direction, &Direction) -> bool;

/// What limits data in one direction; `other` carries its acknowledgments.
pub(crate) fn limit(data: &Direction, other: &Direction) -> Limit {
    let rules: [(Limit, Rule); 8] = [
        (Limit::TooShort, is_too_short),
        (Limit::ReceiverWindow, is_window_closed),
        (Limit::Reordering, is_reordered),
        (Limit::PathBandwidth, is_queueing),
        (Limit::Unclear, is_unclear),
        (Limit::Loss, is_lossy),
        (Limit::ReceiverWindow, is_window_full),
        (Limit::SenderIdle, is_idle),
    ];
    let found = rules.into_iter().find(|(_, holds)| holds(data, other));
    found.map_or(Limit::None, |(limit, _)| limit)
}

fn is_too_short(data: &Direction, _: &Direction) -> bool {
    let segment = f64::from(data.segment_size_bytes.unwrap_or(1460));
    (data.unique_bytes as f64) < ENOUGH_SEGMENTS * segment || data.throughput_bps.is_none()
}

fn is_window_closed(data: &Direction, other: &Direction) -> bool {
    other.zero_windows > 0
        && data
            .duration_s
            .is_some_and(|duration| data.window_closed_s >= CLOSED * duration)
}

/// The window is what TCP keeps on the way, all the time.
fn is_window_full(data: &Direction, other: &Direction) -> bool {
    let in_flight = data
        .throughput_bps
        .zip(data.rtt_min_s)
        .map(|(bps, rtt)| bps / 8.0 * rtt);
    in_flight
        .zip(other.window_mean_bytes)
        .is_some_and(|(in_flight, window)| in_flight >= WINDOW_USED * window as f64)
}

/// Frames overtake each other, and were not lost and sent again.
pub(crate) fn is_reordered(data: &Direction, _: &Direction) -> bool {
    let out_of_order = data.out_of_order_frames as f64;
    data.out_of_order_frames >= HANDFUL
        && out_of_order >= REORDERED * data.data_frames as f64
        && (data.late_frames as f64) <= REORDERED_LATE * out_of_order
}

/// Frames that show a loss from here: sent again, or come late because they were.
pub(crate) fn loss_frames(data: &Direction) -> u64 {
    (data.retransmitted_frames - data.retransmitted_spurious.min(data.retransmitted_frames))
        + data.late_frames
}

fn is_lossy(data: &Direction, _: &Direction) -> bool {
    let lost = loss_frames(data);
    lost >= LOSS_FRAMES && lost as f64 >= LOSS * data.data_frames as f64
}

/// A queue stands on the path: it carries all that it can, and drops the rest.
fn is_queueing(data: &Direction, other: &Direction) -> bool {
    let queue = data
        .rtt_min_s
        .zip(data.rtt_median_s)
        .is_some_and(|(min, median)| median >= QUEUE * min && median - min >= QUEUE_S);
    queue && !is_idle(data, other) && !has_few_segments(data)
}

fn is_idle(data: &Direction, _: &Direction) -> bool {
    data.duration_s
        .is_some_and(|duration| data.sender_idle_s >= IDLE * duration)
}

/// The effective window of the time in which the sender was not idle.
fn active_window(data: &Direction) -> Option<f64> {
    let duration = data.duration_s?;
    let active = (duration - data.sender_idle_s).max(duration * 0.01);
    Some(data.effective_window_segments? * duration / active)
}

fn has_few_segments(data: &Direction) -> bool {
    active_window(data).is_some_and(|window| window < FEW_SEGMENTS)
}

/// So many bytes sent again, or frames late because they were, that bursts must be lost whole.
fn loses_heavily(data: &Direction) -> bool {
    data.retransmitted_bytes as f64 >= HEAVY_LOSS * data.unique_bytes as f64
        || data.late_frames as f64 >= HEAVY_LOSS * data.data_frames as f64
}

/// A few segments a round trip although there was room for more and the sender was not idle: so
/// the incidents look where the merged frames themselves are not seen, and so do others.
fn is_unclear(data: &Direction, other: &Direction) -> bool {
    let segment = f64::from(data.segment_size_bytes.unwrap_or(1460));
    let room = other
        .window_max_bytes
        .is_none_or(|w| w as f64 >= ROOM_SEGMENTS * segment);
    let explained = is_idle(data, other) || is_window_full(data, other);
    let quietly = data.merged_frames == 0 && data.rtt_min_s.is_some_and(|rtt| rtt >= LONG_RTT_S);
    room && !explained && has_few_segments(data) && (loses_heavily(data) || quietly)
}
