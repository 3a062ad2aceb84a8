//! A frame that left the first point, and what of it has come to the second one.

use super::outcome::{Judged, Outcome, Seen};

/// A frame that waits for its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) seen: Seen,
    /// From the last acknowledgment to the end of the frame.
    pub(super) ahead: u32,
    pub(super) covered: u32,
    pub(super) pieces: u32,
    pub(super) inside_larger: bool,
    pub(super) fragmented: bool,
    /// When any of the same bytes were sent again, by the clock of the point that they left.
    pub(super) again_ns: Option<i64>,
    /// No other frame of the connection followed within a millisecond, or came that shortly before.
    pub(super) lone: bool,
}

impl Waiting {
    pub(super) fn new(seen: Seen, ahead: u32, lone: bool) -> Self {
        Self {
            seen,
            ahead,
            covered: 0,
            pieces: 0,
            inside_larger: false,
            fragmented: false,
            again_ns: None,
            lone,
        }
    }

    pub(super) fn arrival(&self) -> Outcome {
        match self {
            Self {
                fragmented: true, ..
            } => Outcome::Fragmented,
            Self { pieces: 2.., .. } => Outcome::Resplit,
            // One piece, and the second capture missed the others.
            Self { covered, seen, .. } if *covered < seen.len => Outcome::Resplit,
            Self {
                inside_larger: true,
                ..
            } => Outcome::MergedFurther,
            _ => Outcome::Arrived,
        }
    }

    pub(super) fn judged(&self, connection: u32, outcome: Outcome) -> Judged {
        Judged {
            connection,
            len: self.seen.len,
            ahead: self.ahead,
            number: self.seen.number,
            turn: self.seen.turn,
            lone: self.lone,
            behind_hole: false,
            pause_ns: self.seen.pause_ns,
            time_ns: self.seen.time_ns,
            own_ns: self.seen.own_ns,
            outcome,
        }
    }
}
