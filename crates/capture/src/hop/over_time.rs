//! What became of a hop's frames over time: in slots for a line of text, and one by one around the first losses.

use super::in_turn::InTurn;
use super::outcome::Judged;
use super::strip::Slots;
use crate::facts::hop::Hop;

/// One direction of a hop, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct OverTime {
    slots: Slots,
    in_turn: InTurn,
}

impl OverTime {
    /// Takes a frame; `multi` says whether it carried several segments.
    pub(super) fn add(&mut self, judged: &Judged, multi: bool) {
        self.slots.add(judged, multi);
        self.in_turn.add(judged, multi);
    }

    pub(super) fn fill(&mut self, hop: &mut Hop) {
        hop.strip = self.slots.strip();
        hop.in_turn = self.in_turn.frames();
    }
}
