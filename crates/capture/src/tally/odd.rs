//! Rare events of a direction: retransmissions, holes, rejected frames, timeouts.

use crate::stuck::Stuck;

/// Counters that stay 0 in most directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Odd {
    pub(crate) retransmitted: u32,
    /// Payload bytes that were seen before.
    pub(crate) repeated_bytes: u64,
    /// Of the retransmitted: full single frames, and those of them whose bytes had been retransmitted before.
    pub(crate) retried: u32,
    pub(crate) retried_in_vain: u32,
    pub(crate) fast: u32,
    pub(crate) timeout: u32,
    pub(crate) spurious: u32,
    pub(crate) keep_alives: u32,
    pub(crate) out_of_order: u32,
    pub(crate) late: u32,
    pub(crate) rejected_merged: u32,
    pub(crate) rejected_single: u32,
    pub(crate) rejected_mtu: u32,
    /// When a message first came while the newest data had the length that the MTU allows; 0 if none did.
    pub(crate) obeyed_ns: i64,
    /// Frames with an IP length of 0 that would have fitted.
    pub(crate) length_zero: u32,
    pub(crate) strays: u32,
    /// Position up to which the sender repeats data after a timeout.
    pub(crate) recovery_until: u64,
    pub(crate) stuck: Stuck,
    /// Where the last retransmission ends, and its payload, until it is known whether it was in vain.
    pub(crate) tried: (u64, u32),
    pub(crate) unheard: Unheard,
    /// Data that came beyond bytes not seen, and the fewest such bytes.
    pub(crate) holes: u32,
    /// Those of one segment.
    pub(crate) single_holes: u32,
    pub(crate) least_hole: u32,
    /// The shortest time from a loss to its repair; 0 if there was none.
    pub(crate) repair_ns: i64,
    /// Payload of the longest frame over a segment of Ethernet, where the segment size cannot be known.
    pub(crate) longest_unknown: u32,
}

/// Silences after which a sender repeats what was acknowledged: the acknowledgment did not come to the sender in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unheard {
    /// Those as long as a timeout.
    pub(crate) waits: Gaps,
    /// When the last such repeat came, and how long the silence in front of it was.
    pub(crate) at_ns: i64,
    pub(crate) last_ns: i64,
}

/// Gaps, and the time in them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) count: u32,
    pub(crate) ns: i64,
}

impl Gaps {
    pub(crate) fn add(&mut self, ns: i64) {
        self.count += 1;
        self.ns = self.ns.saturating_add(ns);
    }

    /// Takes one of the gaps back.
    pub(crate) fn take_back(&mut self, ns: i64) {
        self.count -= 1;
        self.ns = self.ns.saturating_sub(ns);
    }

    /// Whether the gaps are longer than this, on average.
    pub(crate) fn exceed(self, ns: i64) -> bool {
        self.ns >= i64::from(self.count).saturating_mul(ns)
    }
}

impl Odd {
    /// Notes that data came beyond so many missing bytes.
    #[cold]
    pub(crate) fn note_hole(&mut self, bytes: u64, is_one_segment: bool) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.least_hole = if self.holes == 0 {
            bytes
        } else {
            bytes.min(self.least_hole)
        };
        self.holes += 1;
        self.single_holes += u32::from(is_one_segment);
    }

    /// Notes the time from a frame, or from the hole that it left, to the repetition of its bytes.
    pub(crate) fn note_repair(&mut self, took_ns: i64) {
        if took_ns > 0 && (self.repair_ns == 0 || took_ns < self.repair_ns) {
            self.repair_ns = took_ns;
        }
    }
}
