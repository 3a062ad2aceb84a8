//! Frames that stand in a capture twice: a mirror of ingress and egress, `tcpdump -i any` on a
//! bridge, a routed packet before and after. They are one transmission, not two.

use crate::frame::Frame;

/// Frames of one direction remembered; mirrors deliver the copy within a few frames.
const REMEMBERED: usize = 16;
/// Two frames without identification (IPv6, or DF with an ID of 0 as RFC 6864 allows) are the same
/// one only if they are this close: timestamps tick at most once a millisecond.
pub(crate) const CLOSE_NS: i64 = 1_000_000;

/// Signatures of the last frames of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    signatures: [u32; REMEMBERED],
    at: u8,
    last_ns: i64,
}

impl Recent {
    /// Whether the frame was among the last ones.
    ///
    /// `doubling` says that this capture doubles frames as a rule: only then is an ACK without
    /// identification taken for a copy, since true duplicate ACKs can be equal to the bit.
    #[inline]
    pub(crate) fn knows(&self, frame: &Frame, signature: u32, doubling: bool) -> bool {
        let close = frame.time_ns - self.last_ns < CLOSE_NS;
        let telling = frame.id != 0 || close && (frame.payload > 0 || doubling);
        telling && self.signatures.contains(&signature)
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.signatures[0] ^ self.signatures[REMEMBERED - 1])
    }

    /// Remembers a frame.
    #[inline]
    pub(crate) fn add(&mut self, signature: u32, time_ns: i64) {
        self.last_ns = time_ns;
        self.signatures[usize::from(self.at) % REMEMBERED] = signature;
        self.at = self.at.wrapping_add(1);
    }
}
