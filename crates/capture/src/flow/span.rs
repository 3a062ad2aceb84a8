//! Where a frame's data lies among its direction's positions.

use crate::frame::Frame;
use crate::outstanding::Transmission;

/// Where a frame's data lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Where the direction stood before it.
    pub(super) next: u64,
}

impl Span {
    pub(super) fn new(start: u64, frame: &Frame) -> Self {
        Self {
            start,
            end: start + u64::from(frame.payload),
            next: 0,
        }
    }

    /// The part from `start` on, as a first transmission.
    pub(super) fn transmission(&self, frame: &Frame, start: u64) -> Transmission {
        Transmission::new(frame, start).without(start - self.start)
    }
}
