//! The lost frame that is the best example, and its bytes at the points around.

use coalescope_capture::series::{Data, Fate, Frame, Lane, Series};

use super::repair::{Missing, PIECES, Repair, SLACK_NS};

/// Frames of a lane that are considered; among more, one of the first is good enough.
const LOOKED_AT: usize = 256;

/// A lost frame, from the point before to the point after.
pub(super) struct Tale<'a> {
    pub(super) before: Option<Stop<'a>>,
    pub(super) here: Stop<'a>,
    pub(super) after: Option<Stop<'a>>,
    pub(super) lost: &'a Frame,
    pub(super) repair: Repair<'a>,
}

/// A point, with its frames of the lost bytes.
pub(super) struct Stop<'a> {
    pub(super) lane: &'a Lane,
    /// Frames before the loss.
    pub(super) first: Vec<&'a Frame>,
    /// Frames of retransmissions that are lost as well.
    vain: Vec<&'a Frame>,
    /// Frames of the retransmissions that bring the bytes.
    pub(super) again: Vec<&'a Frame>,
}

impl<'a> Tale<'a> {
    /// Prefers a frame of which no byte arrived, then one of several segments, then one whose bytes arrive in the end,
    /// and soon.
    pub(super) fn of(series: &'a Series, may_guess: bool) -> Option<Self> {
        let ways = [true, false].into_iter();
        let all = ways.flat_map(|to_client| {
            let lanes = 0..series.lanes.len();
            lanes.flat_map(move |lane| candidates(series, lane, to_client, may_guess))
        });
        let best = all.min_by_key(|(lane, lost, repair)| {
            let is_part = lost.fate == Some(Fate::PartlyLost);
            let wait_ns = repair.wait_ns(lost);
            let is_single = lost.segments <= 1;
            let (is_odd, in_part) = (repair.was_there, !repair.is_whole);
            (is_odd, is_part, is_single, in_part, wait_ns, *lane)
        });
        let (lane, lost, repair) = best?;
        Some(Self::at(series, lane, lost, repair))
    }

    fn at(series: &'a Series, lane: usize, lost: &'a Frame, repair: Repair<'a>) -> Self {
        let of = |index: Option<usize>| series.lanes.get(index?);
        let [previous, next] = neighbours(series, lane, lost.to_client);
        let here = &series.lanes[lane];
        let before = of(previous).map(|lane| Stop::before(lane, here, lost, &repair));
        Self {
            before: before.filter(|stop| !stop.first.is_empty()),
            after: of(next).map(|lane| Stop {
                lane,
                first: Vec::new(),
                vain: Vec::new(),
                again: repair.arrived.clone(),
            }),
            here: Stop {
                lane: here,
                first: vec![lost],
                vain: repair.vain.clone(),
                again: repair.told().clone(),
            },
            lost,
            repair,
        }
    }

    /// The time from the loss to the retransmission that is told of.
    pub(super) fn wait_s(&self) -> f64 {
        self.repair.wait_ns(self.lost) as f64 / 1e9
    }

    /// The points, the one before the loss first.
    pub(super) fn stops(&self) -> impl Iterator<Item = &Stop<'a>> {
        let ends = [self.before.as_ref(), Some(&self.here), self.after.as_ref()];
        ends.into_iter().flatten()
    }
}

impl<'a> Stop<'a> {
    /// At the point before: the frames as sent first, and those that the retransmissions are made of.
    fn before(lane: &'a Lane, here: &Lane, lost: &Frame, repair: &Repair<'_>) -> Self {
        let is_known = lane.is_aligned && here.is_aligned;
        let sources = |frames: &[&Frame]| -> Vec<&'a Frame> {
            let frames = frames.iter().filter(|_| is_known);
            frames
                .flat_map(|frame| sources(lane, frame, lost))
                .collect()
        };
        Self {
            lane,
            first: sources(&[lost]),
            vain: sources(&repair.vain),
            again: sources(repair.told()),
        }
    }

    /// All frames.
    pub(super) fn frames(&self) -> Vec<&'a Frame> {
        let all = self.first.iter().chain(&self.vain).chain(&self.again);
        all.copied().collect()
    }
}

/// The lanes before and behind one, in the direction of the data.
fn neighbours(series: &Series, lane: usize, to_client: bool) -> [Option<usize>; 2] {
    let is_forth = series.nearest_sender[usize::from(to_client)] == 0;
    let next = Some(lane + 1).filter(|next| *next < series.lanes.len());
    match is_forth {
        true => [lane.checked_sub(1), next],
        false => [next, lane.checked_sub(1)],
    }
}

/// The repair of a frame that is lost behind a lane.
pub(in crate::html) fn repair<'a>(series: &'a Series, lane: usize, lost: &'a Frame) -> Repair<'a> {
    let [_, next] = neighbours(series, lane, lost.to_client);
    let next = next.map(|next| &series.lanes[next]);
    Repair::of(&series.lanes[lane], next, lost)
}

/// Lost frames of a lane that were retransmitted, each with its repair.
fn candidates(
    series: &Series,
    index: usize,
    to_client: bool,
    may_guess: bool,
) -> impl Iterator<Item = (usize, &Frame, Repair<'_>)> {
    let lane = &series.lanes[index];
    let is_last = series.lanes.len() == 1;
    let is_guessed = move |frame: &Frame| may_guess && is_last && is_sent_again(lane, frame);
    let frames = lane.frames.iter();
    let lost = frames.filter(move |frame| is_data(frame, to_client));
    let lost = lost.filter(move |frame| frame.is_lost() || is_guessed(frame));
    let repairs = lost.take(LOOKED_AT);
    let repairs = repairs.map(move |lost| (index, lost, repair(series, index, lost)));
    repairs.filter(|(_, _, repair)| repair.sent().next().is_some())
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

/// The frames at the point before that a frame is made of, as far as they are of the lost bytes: the last ones before
/// it with each byte.
fn sources<'a>(lane: &'a Lane, frame: &Frame, lost: &Frame) -> Vec<&'a Frame> {
    let end = lane
        .frames
        .partition_point(|one| one.at_ns <= frame.at_ns + SLACK_NS);
    let mut wanted = Missing::of(frame).within(lost);
    let earlier = lane.frames[..end].iter().rev();
    let earlier = earlier.filter(|one| is_data(one, lost.to_client));
    let mut found: Vec<&Frame> = Vec::new();
    for one in earlier {
        if wanted.is_empty() || found.len() == PIECES {
            break;
        }
        if wanted.take(one) {
            found.push(one);
        }
    }
    found.reverse();
    found
}

fn holds(frame: &Frame, byte: i64) -> bool {
    frame.start <= byte && byte < frame.end()
}

fn is_data(frame: &Frame, to_client: bool) -> bool {
    frame.data != Data::None && frame.to_client == to_client
}
