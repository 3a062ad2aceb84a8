//! A queue of the transfer's own: the path forwards all that it can.

use coalescope_capture::facts::Direction;

use super::{active_bps, active_s, has_gaps, is_idle, needed_again, segment};
use crate::thresholds::{
    ACKS_APART, ACKS_PART, DRIFT, GAPS, HEAVY_LOSS, QUEUE, QUEUE_S, QUEUED, SILENT, TICK_S,
};

/// Whether a queue stands on the path, which forwards all that it can and drops the rest. Round trips may be longer for
/// other reasons; a queue of the transfer's own holds the data that arrives, at the transfer's rate, in the time that
/// the queue adds (Little 1961).
pub(super) fn is_queueing(data: &Direction, other: &Direction) -> bool {
    let Some((min, median)) = data.rtt_min_s.zip(data.rtt_median_s) else {
        return false;
    };
    let queued = active_bps(data).map_or(0.0, |bps| bps / 8.0 * (median - min));
    is_delayed(min, median)
        && queued >= QUEUED * segment(data)
        && median - min >= ACKS_APART * acks_apart_s(data, other)
        && !acks_waited(data, median - min)
        && !loses_much(data, median)
        && !is_silent(data)
        && !is_idle(data, other)
        && !has_gaps(data, GAPS)
}

/// Whether half of the frames of a way are delayed by a queue: by a share of the time that the way takes, and by more
/// than clocks and batches of a card cause.
pub(crate) fn is_delayed(min_s: f64, median_s: f64) -> bool {
    median_s >= QUEUE * min_s && median_s - min_s >= QUEUE_S
}

/// Whether acknowledgments waited rather than data. By the ends' own clocks, which count milliseconds and drift, a
/// third or more of the extra round-trip time must be on the way of acknowledgments. The shortest wait seen counts as a
/// wait, too.
fn acks_waited(data: &Direction, longer_s: f64) -> bool {
    let blur_s = TICK_S + DRIFT * data.duration_s.unwrap_or(0.0);
    data.ack_wait_s
        .is_some_and(|wait| wait - blur_s >= ACKS_PART * longer_s)
}

/// Whether the link rested for most of the time: no data came for longer than a queue takes to empty. This is so where
/// acknowledgments wait and are thinned, and then a whole window is sent at once.
fn is_silent(data: &Direction) -> bool {
    let active = active_s(data);
    active.is_some_and(|active| data.silent_s - data.sender_idle_s >= SILENT * active)
}

/// How far apart acknowledgments come. Data waits for the next acknowledgment about as long, with a queue or without: a
/// modem, WiFi or a driver holds acknowledgments back to send fewer (RFC 3449, 2.2 and 5.2).
fn acks_apart_s(data: &Direction, other: &Direction) -> f64 {
    let duration = data.duration_s.unwrap_or(0.0);
    if other.acks == 0 {
        0.0
    } else {
        duration / other.acks as f64
    }
}

/// Whether more is lost than a sender loses that fills a queue and slows down for each loss, and beyond what slow start loses
/// once, at its end: up to what path and queue hold (RFC 5681, 3.1). What comes late are single segments as a rule.
fn loses_much(data: &Direction, rtt_median_s: f64) -> bool {
    let held = active_bps(data).map_or(0.0, |bps| bps / 8.0 * rtt_median_s);
    let late = data.late_frames as f64 * segment(data);
    needed_again(data).max(late) >= HEAVY_LOSS * data.unique_bytes as f64 + held
}
