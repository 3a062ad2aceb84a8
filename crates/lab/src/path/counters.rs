//! Counters of elements: frames that passed, were merged, or were dropped.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why an element dropped a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// A link's queue was full.
    Queue,
    /// A link's random loss.
    Loss,
    /// A link's burst of loss.
    Burst,
    /// Longer than an MTU.
    TooLong,
    /// Merged, and not carried to a guest with a large MTU (Hyper-V of Windows Server 2019).
    Merged,
    /// Refused by the kernel: the interface is down.
    Refused,
    /// The virtio-net header contradicts the frame.
    Malformed,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 7] = [
        Self::Queue,
        Self::Loss,
        Self::Burst,
        Self::TooLong,
        Self::Merged,
        Self::Refused,
        Self::Malformed,
    ];

    /// The reason's name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue-full",
            Self::Loss => "random-loss",
            Self::Burst => "burst-loss",
            Self::TooLong => "longer-than-mtu",
            Self::Merged => "merged-frame",
            Self::Refused => "refused-by-kernel",
            Self::Malformed => "malformed",
        }
    }
}

/// Counters of one direction of an element, while it runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    frames_in: AtomicU64,
    frames_out: AtomicU64,
    merged: AtomicU64,
    segments: AtomicU64,
    dropped: [AtomicU64; DropReason::ALL.len()],
}

impl Tally {
    pub(super) fn frame_in(&self) {
        self.frames_in.fetch_add(1, Relaxed);
    }

    pub(super) fn frame_out(&self) {
        self.frames_out.fetch_add(1, Relaxed);
    }

    pub(super) fn merge(&self, segments: u16) {
        self.merged.fetch_add(1, Relaxed);
        self.segments.fetch_add(segments.into(), Relaxed);
    }

    pub(super) fn drop_frame(&self, reason: DropReason) {
        if let Some(count) = self.dropped.get(reason as usize) {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn read(&self) -> Counts {
        let dropped = DropReason::ALL.into_iter().zip(&self.dropped);
        let dropped = dropped.map(|(reason, count)| (reason, count.load(Relaxed)));
        Counts {
            frames_in: self.frames_in.load(Relaxed),
            frames_out: self.frames_out.load(Relaxed),
            merged: self.merged.load(Relaxed),
            segments: self.segments.load(Relaxed),
            dropped: dropped.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

/// Counts of one direction of an element so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that came in; a merged frame counts once.
    pub frames_in: u64,
    /// Frames that went out, toward either side.
    pub frames_out: u64,
    /// Frames that this element merged.
    pub merged: u64,
    /// Segments in the merged frames.
    pub segments: u64,
    /// Dropped frames by reason; reasons without a frame are left out.
    pub dropped: Vec<(DropReason, u64)>,
}

impl Counts {
    /// Frames dropped for a reason.
    #[must_use]
    pub fn dropped_for(&self, reason: DropReason) -> u64 {
        let found = self.dropped.iter().find(|(why, _)| *why == reason);
        found.map_or(0, |(_, count)| *count)
    }
}

/// Counts of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementCounts {
    /// The wire, by the interfaces at its ends: `box/uplink - far/eth0`.
    pub wire: String,
    /// The element's name; the interface's for the end of the wire.
    pub element: String,
    /// Counts toward the client, and toward the server.
    pub toward: [Counts; 2],
}

impl ElementCounts {
    pub(super) fn read(wire: &str, element: &str, tallies: &[Tally; 2]) -> Self {
        Self {
            wire: wire.to_owned(),
            element: element.to_owned(),
            toward: [tallies[0].read(), tallies[1].read()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_where_they_belong() {
        let tally = Tally::default();
        for reason in DropReason::ALL {
            for _ in 0..=(reason as usize) {
                tally.drop_frame(reason);
            }
        }
        let counts = tally.read();
        for (number, reason) in (1..).zip(DropReason::ALL) {
            assert_eq!(counts.dropped_for(reason), number, "{}", reason.name());
        }
        assert_eq!(Counts::default().dropped_for(DropReason::Loss), 0);
    }
}
