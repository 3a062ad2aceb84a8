//! One direction of a connection at one point, followed by byte ranges.

mod answers;
mod counts;
mod edge;
mod lines;
mod longest;
mod predicted;
mod span;

use coalescope_wire::Flags;

use crate::acks::Acks;
use crate::doubled::Surroundings;
use crate::frame::{Frame, Odd, TooBig};
use crate::outstanding::{Common, Outstanding};
use crate::ranges::{Novelty, Ranges};
use crate::rtt::Samples;
use crate::tally::{Tally, note};
pub(crate) use counts::{Around, Counts, Data, Late};
use longest::Longest;
use span::Span;

/// Linux never waits less than this for a retransmission timeout (`TCP_RTO_MIN`); RFC 6298 asks
/// for a second.
pub(crate) const MIN_RTO_NS: i64 = 200_000_000;
/// Reordering that lasts less than this is not loss, where the round trip is not known; Wireshark
/// takes the same.
const REORDER_NS: i64 = 3_000_000;
/// Stamps of frames that are written one after the other go back by less than this where several queues of a capturing
/// host are emptied in turns; by more where somebody set the clock ([`crate::frame`]).
const IN_TURNS_NS: i64 = 10_000_000;
/// A frame this far from where the direction stands belongs to another connection, or to none.
const STRAY: u64 = 1 << 30;
/// Without acknowledgments a sender has sent again by now what was lost: ten of Linux's shortest
/// timeouts and their doublings. At the end of a capture, five of the shortest.
const PATIENCE_NS: i64 = 10_000_000_000;
const TAIL_NS: i64 = 1_000_000_000;
/// What arrives within this time of each other may be merged: NICs raise an interrupt, and the kernel
/// polls, tens of microseconds after a frame (the kernel's Documentation/networking/napi.rst;
/// `rx-usecs` of common drivers is 3 to 100).
const NEAR_NS: i64 = 100_000;
/// Checksums looked at in each direction.
const CHECKSUMS: u8 = 64;
/// Frames with less payload than this are single on every path: the smallest IPv6 MTU less headers.
const SURELY_SINGLE: u32 = 1220;
/// Up to this a frame is single wherever the MTU is at least 1500.
const MAYBE_SINGLE: u32 = 1460;

/// Whether a frame is a copy of one that passed.
fn is_copy(frame: &Frame, signature: u64, around: Around, common: &Common) -> bool {
    let around = Surroundings {
        rtt_ns: around.rtt_ns,
        loss_reported: around.loss_reported,
        doubling: common.doubling,
    };
    common.copies.knows(frame, signature, &around)
}

/// Whether a frame was captured before what opened its hole: it was overtaken in the file only.
fn is_written_late(age_ns: i64) -> bool {
    (-IN_TURNS_NS..0).contains(&age_ns)
}

/// One direction, in the order in which it lies in memory: four cache lines that expected frames
/// touch, each with what they need together, and the rest.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) ranges: Ranges,
    /// Highest position acknowledged by the other side.
    pub(crate) una: u64,
    pub(crate) last_data_ns: i64,
    last_ack_ns: i64,
    probe_ns: i64,
    probe_tsval: u32,
    last_tsval: u32,
    /// Whether the probe's time and TSval are of a pure ACK that waits for its echo.
    is_probing: bool,
    started: bool,
    pub(crate) acked: bool,
    pub(crate) fin: bool,
    last_push: bool,
    /// Bytes from below the first one seen may come yet: no SYN told which is the first.
    may_begin_earlier: bool,
    pub(crate) longest: Longest,
    // The second and the third.
    pub(crate) outstanding: Outstanding,
    pub(crate) tally: Tally,
    /// From a frame of this direction to the answer that it caused, both seen here.
    pub(crate) turn: Samples,
    /// Of the receiver's window.
    edge_ahead: u64,
    // The fourth, and the rest.
    pub(crate) counts: Counts,
    pub(crate) acks: Acks,
    pub(crate) first_data_ns: i64,
    pub(crate) idle_ns: i64,
    /// Payload bytes that were seen before.
    pub(crate) repeated_bytes: u64,
    /// Position of the first byte seen.
    floor: u64,
    edge_since_ns: i64,
    /// Time for which the receiver's window held the sender back.
    pub(crate) edge_ns: i64,
}

impl Flow {
    /// The position that a sequence number stands for: 64 bits, so that nothing wraps, equal to
    /// the number itself modulo 2^32.
    #[inline]
    pub(crate) fn position(&mut self, seq: u32) -> u64 {
        if !self.started {
            self.begin(seq);
        }
        let next = self.ranges.next();
        next.wrapping_add_signed(i64::from(seq.wrapping_sub(next as u32) as i32))
    }

    /// Sets the first sequence number that data can have.
    pub(crate) fn begin(&mut self, seq: u32) {
        self.started = true;
        self.ranges.start_at(1 << 32 | u64::from(seq));
        self.una = self.ranges.next();
        self.floor = self.una;
    }

    /// The same, unless something was seen already (a retransmitted SYN).
    pub(crate) fn begin_if_new(&mut self, seq: u32) {
        if self.counts.data_frames == 0 {
            self.begin(seq);
        }
    }

    /// A "packet too big" that quotes a frame of this direction, whose segments have `options` bytes of
    /// TCP options. If each segment would have fitted, it was merging that made the packet too big; else
    /// this is path MTU discovery at work, of whatever was to be cut into segments. What a sender was told
    /// makes its segments smaller: of the sizes that are known the larger one is theirs.
    pub(crate) fn reject(&mut self, error: &TooBig, options: u32) {
        let size = self.tally.largest_segment();
        let odd = self.tally.note_odd();
        odd.rejected_mtu = error.mtu;
        if let Some(size) = size {
            let segment = size + error.quoted_ip_header + 20 + options;
            // Options that the quote may not reach are at most 40 bytes, with the header 60.
            let is_several = error.quoted_len > size + error.quoted_ip_header + 60;
            let is_merged = is_several && error.quoted_len > error.mtu && segment <= error.mtu;
            odd.rejected_merged += u32::from(is_merged);
            odd.rejected_single += u32::from(!is_several);
        }
        note(&mut self.tally.examples().rejected, error.number);
    }

    /// Takes a frame that goes in this direction; gives its position and what its data was.
    #[inline]
    pub(crate) fn send(
        &mut self,
        frame: &Frame,
        around: Around,
        common: &mut Common,
    ) -> (u64, Data) {
        let signature = frame.signature();
        if self.may_repeat(frame) && is_copy(frame, signature, around, common) {
            return (0, Data::Doubled);
        }
        common.copies.add(frame, signature);
        let sent = if frame.payload > 0 {
            self.send_payload(frame, around, common)
        } else {
            self.look_at_bare_sequence(frame);
            (0, Data::None)
        };
        self.count_frame(frame);
        sent
    }

    /// Whether a frame may be a copy: it has no data, or none beyond what was seen.
    #[inline]
    fn may_repeat(&self, frame: &Frame) -> bool {
        let beyond = frame.seq.wrapping_sub(self.ranges.next() as u32) as i32;
        frame.payload == 0 || self.started && beyond < 0
    }

    /// A payload in a RST is a message for people (RFC 9293, 3.5.2), not part of the stream.
    #[inline]
    fn send_payload(&mut self, frame: &Frame, around: Around, common: &mut Common) -> (u64, Data) {
        if frame.flags.has(Flags::RST) {
            return (0, Data::None);
        }
        // Of what was acknowledged before it was seen, no first byte is to be waited for.
        self.may_begin_earlier |= !self.started;
        let syn = u32::from(frame.flags.has(Flags::SYN));
        let start = self.position(frame.seq.wrapping_add(syn));
        let span = Span::new(start, frame);
        (start, self.send_data(frame, span, around, common))
    }

    /// The sequence number of a frame without payload is the sender's next: one below it is a
    /// keep-alive or window probe (Linux sends them without a byte), and one beyond what was seen
    /// shows that data was sent which has not come here.
    #[inline]
    fn look_at_bare_sequence(&mut self, frame: &Frame) {
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
                frame.time_ns,
            );
        }
    }

    #[inline]
    fn count_frame(&mut self, frame: &Frame) {
        self.counts.frames += 1;
        if frame.is(Odd::LENGTH_ZERO) {
            self.tally.note_odd().length_zero += 1;
        }
        self.fin |= frame.flags.has(Flags::FIN);
        self.probe_with(frame);
        self.look_at_checksum(frame);
    }

    /// A partial checksum on a single frame tells that this is its sender; on a merged one it does
    /// not, since GRO leaves one too.
    #[inline]
    fn look_at_checksum(&mut self, frame: &Frame) {
        let counts = &mut self.counts;
        if frame.checksum == 0 {
            // Zeroed by an anonymiser as likely as by a driver: tells nothing.
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

    #[inline]
    fn send_data(
        &mut self,
        frame: &Frame,
        mut span: Span,
        around: Around,
        common: &mut Common,
    ) -> Data {
        let Span { start, end, .. } = span;
        let next = self.ranges.next();
        span.next = next;
        if start.abs_diff(next) > STRAY {
            self.tally.note_odd().strays += 1;
            return Data::None;
        }
        if frame.payload == 1 && start + 1 == next && self.acked && self.una >= next {
            // One byte from just below what is acknowledged already (RFC 9293, 3.8.4).
            self.tally.note_odd().keep_alives += 1;
            return Data::Probe;
        }
        self.note_idle(frame, next, around);
        let novelty = if start < self.floor && self.may_begin_earlier {
            self.see_before(start, end, frame.time_ns)
        } else {
            self.ranges.see(start, end, frame.time_ns)
        };
        self.count_data(frame, novelty, next.saturating_sub(start));
        // A repeat of what is older says nothing of the end.
        if end == self.ranges.next() {
            self.last_push = frame.flags.has(Flags::PSH);
        }
        self.classify(frame, span, novelty, around, common)
    }

    /// Bytes from before the first one seen: it was not the connection's first, and these come here for
    /// the first time, unless the receiver has acknowledged what comes behind them.
    #[cold]
    fn see_before(&mut self, start: u64, end: u64, now_ns: i64) -> Novelty {
        if self.una > self.floor {
            return self.ranges.see(start, end, now_ns);
        }
        let floor = std::mem::replace(&mut self.floor, start);
        self.una = self.una.min(start);
        self.ranges.begin_earlier(start..floor, self.first_data_ns);
        self.ranges.see(start, end, now_ns)
    }

    #[inline]
    fn classify(
        &mut self,
        frame: &Frame,
        span: Span,
        novelty: Novelty,
        around: Around,
        common: &mut Common,
    ) -> Data {
        match novelty {
            Novelty::Next => {
                if span.start < span.next {
                    let alone = self.tally.is_one_segment(frame.payload);
                    let range = span.start..span.next;
                    self.outstanding.repeat(range, frame.time_ns, alone);
                }
                let start = span.start.max(span.next);
                self.outstanding
                    .push(span.transmission(frame, start), common);
                if !self.acked {
                    self.tell_unacknowledged(frame.time_ns - PATIENCE_NS, common);
                }
                Data::New
            }
            Novelty::Filling { age_ns, .. } => {
                self.outstanding
                    .push(span.transmission(frame, span.start), common);
                if is_written_late(age_ns) {
                    Data::New
                } else {
                    self.out_of_order(frame, age_ns, around)
                }
            }
            Novelty::Seen => self.repeat(frame, span.start, span.end, around),
        }
    }

    #[inline]
    fn count_data(&mut self, frame: &Frame, novelty: Novelty, known: u64) {
        let payload = u64::from(frame.payload);
        let new_bytes = match novelty {
            Novelty::Next => payload - known.min(payload),
            Novelty::Filling { new_bytes, .. } => new_bytes,
            Novelty::Seen => 0,
        };
        self.note_time(frame);
        self.counts.payload_bytes += payload;
        self.repeated_bytes += payload - new_bytes;
        self.tally.add(frame.payload, frame.number);
    }

    /// Counts a frame with data, and how near it came to the one before.
    #[inline(always)]
    fn note_time(&mut self, frame: &Frame) {
        if self.counts.data_frames == 0 {
            self.first_data_ns = frame.time_ns;
        } else {
            let is_near = frame.time_ns - self.last_data_ns <= NEAR_NS;
            self.counts.near += u32::from(is_near);
        }
        self.last_data_ns = frame.time_ns;
        self.counts.data_frames += 1;
    }

    /// Idle is the time beyond one round trip in which everything was acknowledged although the
    /// sender had marked the end of what it had to say (PSH), or until the other side asked for
    /// more: after a lost tail, which looks alike from behind the loss, neither is the case.
    #[inline]
    fn note_idle(&mut self, frame: &Frame, next: u64, around: Around) {
        if self.una >= next && (self.last_push || around.asked_ns > self.last_data_ns) {
            let quiet_since = self.last_data_ns.max(self.last_ack_ns);
            if self.counts.data_frames > 0 {
                self.idle_ns += (frame.time_ns - quiet_since - around.rtt_ns).max(0);
            }
        } else if self.has_waited(frame, 0) {
            let gap_ns = frame.time_ns - self.last_data_ns;
            if self.goes_on(frame, next) {
                self.idle_ns += gap_ns;
            } else {
                self.note_gap(gap_ns, self.has_waited(frame, around.least_rtt_ns));
            }
        }
    }

    /// Whether a frame goes on behind a marked end (PSH), where a capture has no acknowledgments. After a timeout
    /// something is sent again; and of what a lost tail leaves, seen from behind the loss, the end is not marked.
    #[cold]
    fn goes_on(&self, frame: &Frame, next: u64) -> bool {
        !self.acked && self.last_push && frame.seq == next as u32
    }

    /// Nothing came for as long as a timeout takes, though the sender had more; and `surely` a round trip
    /// longer than that.
    #[cold]
    fn note_gap(&mut self, gap_ns: i64, surely: bool) {
        let odd = self.tally.note_odd();
        odd.gaps.add(gap_ns);
        if surely {
            odd.sure_gaps.add(gap_ns);
        }
    }

    /// Whether a frame's data comes as long after the last as a timeout takes, and a round trip.
    #[inline(always)]
    fn has_waited(&self, frame: &Frame, rtt_ns: i64) -> bool {
        frame.payload > 0
            && frame.time_ns - self.last_data_ns >= MIN_RTO_NS + rtt_ns
            && self.counts.data_frames > 0
    }

    /// Whether a frame's data may have waited for a timeout, or for its application: nobody knows how long the first one
    /// of a side was thought about.
    #[inline(always)]
    pub(crate) fn may_have_waited(&self, frame: &Frame, rtt_ns: i64) -> bool {
        frame.payload > 0 && self.counts.data_frames == 0 || self.has_waited(frame, rtt_ns)
    }

    /// What a repair takes at least: the shortest round trip. The handshake may have waited in a queue of others' frames.
    fn repair_takes_ns(&self, around: Around) -> Option<i64> {
        let halves_ns = self.turn.min_ns().zip(around.turn_ns);
        let shortest_ns = halves_ns.map(|(there, back)| there + back);
        let handshake_ns = (around.rtt_ns > 0).then_some(around.rtt_ns);
        shortest_ns.into_iter().chain(handshake_ns).min()
    }

    #[cold]
    fn out_of_order(&mut self, frame: &Frame, age_ns: i64, around: Around) -> Data {
        let overtaken_ns = self.repair_takes_ns(around).unwrap_or(REORDER_NS);
        let odd = self.tally.note_odd();
        odd.out_of_order += 1;
        odd.late += u32::from(age_ns >= overtaken_ns);
        if age_ns >= overtaken_ns {
            odd.note_repair(age_ns);
        }
        note(&mut self.tally.examples().out_of_order, frame.number);
        Data::OutOfOrder
    }

    #[cold]
    fn repeat(&mut self, frame: &Frame, start: u64, end: u64, around: Around) -> Data {
        let alone = self.tally.is_one_segment(frame.payload);
        let before = self.outstanding.repeat(start..end, frame.time_ns, alone);
        note(&mut self.tally.examples().retransmitted, frame.number);
        self.tally.retry(frame.payload, before.in_vain);
        let waited_ns = before.time_ns.map_or(0, |before| frame.time_ns - before);
        self.follow_tried(start, end);
        let odd = self.tally.note_odd();
        odd.retransmitted += 1;
        // The receiver had it: a sender without SACK goes back and sends all again (RFC 5681, 3.1). With SACK the
        // receiver says so itself.
        odd.spurious += u32::from(around.without_sack && self.acked && end <= self.una);
        odd.note_repair(waited_ns);
        if waited_ns >= MIN_RTO_NS + around.least_rtt_ns {
            odd.timeout += 1;
            odd.stuck.add(start, end, waited_ns);
            // What follows until here goes out without a new timeout (RFC 6298 5.4, RFC 5681 3.1).
            odd.recovery_until = self.ranges.next();
        } else if around.loss_reported {
            odd.fast += 1;
        } else if start < odd.recovery_until {
            odd.timeout += 1;
        }
        Data::Repeat
    }

    /// What was sent again arrived if it was acknowledged, and not if it is sent once more. One is followed at a time.
    fn follow_tried(&mut self, start: u64, end: u64) {
        let (tried, len) = self.tally.odd().tried;
        if !self.tell_tried() && len > 0 && start > tried {
            return;
        }
        self.tally.note_odd().tried = (end, (end - start) as u32);
    }

    /// Says that what was sent again arrived, if it has been acknowledged.
    fn tell_tried(&mut self) -> bool {
        let (tried, len) = self.tally.odd().tried;
        let has_arrived = len > 0 && self.acked && self.una >= tried;
        if has_arrived {
            self.longest.arrived(len);
        }
        has_arrived
    }

    /// Where a capture has one direction only, what was not sent again for so long has arrived.
    #[cold]
    fn tell_unacknowledged(&mut self, sent_before_ns: i64, common: &mut Common) {
        let (tally, longest) = (&mut self.tally, &mut self.longest);
        let sent = &mut self.outstanding;
        sent.tell_sent_before(sent_before_ns, common, |fate| longest.tell(fate, tally));
    }

    /// Bytes that the other side acknowledged and this capture never had.
    pub(crate) fn missed_bytes(&self) -> u64 {
        // A FIN takes one number; it may itself be what the capture missed.
        let missing = if self.acked {
            self.ranges.missing_below(self.una)
        } else {
            0
        };
        missing.saturating_sub(u64::from(self.una == self.ranges.next() + 1))
    }

    /// Payload bytes, each once.
    pub(crate) fn unique_bytes(&self) -> u64 {
        self.counts.payload_bytes - self.repeated_bytes
    }

    /// Settles what is still open.
    pub(crate) fn finish(&mut self, common: &mut Common, now_ns: i64) {
        self.tally.finish();
        self.tell_tried();
        if !self.acked {
            self.tell_unacknowledged(now_ns - TAIL_NS, common);
            let (tally, longest) = (&mut self.tally, &mut self.longest);
            self.outstanding
                .tell_unrepaired(common, |fate| longest.tell(fate, tally));
        }
        let (tally, longest) = (&mut self.tally, &mut self.longest);
        self.outstanding
            .finish(common, |fate| longest.tell(fate, tally));
        self.acks.finish(now_ns);
    }
}
