//! What a loss looks like at one point.

use coalescope_capture::facts::Connection;

use crate::limits::{
    is_mostly_stuck, is_stuck, is_stuck_by_length, is_stuck_merged, opposite, waits_for_acks,
    waits_for_handshake,
};

/// Losses that need different words, and different eyes to look for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Segments, here and there.
    #[default]
    Segments,
    /// The same bytes, timeout after timeout.
    Stuck,
    /// Acknowledgments that do not come back to the sender.
    Acks,
    /// A SYN, or the answer to one.
    Handshake,
}

impl Kind {
    /// Of a direction of a connection that loses something.
    pub(crate) fn of(connection: &Connection, direction: &str) -> Self {
        let data = connection.direction(direction);
        let acks = connection.direction(opposite(direction));
        let is_outage = || is_mostly_stuck(data, acks) && !is_stuck_merged(data);
        let is_cut_off = || is_stuck_by_length(data, acks) || is_outage();
        if waits_for_handshake(connection) {
            Self::Handshake
        } else if waits_for_acks(data, acks) {
            Self::Acks
        } else if is_stuck(data, acks) && is_cut_off() {
            Self::Stuck
        } else {
            Self::Segments
        }
    }
}
