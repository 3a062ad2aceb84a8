//! A place where frames are captured, and what its capture is like.

use super::Bursts;
use crate::schedule::Nanos;
use crate::side::Side;

/// A capture point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its name.
    pub name: String,
    /// The offset of its clock from the true time, in nanoseconds.
    pub offset: i64,
    /// How much faster than true time its clock runs, in parts per billion.
    pub drift_ppb: i64,
    /// From this time on its clock shows so many nanoseconds more: somebody set it.
    pub set: Option<(Nanos, i64)>,
    /// Bytes kept of each frame.
    pub snap: u32,
    /// Probability that the sniffer misses a frame that went through.
    pub missed: f64,
    /// The sniffer misses frames in runs, like one whose ring is full: these frames went through.
    pub missed_runs: Option<Bursts>,
    /// Longer frames are left out by the capture's filter.
    pub longest: usize,
    /// The resolution of its clock.
    pub tick: Nanos,
    /// Frames are written in the order in which some queues are emptied, up to so much later than their stamps say.
    pub unsorted: Nanos,
    /// Each frame is captured again this much later, as a mirror of ingress and egress does.
    pub doubled: Option<Nanos>,
    /// Each frame is captured again this much later, after a router that sends it out of the port it
    /// came in by: with a TTL less by one and other MAC addresses.
    pub routed: Option<Nanos>,
    /// What is captured again is cut into segments by then, as it leaves an interface that cannot do so itself.
    pub recut: bool,
    /// Only frames toward this side are captured.
    pub only: Option<Side>,
    /// Time from which on the capture runs.
    pub begins: Nanos,
    /// Time until which the capture runs.
    pub ends: Nanos,
    /// The file format.
    pub format: Format,
    /// The host whose own capture this is: pcapng then marks frames inbound or outbound.
    pub own: Option<Side>,
}

impl Point {
    /// A point with a right clock that misses nothing and writes pcap in microseconds.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            offset: 0,
            drift_ppb: 0,
            set: None,
            snap: 262_144,
            missed: 0.0,
            missed_runs: None,
            longest: usize::MAX,
            tick: 1,
            unsorted: 0,
            doubled: None,
            routed: None,
            recut: false,
            only: None,
            begins: 0,
            ends: Nanos::MAX,
            format: Format::default(),
            own: None,
        }
    }
}

/// The format of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The classic format.
    Pcap {
        /// Nanoseconds instead of microseconds.
        nanos: bool,
        /// Written on a big-endian machine.
        big_endian: bool,
    },
    /// The IETF draft's format, nanoseconds, little-endian.
    Pcapng,
}

impl Default for Format {
    fn default() -> Self {
        Self::Pcap {
            nanos: false,
            big_endian: false,
        }
    }
}
