//! What the two points of a hop show of a connection.

use super::outcome::Seen;
use crate::frame::{Frame, Odd};

/// First or second point of the hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(super) fn new(index: usize) -> Self {
        if index == 0 {
            Self::First
        } else {
            Self::Second
        }
    }
}

/// A frame at one point, in its own time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) time_ns: i64,
    /// What distinguishes the frame from others of the same position; 0 if nothing does.
    pub(super) mark: u32,
    pub(super) ttl: u8,
    pub(super) fragmented: bool,
}

impl Sighting {
    pub(super) fn of(frame: &Frame) -> Self {
        Self {
            time_ns: frame.time_ns,
            mark: frame.ack_mark(),
            ttl: frame.ttl,
            fragmented: frame.is(Odd::FRAGMENTED),
        }
    }
}

/// Something seen at a point, of a direction's data: in the point's own terms until a pair takes it,
/// then by the first point's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Syn {
        number: u32,
        sighting: Sighting,
    },
    Data(Seen),
    Ack {
        position: u64,
        sighting: Sighting,
    },
    /// The receiver of the data wants no more of it (RST).
    Reset {
        time_ns: i64,
    },
}

impl Event {
    /// The time by the clock of the point that saw the frame.
    pub(super) fn own_ns(&self) -> i64 {
        match self {
            Self::Data(seen) => seen.own_ns,
            Self::Syn { sighting, .. } | Self::Ack { sighting, .. } => sighting.time_ns,
            Self::Reset { time_ns } => *time_ns,
        }
    }
}

/// An event with the end that sent the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub(super) from_low: bool,
    pub(super) event: Event,
}
