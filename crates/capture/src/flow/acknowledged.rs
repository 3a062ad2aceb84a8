//! What the other side's frames show of this direction: acknowledgments, D-SACK, timestamp echoes.

use std::array::from_fn;
use std::ops::Range;

use coalescope_wire::Flags;

use super::{Flow, Late, MIN_RTO_NS, STRAY};
use crate::frame::Frame;
use crate::outstanding::Common;
use crate::rtt::Stamp;

/// What a FIN takes of the sequence numbers, which is no data (RFC 9293, 3.4).
const FIN: u64 = 1;

/// SACK blocks that fit into a header (RFC 2018, section 3).
const BLOCKS: usize = 4;

impl Flow {
    /// Processes the acknowledgment, in a frame of the other direction, of data sent here; true if it advances.
    #[inline]
    pub(crate) fn acknowledged(&mut self, frame: &Frame, late: Late, common: &mut Common) -> bool {
        if !frame.flags.has(Flags::ACK) || frame.flags.has(Flags::RST) {
            return false;
        }
        if self.is_probing {
            self.echo(frame, late.waited);
        }
        let una = self.position(frame.ack);
        if !frame.sack().is_empty() {
            self.take_sack(frame.sack(), una, late.after_hole);
        }
        self.take_una(una, frame, late.after_hole, common)
    }

    /// Notes that everything below a position is acknowledged; true if that advances.
    #[inline]
    fn take_una(&mut self, una: u64, frame: &Frame, after_hole: bool, common: &mut Common) -> bool {
        let advances = self.is_advance(una);
        self.acked = true;
        if advances {
            self.advance(una, frame, after_hole, common);
        }
        advances
    }

    #[inline(always)]
    pub(super) fn is_advance(&self, una: u64) -> bool {
        una > self.una && una - self.una < STRAY
    }

    #[inline(never)]
    pub(super) fn advance(
        &mut self,
        una: u64,
        frame: &Frame,
        after_hole: bool,
        common: &mut Common,
    ) {
        let is_prompt = !after_hole && self.tally.is_two_segments(una - self.una);
        let before = std::mem::replace(&mut self.una, una);
        let heard_ns = std::mem::replace(&mut self.last_ack_ns, frame.time_ns);
        if self.ranges.lacks_some_of(before..una - FIN) {
            self.note_missed(frame, heard_ns, after_hole);
        }
        let (tally, longest) = (&mut self.tally, &mut self.longest);
        let clean = self
            .outstanding
            .acknowledge(una, common, |fate| longest.count(fate, tally));
        if let Some((sent_ns, waited)) = clean {
            let took_ns = frame.time_ns - sent_ns;
            self.turn.push(took_ns, is_prompt && !waited, stamp(frame));
        }
    }

    /// Data that was not captured has arrived: it passed here by now, and after all that had been acknowledged before. So the
    /// silence since the last frame ends here, which is a gap if it is long by itself, unless the sender may have paused: behind a
    /// PSH, and with nothing reported missing. An acknowledgment that comes with data waited for that.
    #[cold]
    fn note_missed(&mut self, frame: &Frame, heard_ns: i64, after_hole: bool) {
        let now_ns = frame.time_ns;
        if self.counts.data_frames == 0 {
            return;
        }
        let silence_ns = now_ns - self.last_data_ns.max(heard_ns);
        let may_pause = self.newest.is_pushed() && !after_hole && frame.sack().is_empty();
        if silence_ns >= MIN_RTO_NS && frame.payload == 0 && !may_pause {
            self.slow
                .get_or_insert_default()
                .waits
                .add(silence_ns, false);
        }
        self.last_data_ns = self.last_data_ns.max(now_ns);
    }

    /// Takes SACK blocks. A D-SACK shows that a retransmission was spurious: the first transmission was not lost. Bytes
    /// reported before they are sent again arrived with the first transmission. Of bytes that were sent once a D-SACK shows that
    /// the network doubled them.
    #[cold]
    fn take_sack(&mut self, sack: &[(u32, u32)], una: u64, after_hole: bool) {
        let blocks: [_; BLOCKS] = from_fn(|number| {
            let (start, end) = sack.get(number).copied().unwrap_or_default();
            self.position(start)..self.position(end)
        });
        let is_d_sack = self.is_d_sack(&blocks[0], &blocks[1], una, after_hole);
        if is_d_sack && self.has_repeated(&blocks[0]) {
            let odd = self.tally.note_odd();
            odd.spurious = (odd.spurious + 1).min(odd.retransmitted);
            self.outstanding
                .was_spurious(blocks[0].start, blocks[0].end);
        }
        let reported = blocks.iter().take(sack.len()).skip(usize::from(is_d_sack));
        for block in reported.filter(|block| block.start >= una.max(self.una)) {
            self.outstanding.arrived(block.start, block.end);
        }
    }

    /// RFC 2883: the first block is a D-SACK if it lies below the acknowledgment, or inside the second block. Below an
    /// earlier ACK, that is: some receivers still report the block that has just filled the hole. Bytes that only this
    /// ACK acknowledges came twice if they were sent twice and no hole had been reported: then an earlier ACK was
    /// delayed or lost.
    fn is_d_sack(
        &mut self,
        first: &Range<u64>,
        second: &Range<u64>,
        una: u64,
        after_hole: bool,
    ) -> bool {
        if first.end > una {
            return !first.is_empty() && second.start <= first.start && first.end <= second.end;
        }
        let is_old = first.end <= self.una;
        let may_be_old = !after_hole && self.outstanding.was_repeated(first.start, first.end);
        !first.is_empty() && (is_old || may_be_old)
    }

    /// Remembers the TSval of a frame without payload until its echo comes (RFC 7323): the echo measures the sender's
    /// side of the path from a point behind the sender. A frame that was sent after waiting for a timeout, or for the
    /// application, shows nothing of queues.
    #[inline]
    pub(super) fn probe_with(&mut self, frame: &Frame) {
        let Some((tsval, _)) = frame.timestamps() else {
            return;
        };
        if frame.payload == 0 && !self.is_probing && tsval != self.last_tsval {
            (self.probe_tsval, self.probe_ns) = (tsval, frame.time_ns);
            self.is_probing = true;
        }
        self.last_tsval = tsval;
    }

    /// Remembers the last TSval, for a frame with payload.
    #[inline(always)]
    pub(super) fn note_stamp(&mut self, frame: &Frame) {
        if let Some((tsval, _)) = frame.timestamps() {
            self.last_tsval = tsval;
        }
    }

    /// Whether a frame of this direction waits for its echo.
    #[inline(always)]
    pub(super) fn is_probing(&self) -> bool {
        self.is_probing
    }

    /// Checks whether a frame of the other direction is the echo that is waited for.
    #[inline(never)]
    pub(super) fn echo(&mut self, frame: &Frame, waited: bool) {
        let Some((_, tsecr)) = frame.timestamps() else {
            return;
        };
        if (tsecr.wrapping_sub(self.probe_tsval) as i32) < 0 {
            return;
        }
        if tsecr == self.probe_tsval && frame.payload > 0 {
            let took_ns = frame.time_ns - self.probe_ns;
            self.turn.push(took_ns, !waited, stamp(frame));
        }
        self.is_probing = false;
    }
}

/// When a frame came, and when its sender made it.
#[inline]
fn stamp(frame: &Frame) -> Option<Stamp> {
    let (tsval, _) = frame.timestamps()?;
    Some(Stamp {
        time_ns: frame.time_ns,
        tsval,
    })
}
