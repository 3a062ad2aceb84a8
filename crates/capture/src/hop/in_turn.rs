//! The frames of a hop in the order in which they left, around its first losses.
//!
//! A bucket or a queue drops a frame because of those that passed shortly before; a box that cannot carry a frame drops
//! the frame for its length alone. Only the order of frames shows which of the two it was.

use std::collections::VecDeque;

use super::outcome::{Judged, Outcome};
use crate::facts::hop::Left;

/// Frames that are kept before the first loss is known.
const BEFORE: usize = 1 << 9;
/// And frames in all: the losses of a few seconds tell as much as those of hours.
const ALL: usize = 1 << 11;

/// One direction of a hop, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct InTurn {
    /// With their numbers at the point.
    frames: VecDeque<(u64, Left)>,
    is_lossy: bool,
}

impl InTurn {
    /// Takes a frame; `merged` says whether it carried several segments.
    pub(super) fn add(&mut self, judged: &Judged, merged: bool) {
        let lost = match judged.outcome {
            Outcome::NotJudged => return,
            Outcome::Lost => true,
            _ => false,
        };
        self.is_lossy |= lost;
        if !self.is_lossy && self.frames.len() == BEFORE {
            self.frames.pop_front();
        }
        if self.frames.len() < ALL {
            let left = Left {
                ns: judged.own_ns,
                connection: judged.connection,
                bytes: judged.len,
                ahead: judged.ahead,
                merged,
                lost,
            };
            self.frames.push_back((judged.number, left));
        }
    }

    /// All that are kept, if frames were lost, in the order of the capture: clocks may be set.
    pub(super) fn frames(&mut self) -> Vec<Left> {
        let mut frames = Vec::from(std::mem::take(&mut self.frames));
        frames.retain(|_| self.is_lossy);
        frames.sort_by_key(|(number, _)| *number);
        frames.into_iter().map(|(_, left)| left).collect()
    }
}
