//! Data, or acknowledgments, that do not get through at one place for a long time.

use coalescope_capture::facts::Direction;

use super::{is_lossy, is_unclear, loss_frames};
use crate::thresholds::{GAPS, SMALL_MTU, STUCK, STUCK_TIME};

/// Bytes over their segment size that some stacks send, as they forget options or an extension header (`capture/segment.rs`).
const FORGOTTEN: u32 = 64;

/// Repeated timeouts on the same bytes, however few they are.
pub(crate) fn is_stuck(data: &Direction, _: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.stuck_timeouts >= STUCK && data.stuck_s >= STUCK_TIME * duration
}

/// Whether a sender waits for acknowledgments that passed this point, and sends its data again; and little else is lost.
pub(crate) fn waits_for_acks(data: &Direction, other: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.timeouts_after_ack > 0
        && data.timeouts_after_ack_s >= STUCK_TIME * duration
        && loss_frames(data) <= data.timeouts_after_ack
        && !is_unclear(data, other)
}

/// Whether data is stuck for its length, or at one place only. Lost merged frames cause timeouts at place after place,
/// between which single frames get through.
pub(crate) fn is_cut_off(data: &Direction, other: &Direction) -> bool {
    let once = || data.stuck_places <= 1 && is_mostly_stuck(data, other);
    is_stuck(data, other) && (is_stuck_by_length(data, other) || once())
}

/// Whether being stuck is most of what is wrong: where a few frames in a hundred are lost, the same one is lost twice from time
/// to time.
pub(crate) fn is_mostly_stuck(data: &Direction, other: &Direction) -> bool {
    let duration = data.duration_s.unwrap_or(0.0);
    data.stuck_s >= GAPS * duration || !is_lossy(data, other)
}

/// Payload of the longest frame that arrived: one segment where the sender went on with smaller ones, since frames of several of
/// these may be longer than one that got stuck.
pub(crate) fn longest_arrived(data: &Direction) -> u32 {
    let smaller = data.fell_from_bytes.and(data.segment_size_bytes);
    smaller.or(data.longest_delivered_bytes).unwrap_or(0)
}

/// Whether the bytes that got stuck were in frames longer than any that arrived, as where a link has a smaller MTU and
/// sends no "packet too big". Without acknowledgments it is not known what arrived.
pub(crate) fn is_stuck_by_length(data: &Direction, other: &Direction) -> bool {
    let stuck = data.stuck_bytes.filter(|_| other.acks > 0);
    stuck.is_some_and(|stuck| {
        let arrived = longest_arrived(data);
        // Lengths from 65,535 on are not told apart: a frame that got stuck may have been the shorter one.
        arrived < u32::from(u16::MAX)
            && stuck >= SMALL_MTU
            && stuck > arrived
            && !is_stuck_merged(data)
    })
}

/// Whether full segments arrived, and the bytes that got stuck were in a frame of several: what is lost for that is no segment
/// that a link cannot carry, and no outage either.
pub(crate) fn is_stuck_merged(data: &Direction) -> bool {
    let segment = data.segment_size_bytes.unwrap_or(u32::MAX);
    let several = segment.saturating_add(FORGOTTEN);
    let fell = data.fell_from_bytes.is_some();
    !fell
        && longest_arrived(data) >= segment
        && data.stuck_bytes.is_some_and(|stuck| stuck > several)
}
