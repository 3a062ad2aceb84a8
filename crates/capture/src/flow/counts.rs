//! What is counted of one direction, and what its frames can be.

use crate::doubled::First;

/// Counters of one direction that nearly every frame changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) frames: u64,
    pub(crate) data_frames: u64,
    pub(crate) payload_bytes: u64,
    /// Frames with data that came right behind the one before, near enough to be merged with it.
    pub(crate) near: u32,
    /// Single frames whose checksum was left to the NIC (`partial`), and those whose checksum was filled in
    /// (`complete`).
    pub(crate) partial: u8,
    pub(crate) complete: u8,
    /// Frames over 1,460 bytes with a partial checksum (`large_partial`), and all of that length that were looked at
    /// (`large`).
    pub(crate) large_partial: u8,
    pub(super) large: u8,
}

/// What a frame's data was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// No payload, or none that belongs here.
    None,
    /// New bytes, in order or beyond.
    New,
    /// New bytes from below the highest position seen.
    OutOfOrder,
    /// Only bytes seen before.
    Repeat,
    /// A keep-alive or window probe.
    Probe,
    /// The same frame captured twice.
    Doubled,
}

/// What the rest of the connection knows, for reading a frame of this direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// The other side reports data missing.
    pub(crate) loss_reported: bool,
    /// The other side has never sent a SACK or D-SACK.
    pub(crate) without_sack: bool,
    /// Smallest round trip of the whole path; 0 if not known.
    pub(crate) rtt_ns: i64,
    /// A lower bound of the round trip: where the whole is not known, a half may be.
    pub(crate) least_rtt_ns: i64,
    /// The shortest time from a frame of the other side to its answer.
    pub(crate) turn_ns: Option<i64>,
    /// Time of the other side's last data.
    pub(crate) asked_ns: i64,
    /// Acknowledgments without data are captured, other than the one that ends the handshake.
    pub(crate) is_heard: bool,
    /// Bits of the connection's ends; see [`crate::key::Key::mark`].
    pub(crate) ends: u64,
    /// The connection was reset.
    pub(crate) reset: bool,
    /// The frame acknowledges more than was acknowledged.
    pub(crate) advances: bool,
    /// Where to look for the frame that first acknowledged the same position.
    pub(crate) acknowledged: First,
}

/// Why a frame of the other direction may show nothing of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Late {
    /// Frames before it reported missing data: the data that it acknowledges may have arrived long ago.
    pub(crate) after_hole: bool,
    /// Its sender had waited as long as a timeout takes before it sent this data.
    pub(crate) waited: bool,
}
