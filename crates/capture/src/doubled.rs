//! Frames that stand in a capture twice: a mirror of ingress and egress, `tcpdump -i any` on a
//! bridge, a routed packet before and after. They are one transmission, not two.

use crate::frame::Frame;

/// Frames of one direction remembered; mirrors deliver the copy within a few frames.
const REMEMBERED: usize = 8;
/// A copy comes within this, even through a queue. Stacks that send a segment again with the same
/// identification wait for a retransmission timeout, 200 ms at least.
const COPY_NS: i64 = 50_000_000;
/// Frames without identification (IPv6, or DF with an ID of 0 as RFC 6864 allows) are copies only
/// if they are this close: faster than a round trip, and than timestamps tick.
const CLOSE_NS: i64 = 1_000_000;

/// Whether two equal frames, this far apart, are one transmission.
#[inline]
pub(crate) fn is_copy(frame: &Frame, apart_ns: i64) -> bool {
    apart_ns < if frame.id == 0 { CLOSE_NS } else { COPY_NS }
}

/// Signatures of the last frames of one direction, with their times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    signatures: [u32; REMEMBERED],
    /// In units of 1,024 ns, modulo 2^32: over an hour.
    times: [u32; REMEMBERED],
}

impl Recent {
    /// Whether the frame was among the last ones.
    ///
    /// `doubling` says that this capture doubles frames as a rule: only then is an ACK without
    /// identification taken for a copy, since true duplicate ACKs can be equal to the bit.
    #[inline]
    pub(crate) fn knows(&self, frame: &Frame, signature: u32, doubling: bool) -> bool {
        self.may_know(signature)
            && (frame.id != 0 || frame.payload > 0 || doubling)
            && self.is_recent(frame, signature)
    }

    /// Whether one of the last frames had this signature; frames of long ago may have.
    #[inline]
    pub(crate) fn may_know(&self, signature: u32) -> bool {
        self.signatures.contains(&signature)
    }

    #[cold]
    fn is_recent(&self, frame: &Frame, signature: u32) -> bool {
        let now = time(frame);
        self.signatures.iter().zip(self.times).any(|(known, then)| {
            *known == signature && is_copy(frame, i64::from(now.wrapping_sub(then)) << 10)
        })
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.signatures[0])
    }

    /// Remembers a frame, of which there were so many before.
    #[inline]
    pub(crate) fn add(&mut self, frame: &Frame, signature: u32, before: u64) {
        let at = before as usize % REMEMBERED;
        self.signatures[at] = signature;
        self.times[at] = time(frame);
    }
}

#[inline]
fn time(frame: &Frame) -> u32 {
    (frame.time_ns >> 10) as u32
}
