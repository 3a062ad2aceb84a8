//! Data for the script: to draw a part of the plot larger, and to describe the frame under the
//! pointer. Columns of integers; where that is shorter, each number but the first is the difference
//! to the one before.

use coalescope_capture::series::{Data, Fate, Frame, Lane};
use serde::Serialize;

use super::is_data;

/// Positions of the lanes, and ranges of the axes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Geometry {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) height: f64,
    pub(super) gap: f64,
    pub(super) begin_ns: i64,
    pub(super) end_ns: i64,
    /// The part that is drawn at first.
    pub(super) view_ns: [i64; 2],
    /// Bytes at the bottom and at the top of each lane.
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A plot.
#[derive(Debug, Serialize)]
pub(super) struct Plot<'a> {
    geometry: Geometry,
    lanes: Vec<LaneData<'a>>,
}

/// A lane.
#[derive(Debug, Default, Serialize)]
struct LaneData<'a> {
    point: &'a str,
    segment: u32,
    data: DataFrames,
    answers: Answers,
}

/// Data frames.
#[derive(Debug, Default, Serialize)]
struct DataFrames {
    /// Frame numbers, differences.
    number: Vec<i64>,
    /// Nanoseconds, differences.
    time: Vec<i64>,
    /// First byte, differences.
    start: Vec<i64>,
    payload: Vec<u32>,
    segments: Vec<u32>,
    /// See [`kind`].
    kind: Vec<u32>,
}

/// Frames of the other direction with an acknowledgement.
#[derive(Debug, Default, Serialize)]
struct Answers {
    /// Frame numbers, differences.
    number: Vec<i64>,
    /// Nanoseconds, differences.
    time: Vec<i64>,
    /// Next byte expected, differences.
    ack: Vec<i64>,
    /// Window in bytes; -1 where it is not known.
    window: Vec<i64>,
    /// Three numbers for each SACK block: the index of its frame, left edge, right edge.
    sack: Vec<i64>,
}

impl<'a> Plot<'a> {
    pub(super) fn new(geometry: Geometry, lanes: &'a [Lane], to_client: bool) -> Self {
        let lanes = lanes.iter().map(|lane| LaneData::new(lane, to_client));
        Self {
            geometry,
            lanes: lanes.collect(),
        }
    }
}

impl<'a> LaneData<'a> {
    fn new(lane: &'a Lane, to_client: bool) -> Self {
        let way = &lane.ways[usize::from(to_client)];
        let data = lane.frames.iter().filter(|frame| is_data(frame, to_client));
        let answers = lane.frames.iter();
        let answers = answers.filter(|f| f.to_client != to_client && f.ack.is_some());
        Self {
            point: &lane.point,
            segment: way.segment_size_bytes.unwrap_or(0),
            data: DataFrames::new(data, way.is_uncut),
            answers: Answers::new(answers),
        }
    }
}

impl DataFrames {
    fn new<'a>(frames: impl Iterator<Item = &'a Frame> + Clone, is_uncut: bool) -> Self {
        Self {
            number: differences(frames.clone().map(|frame| frame.number as i64)),
            time: differences(frames.clone().map(|frame| frame.at_ns)),
            start: differences(frames.clone().map(|frame| frame.start)),
            payload: frames.clone().map(|frame| frame.payload).collect(),
            segments: frames.clone().map(|frame| frame.segments).collect(),
            kind: frames.map(|frame| kind(frame, is_uncut)).collect(),
        }
    }
}

impl Answers {
    fn new<'a>(frames: impl Iterator<Item = &'a Frame> + Clone) -> Self {
        let window = |frame: &Frame| frame.window.map_or(-1, i64::from);
        let sack = frames.clone().enumerate().flat_map(|(i, frame)| {
            let blocks = frame.sack.iter();
            blocks.flat_map(move |(from, to)| [i as i64, *from, *to])
        });
        Self {
            number: differences(frames.clone().map(|frame| frame.number as i64)),
            time: differences(frames.clone().map(|frame| frame.at_ns)),
            ack: differences(frames.clone().filter_map(|frame| frame.ack)),
            sack: sack.collect(),
            window: frames.map(window).collect(),
        }
    }
}

fn differences(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    values
        .map(|value| value - std::mem::replace(&mut before, value))
        .collect()
}

/// The kind of a frame's payload (0 new, 1 out of order, 2 late, 3 retransmitted), plus 4 if it was
/// not segmented yet, plus 8 times its outcome (0 if not known; see below).
fn kind(frame: &Frame, is_uncut: bool) -> u32 {
    let data = match frame.data {
        Data::None | Data::New => 0,
        Data::OutOfOrder => 1,
        Data::Late => 2,
        Data::Again => 3,
    };
    let fate = match frame.fate {
        None => 0,
        Some(Fate::Arrived) => 1,
        Some(Fate::Split) => 2,
        Some(Fate::MergedFurther) => 3,
        Some(Fate::PartlyLost) => 4,
        Some(Fate::Lost) => 5,
        Some(Fate::Missed) => 6,
        Some(Fate::NotJudged) => 7,
    };
    data + 4 * u32::from(is_uncut) + 8 * fate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_add_up() {
        assert_eq!(differences([5, 7, 6].into_iter()), [5, 2, -1]);
    }

    #[test]
    fn kinds_keep_what_they_are_made_of() {
        let frame = Frame {
            data: Data::Again,
            fate: Some(Fate::Lost),
            ..Frame::default()
        };
        let kind = kind(&frame, true);
        assert_eq!((kind % 4, kind / 4 % 2, kind / 8), (3, 1, 5));
    }
}
