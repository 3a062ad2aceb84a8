//! The lost frame that is the best example, and its bytes at the points around.

use coalescope_capture::series::{Data, Fate, Frame, Lane, Series};

/// Frames of a lane that are considered; among more, one of the first is good enough.
const LOOKED_AT: usize = 256;
/// Most frames at a point that carry the bytes of one frame.
const PIECES: usize = 64;

/// A lost frame, from the point before to the point after.
pub(super) struct Tale<'a> {
    pub(super) before: Option<Stop<'a>>,
    pub(super) here: Stop<'a>,
    pub(super) after: Option<Stop<'a>>,
    pub(super) lost: &'a Frame,
}

/// A point, with its frames of the lost bytes.
pub(super) struct Stop<'a> {
    pub(super) lane: &'a Lane,
    /// Frames before the loss.
    pub(super) first: Vec<&'a Frame>,
    /// Frames of the retransmission.
    pub(super) again: Vec<&'a Frame>,
}

impl<'a> Tale<'a> {
    /// Prefers a frame of which no byte arrived, then one of several segments, then one that was
    /// soon retransmitted.
    pub(super) fn of(series: &'a Series, may_guess: bool) -> Option<Self> {
        let ways = [true, false].into_iter();
        let all = ways.flat_map(|to_client| {
            let lanes = 0..series.lanes.len();
            lanes.flat_map(move |lane| candidates(series, lane, to_client, may_guess))
        });
        let best = all.min_by_key(|(lane, lost, again)| {
            let is_part = lost.fate == Some(Fate::PartlyLost);
            let wait_ns = again.at_ns - lost.at_ns;
            (is_part, lost.segments <= 1, wait_ns, *lane)
        });
        let (lane, lost, _) = best?;
        Some(Self::at(series, lane, lost))
    }

    fn at(series: &'a Series, lane: usize, lost: &'a Frame) -> Self {
        let way = usize::from(lost.to_client);
        let is_forth = series.nearest_sender[way] == 0;
        let [previous, next] = match is_forth {
            true => [lane.checked_sub(1), Some(lane + 1)],
            false => [Some(lane + 1), lane.checked_sub(1)],
        };
        let of = |index: Option<usize>| series.lanes.get(index?);
        let here = &series.lanes[lane];
        let after_ns = lost.at_ns + 1;
        let again = covering(here, lost, lost, after_ns);
        let before = of(previous).map(|lane| Stop::before(lane, lost, &again));
        Self {
            before: before.filter(|stop| !stop.first.is_empty()),
            after: of(next).map(|lane| Stop::after(lane, lost)),
            here: Stop {
                lane: here,
                first: vec![lost],
                again,
            },
            lost,
        }
    }

    /// The time from the loss to the retransmission.
    pub(super) fn wait_s(&self) -> f64 {
        let again = self.here.again.first();
        let wait_ns = again.map_or(0, |again| again.at_ns - self.lost.at_ns);
        wait_ns as f64 / 1e9
    }

    /// The points, the one before the loss first.
    pub(super) fn stops(&self) -> impl Iterator<Item = &Stop<'a>> {
        let ends = [self.before.as_ref(), Some(&self.here), self.after.as_ref()];
        ends.into_iter().flatten()
    }
}

impl<'a> Stop<'a> {
    /// At the point before: the frames as sent first, then those that `again` is made of.
    fn before(lane: &'a Lane, lost: &Frame, again: &[&Frame]) -> Self {
        let first = covering(lane, lost, lost, i64::MIN);
        let since_ns = first.last().map_or(i64::MIN, |frame| frame.at_ns + 1);
        let later = |frame: &&Frame| covering(lane, frame, lost, since_ns);
        Self {
            lane,
            again: again.iter().flat_map(later).collect(),
            first,
        }
    }

    /// At the point after: none of the lost bytes, or a part of them.
    fn after(lane: &'a Lane, lost: &Frame) -> Self {
        Self {
            lane,
            first: Vec::new(),
            again: covering(lane, lost, lost, i64::MIN),
        }
    }

    /// The numbers of all frames.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let all = self.first.iter().chain(&self.again);
        let mut numbers: Vec<u64> = all.map(|frame| frame.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Lost frames of a lane, each with the next frame that carries its first byte again.
fn candidates(
    series: &Series,
    index: usize,
    to_client: bool,
    may_guess: bool,
) -> impl Iterator<Item = (usize, &Frame, &Frame)> {
    let lane = &series.lanes[index];
    let is_last = series.lanes.len() == 1;
    let is_guessed = move |frame: &Frame| may_guess && is_last && is_sent_again(lane, frame);
    let frames = lane.frames.iter().enumerate();
    let lost = frames.filter(move |(_, frame)| is_data(frame, to_client));
    let lost = lost.filter(move |(_, frame)| frame.is_lost() || is_guessed(frame));
    lost.take(LOOKED_AT).filter_map(move |(i, lost)| {
        let mut later = lane.frames[i + 1..].iter();
        let again = later.find(|later| is_data(later, to_client) && holds(later, lost.start))?;
        Some((index, lost, again))
    })
}

/// Whether the bytes of a frame of several segments were retransmitted.
fn is_sent_again(lane: &Lane, frame: &Frame) -> bool {
    let first = lane.frames.partition_point(|one| one.at_ns <= frame.at_ns);
    let mut later = lane.frames[first..].iter();
    let again = later.find(|later| is_data(later, frame.to_client) && holds(later, frame.start));
    frame.segments > 1
        && frame.data == Data::New
        && again.is_some_and(|one| one.data == Data::Again)
}

/// The frames with the bytes of `bytes`, each byte once, since a time; at most up to the end of `lost`.
fn covering<'a>(lane: &'a Lane, bytes: &Frame, lost: &Frame, since_ns: i64) -> Vec<&'a Frame> {
    let (mut next, end) = (bytes.start.max(lost.start), bytes.end().min(lost.end()));
    let mut found = Vec::new();
    let frames = lane.frames.iter().filter(|frame| frame.at_ns >= since_ns);
    for frame in frames.filter(|frame| is_data(frame, lost.to_client)) {
        if next >= end || found.len() == PIECES {
            break;
        }
        if holds(frame, next) {
            found.push(frame);
            next = frame.end();
        }
    }
    found
}

fn holds(frame: &Frame, byte: i64) -> bool {
    frame.start <= byte && byte < frame.end()
}

fn is_data(frame: &Frame, to_client: bool) -> bool {
    frame.data != Data::None && frame.to_client == to_client
}
