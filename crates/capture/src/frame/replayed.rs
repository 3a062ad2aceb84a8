//! Frames from rows. State that depends on earlier frames is kept here, so that the rows of one file know of no other
//! file.

use coalescope_wire::{Flags, LinkType};

use super::Frame;
use super::steady::Steady;
use crate::file::{Direction, RawFrame};
use crate::fragments::Fragments;
use crate::key::Key;
use crate::row::{Kind, Row};

/// Turns the rows of one point into digests.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    fragments: Fragments,
    clock: Steady,
    /// Key of the TCP frame before.
    last: Option<Key>,
}

impl Replayed {
    /// Rows of the only point, whose clock may be set back meanwhile.
    pub(crate) fn alone() -> Self {
        Self {
            clock: Steady::followed(),
            ..Self::default()
        }
    }

    /// Makes the slot the frame that a row stands for.
    pub(crate) fn read(&mut self, row: &Row, slot: &mut Frame) -> Kind {
        let digest = slot.read(row);
        slot.time_ns = self.clock.time_of_new_ns(&timed(row));
        let is_first = digest == Kind::FirstFragment;
        let digest = match (is_first || digest == Kind::LaterFragment, slot.piece()) {
            (true, Some(piece)) => self.fragments.add(piece, is_first, slot),
            _ => digest,
        };
        if digest == Kind::Tcp {
            slot.follows = self.last == Some(slot.key) && !slot.flags.has(Flags::SYN);
            self.last = Some(slot.key);
        }
        digest
    }

    /// By how much the clock was set back during the capture, if it was.
    pub(crate) fn set_back_ns(&self) -> Option<i64> {
        self.clock.set_back_ns()
    }

    /// Datagrams that never became whole.
    pub(crate) fn incomplete_datagrams(&self) -> u64 {
        self.fragments.incomplete()
    }
}

/// A frame with the fields that the clock reads.
fn timed(row: &Row) -> RawFrame<'static> {
    RawFrame {
        number: row.number,
        time_ns: row.time_ns,
        interface: row.interface.into(),
        link: LinkType::from_dlt(row.link),
        original_len: row.bytes,
        data: &[],
        direction: Direction::Unknown,
    }
}
