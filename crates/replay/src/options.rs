//! Options of a replay, and counts of its input.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gro::Profile;

/// How long a poll lasts unless said otherwise, in microseconds.
pub const DEFAULT_INTERVAL_US: u64 = 50;
/// The longest IP packet of one segment unless said otherwise, in bytes: Ethernet's.
pub const DEFAULT_MTU_BYTES: u32 = 1_500;

/// How to replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rules.
    pub profile: Profile,
    /// How long a poll lasts from its first frame on, in microseconds; 0: each frame is a poll.
    pub interval_us: u64,
    /// The longest IP packet, in bytes, that is taken for a single segment where no SYN was seen.
    pub mtu_bytes: u32,
    /// Set from elsewhere (a signal), ends reading; what was read is then reported.
    pub stop: Arc<AtomicBool>,
}

impl Options {
    /// The defaults for a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            interval_us: DEFAULT_INTERVAL_US,
            mtu_bytes: DEFAULT_MTU_BYTES,
            stop: Arc::default(),
        }
    }
}

/// Counts of the frames that come in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    pub(crate) already_merged: u64,
    pub(crate) truncated: u64,
    pub(crate) unverified: u64,
    pub(crate) offloaded: u64,
    pub(crate) other: u64,
    pub(crate) unlisted: u64,
    pub(crate) left_out: u64,
    /// How often held frames took too much memory.
    pub(crate) ended_early: u64,
}
