//! The lost frame that is the best example.

use coalescope_capture::series::{Fate, Frame, Lane, Series};

use super::is_data;
use crate::words::units::{counted, seconds};

/// Frames that are considered; among more, one of the first is good enough.
const LOOKED_AT: usize = 256;
/// Time shown before and after, as a share of the time until the retransmission.
const AROUND: f64 = 0.4;
/// Least time shown before and after, in nanoseconds.
const LEAST_NS: i64 = 1_000_000;

/// A lost frame, and the next one with its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vanishing<'a> {
    pub(super) lane: &'a Lane,
    pub(super) lost: &'a Frame,
    pub(super) again: &'a Frame,
}

impl<'a> Vanishing<'a> {
    /// Prefers a frame of which no byte arrived, then one of several segments, then one that was
    /// soon retransmitted.
    pub(super) fn of(series: &'a Series, to_client: bool) -> Option<Self> {
        let lanes = series.lanes.iter();
        let all = lanes.flat_map(|lane| of_lane(lane, to_client));
        all.min_by_key(|one| {
            let is_whole = one.lost.fate == Some(Fate::Lost);
            (
                !is_whole,
                one.lost.segments <= 1,
                one.again.at_ns - one.lost.at_ns,
            )
        })
    }

    /// A description of the close-up, in words.
    pub(super) fn described(&self) -> String {
        let Self { lane, lost, again } = self;
        let at = |frame: &Frame| seconds(frame.at_ns as f64 / 1e9);
        let came = match lost.fate {
            Some(Fate::PartlyLost) => "only a part of it",
            _ => "nothing of it",
        };
        format!(
            "At {} frame {} passes {} after the beginning with {} in {}; {came} is seen at the next point. \
             Frame {} brings its first byte again, {} after the beginning.",
            lane.point,
            lost.number,
            at(lost),
            counted(u64::from(lost.payload), "byte"),
            counted(u64::from(lost.segments), "segment"),
            again.number,
            at(again),
        )
    }

    /// The time to show.
    pub(super) fn span_ns(&self) -> (i64, i64) {
        let gap_ns = (self.again.at_ns - self.lost.at_ns).max(0);
        let around_ns = ((gap_ns as f64 * AROUND) as i64).max(LEAST_NS);
        (
            (self.lost.at_ns - around_ns).max(0),
            self.again.at_ns + around_ns,
        )
    }
}

fn of_lane(lane: &Lane, to_client: bool) -> impl Iterator<Item = Vanishing<'_>> {
    let frames = lane.frames.iter().enumerate();
    let lost = frames.filter(move |(_, frame)| is_data(frame, to_client) && frame.is_lost());
    lost.take(LOOKED_AT).filter_map(move |(i, lost)| {
        let covers = |later: &&Frame| {
            is_data(later, to_client) && later.start <= lost.start && lost.start < later.end()
        };
        let again = lane.frames[i + 1..].iter().find(covers)?;
        Some(Vanishing { lane, lost, again })
    })
}
