//! What headers alone show: keep-alives, probes, data that was missed, and whose checksums are not filled in.

use coalescope_wire::Flags;

use super::{Flow, STRAY};
use crate::frame::Frame;
use crate::sent::Sent;

/// Checksums looked at in each direction.
const CHECKSUMS: u8 = 64;
/// Frames with less payload than this are single on every path: the smallest IPv6 MTU less headers.
const SURELY_SINGLE: u32 = 1220;
/// Up to this a frame is single wherever the MTU is at least 1500.
const MAYBE_SINGLE: u32 = 1460;

/// By when a sender whose data does not get through has repeated a segment by itself more than once: timeouts begin with 0.2 to 1 s and
/// double (RFC 6298, 2.1 and 5.5).
const NEVER_CAME_NS: i64 = 3_000_000_000;

impl Flow {
    /// A frame without payload has the sequence number of the sender's next byte. A number one below is a keep-alive or
    /// window probe (Linux sends them without a byte). A number beyond the bytes seen shows data that was sent and did
    /// not come here.
    #[inline]
    pub(super) fn look_at_bare_sequence(&mut self, frame: &Frame) {
        let next = self.ranges.next();
        let beyond = frame.seq.wrapping_sub(next as u32);
        let plain = !frame.flags.has(Flags::SYN | Flags::FIN | Flags::RST);
        if beyond == 0 || !plain || !self.started || self.fin {
            return;
        }
        if beyond == u32::MAX {
            if self.acked && self.una >= next {
                self.tally.note_odd().keep_alives += 1;
            }
        } else if u64::from(beyond) < STRAY {
            self.ranges.see(
                next + u64::from(beyond),
                next + u64::from(beyond),
                Sent::of(frame),
            );
        }
    }

    /// Bytes that were sent and did not come here, where none did and none is acknowledged, for `waited_ns`.
    pub(crate) fn never_came(&self, waited_ns: i64) -> u32 {
        let beyond = self.ranges.next().saturating_sub(self.una);
        let is_silent = self.counts.data_frames == 0 && self.started;
        let is_silent = is_silent && waited_ns >= NEVER_CAME_NS;
        u32::try_from(beyond)
            .ok()
            .filter(|_| is_silent)
            .unwrap_or(0)
    }

    /// A partial checksum on a single frame shows that the frame was captured at its sender. On a merged frame it does
    /// not, since GRO leaves a partial checksum too.
    #[inline(always)]
    pub(super) fn look_at_checksum(&mut self, frame: &Frame) {
        let counts = &mut self.counts;
        if frame.checksum == 0 {
            // An anonymiser sets checksums to zero as well as a driver does: no evidence.
            return;
        }
        if frame.payload < SURELY_SINGLE && counts.partial + counts.complete < CHECKSUMS {
            let partial = frame.checksum_is_partial();
            counts.partial += u8::from(partial);
            counts.complete += u8::from(!partial);
        } else if frame.payload > MAYBE_SINGLE && counts.large < CHECKSUMS {
            counts.large += 1;
            counts.large_partial += u8::from(frame.checksum_is_partial());
        }
    }
}
