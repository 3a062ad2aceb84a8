//! Frames of a hop, and what became of them.

use crate::connection::Tracked;
use crate::frame::{Frame, Odd};

/// A data frame at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) start: u64,
    pub(crate) len: u32,
    /// By the first point's clock, as far as it is known.
    pub(crate) time_ns: i64,
    /// By the clock of the point that saw it.
    pub(crate) own_ns: i64,
    /// How long no data had passed the point before, of any connection.
    pub(crate) pause_ns: i64,
    pub(crate) number: u64,
    /// Of the frames with data that passed the point, in all its files.
    pub(crate) turn: u64,
    pub(crate) tsval: u32,
    /// IPv4 identification; 0 if it is not known.
    pub(crate) id: u16,
    pub(crate) ttl: u8,
    pub(crate) fragmented: bool,
}

impl Seen {
    /// A frame as its point shows it.
    pub(super) fn of(frame: &Frame, tracked: &Tracked, (pause_ns, turn): (i64, u64)) -> Self {
        Self {
            start: tracked.start,
            len: frame.payload,
            time_ns: frame.time_ns,
            own_ns: frame.time_ns,
            pause_ns,
            number: frame.number,
            turn,
            tsval: frame.timestamps().map_or(0, |(tsval, _)| tsval),
            id: frame.id,
            ttl: frame.ttl,
            fragmented: frame.is(Odd::FRAGMENTED),
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// How the identification of a frame that begins at the same position compares to this one's.
    pub(crate) fn sameness(&self, other: &Self) -> Sameness {
        if self.start != other.start || self.id == 0 || other.id == 0 {
            Sameness::Unknown
        } else if self.id == other.id {
            Sameness::Same
        } else {
            Sameness::Other
        }
    }
}

/// Whether two frames are one transmission, as far as identifications tell. The likelier comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sameness {
    Same,
    Unknown,
    Other,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Arrived,
    Resplit,
    MergedFurther,
    Fragmented,
    PartlyLost,
    Lost,
    /// The second capture missed it.
    Missed,
    NotJudged,
}

/// A frame with its outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged {
    /// Its connection, by the number at the first point of the hop.
    pub(crate) connection: u32,
    pub(crate) len: u32,
    /// From the last acknowledgment to the end of the frame; 0 before the first acknowledgment.
    pub(crate) ahead: u32,
    pub(crate) number: u64,
    /// Which of the frames with data it was that left the point.
    pub(crate) turn: u64,
    pub(crate) lone: bool,
    /// A frame in front of it that left earlier was still missing.
    pub(crate) behind_hole: bool,
    /// How long no data had passed the point before.
    pub(crate) pause_ns: i64,
    /// When it left, by the first point's clock.
    pub(crate) time_ns: i64,
    /// The same by the clock of the point that it left.
    pub(crate) own_ns: i64,
    pub(crate) outcome: Outcome,
}

/// What is known around the frames when they are judged. Times are those of the first point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// How far the first point was read.
    pub(crate) upstream_ns: i64,
    /// How far the second point was read, and when its capture began.
    pub(crate) downstream_ns: i64,
    pub(crate) downstream_began_ns: i64,
    /// Both captures were read to their end.
    pub(crate) at_end: bool,
}
