//! The first view of a plot: around the first lost frame, or else the first retransmitted or late one.

use coalescope_capture::series::{Data, Frame, Lane, Series};

use super::is_data;
use crate::html::plot::direction;
use crate::html::story::repair_of;

/// Round trips shown.
const ROUND_TRIPS: f64 = 20.0;
/// A round trip in seconds if none is known: that of a fast path within a country.
const USUAL_S: f64 = 0.01;
/// The share of the view before the event.
const BEFORE: f64 = 0.25;
/// The time until the retransmission takes at most this share of the view.
const REPAIR: f64 = 0.6;
/// A part that is longer than this share is replaced by the whole.
const NEARLY_ALL: f64 = 0.8;

/// The part of the time to show, in seconds; `None` for all of it.
pub(super) fn part_s(series: &Series, to_client: bool, end_s: f64) -> Option<(f64, f64)> {
    let (at_s, repair_s) = first(series, to_client)?;
    let length = (ROUND_TRIPS * round_trip_s(series, to_client)).max(repair_s / REPAIR);
    let from = (at_s - BEFORE * length).max(0.0);
    (length < NEARLY_ALL * end_s).then_some((from, from + length))
}

/// The first event, and the time until its bytes arrive.
fn first(series: &Series, to_client: bool) -> Option<(f64, f64)> {
    let find = |is: fn(&Frame) -> bool| {
        let lanes = series.lanes.iter().enumerate();
        let each = lanes.filter_map(|(i, lane)| {
            let mut frames = lane.frames.iter();
            let found = frames.find(|frame| is_data(frame, to_client) && is(frame))?;
            Some((i, found))
        });
        each.min_by_key(|(_, frame)| frame.at_ns)
    };
    let (lane, frame) = find(Frame::is_lost).or_else(|| find(is_odd))?;
    let repair_ns = repair_ns(series, lane, frame);
    Some((frame.at_ns as f64 / 1e9, repair_ns as f64 / 1e9))
}

fn is_odd(frame: &Frame) -> bool {
    !matches!(frame.data, Data::None | Data::New)
}

/// The time from a lost frame to the last retransmission of its bytes that the repair takes.
fn repair_ns(series: &Series, lane: usize, lost: &Frame) -> i64 {
    if !lost.is_lost() {
        return 0;
    }
    let repair = repair_of(series, lane, lost);
    let last = repair.sent().map(|again| again.at_ns).max();
    last.map_or(0, |last| last - lost.at_ns)
}

fn round_trip_s(series: &Series, to_client: bool) -> f64 {
    let of = |lane: &Lane| {
        let way = direction(lane, to_client);
        let known = way.rtt_median_s.or(way.rtt_min_s);
        known.or(lane.connection.handshake_rtt_s)
    };
    let known = series.lanes.iter().filter_map(of);
    let longest = known.fold(0.0, f64::max);
    if longest > 0.0 { longest } else { USUAL_S }
}
