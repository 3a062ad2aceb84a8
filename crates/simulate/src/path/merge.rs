//! Receiving NICs that merge.

use crate::schedule::Nanos;
use crate::side::Side;

/// The rules of a merging NIC or driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// Linux GRO: ACK, window and options must be equal; the checksum is left as the pseudo-header
    /// sum; the segment size is handed on, so the frame can be cut again.
    Gro,
    /// LRO of hardware or driver: ACK and timestamps may advance; full checksum; not reversible.
    Lro,
    /// Hyper-V's virtual switch and Windows RSC: as LRO.
    Rsc,
}

/// When a receiving NIC interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// At multiples of the interval, if there is something.
    Grid,
    /// At once, but not before the interval is over since the last time: a first frame goes up alone.
    Throttled,
    /// The interval after the first frame.
    Delayed,
}

/// A receiving NIC that merges what arrives within one interval.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    /// Frames toward this side are merged.
    pub toward: Side,
    /// The rules.
    pub kind: MergeKind,
    /// The segment size is kept, whatever the kind does by itself.
    pub reversible: bool,
    /// Time between interrupts: everything between two of them is one batch.
    pub interval: Nanos,
    /// When interrupts come.
    pub timing: Timing,
    /// Frames after which a batch ends all the same; 0 for no such limit.
    pub frames: usize,
    /// Segments per frame at most; 0 for no limit but 64 KB.
    pub max_segments: usize,
}

impl Merge {
    /// GRO toward a side.
    #[must_use]
    pub fn gro(toward: Side, interval: Nanos) -> Self {
        Self {
            toward,
            kind: MergeKind::Gro,
            reversible: true,
            interval,
            timing: Timing::Grid,
            frames: 0,
            max_segments: 0,
        }
    }

    /// LRO or RSC toward a side.
    #[must_use]
    pub fn lro(toward: Side, interval: Nanos) -> Self {
        Self {
            kind: MergeKind::Lro,
            reversible: false,
            ..Self::gro(toward, interval)
        }
    }
}
