//! Where a frame's data lies among its direction's positions.

use crate::doubled::Place;
use crate::frame::Frame;
use crate::outstanding::Transmission;

/// Where a frame's data lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The next position of the direction before the frame.
    pub(super) next: u64,
    /// Where the frame is remembered, if it brings new data.
    place: Option<Place>,
}

impl Span {
    pub(super) fn new(start: u64, frame: &Frame, place: Option<Place>) -> Self {
        Self {
            start,
            end: start + u64::from(frame.payload),
            next: 0,
            place,
        }
    }

    /// The part from `start` on, as a first transmission.
    pub(super) fn transmission(&self, frame: &Frame, start: u64) -> Transmission {
        let whole = Transmission::new(frame, start);
        let remembered = self.place.map_or(whole, |place| whole.at(place));
        remembered.without(start - self.start)
    }
}
