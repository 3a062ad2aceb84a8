//! One direction of a connection at one point, followed by byte ranges.

mod acknowledged;
mod copied;
mod counts;
mod edge;
mod ending;
mod headers;
mod lines;
mod longest;
mod predicted;
mod rejected;
mod repeats;
mod restarts;
mod silences;
mod span;
mod unheard;
mod unscaled;
mod waits;

use coalescope_wire::Flags;

use crate::acks::Acks;
use crate::doubled::Place;
use crate::frame::{Frame, Odd};
use crate::lately::Lately;
use crate::outstanding::{Common, Outstanding};
use crate::ranges::{Novelty, Ranges};
use crate::rtt::Samples;
use crate::sent::Sent;
use crate::tally::Tally;
pub(crate) use counts::{Around, Counts, Data, Late};
use edge::Growth;
use longest::Longest;
use repeats::is_written_late;
use restarts::{Newest, Restart};
use silences::Silences;
use span::Span;
use unscaled::Unscaled;
use waits::Waits;

/// Linux never waits less than this for a retransmission timeout (`TCP_RTO_MIN`); RFC 6298 asks
/// for a second.
const MIN_RTO_NS: i64 = 200_000_000;
/// A frame this far from where the direction stands belongs to another connection, or to none.
const STRAY: u64 = 1 << 30;
/// Where no acknowledgments are seen: what was lost is sent again within this time. Linux's shortest timeout of 0.2 s has
/// doubled five times by 6.2 s.
const PATIENCE_NS: i64 = 10_000_000_000;
/// What arrives within this time of each other may be merged: NICs raise an interrupt, and the kernel
/// polls, tens of microseconds after a frame (the kernel's Documentation/networking/napi.rst;
/// `rx-usecs` of common drivers is 3 to 100).
const NEAR_NS: i64 = 100_000;

/// One direction. Fields are in the order of memory: four cache lines that expected frames touch, each with fields that
/// are needed together, then the rest.
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
    newest: Newest,
    /// Bytes below the first one seen may come yet: no SYN showed which byte is the first.
    may_begin_earlier: bool,
    pub(crate) longest: Longest,
    // The second and the third cache line.
    pub(crate) outstanding: Outstanding,
    pub(crate) tally: Tally,
    /// Times from a frame of this direction to the answer that it caused, both seen here.
    pub(crate) turn: Samples,
    /// Edge of the receive window that is being followed; 0 if none is.
    edge_ahead: u64,
    // The fourth cache line, and the rest.
    pub(crate) counts: Counts,
    pub(crate) acks: Acks,
    pub(crate) first_data_ns: i64,
    pub(crate) idle_ns: i64,
    /// Position of the first byte seen.
    floor: u64,
    edge_since_ns: i64,
    /// Time for which the receiver's window held the sender back.
    pub(crate) edge_ns: i64,
    /// Boxed, since most directions end soon.
    slow: Option<Box<Slow>>,
}

/// State that only long-lived directions need.
#[derive(Clone, Debug, Default)]
struct Slow {
    silences: Silences,
    waits: Waits,
    /// The last gap, while the data behind it is the newest.
    restart: Restart,
    growth: Growth,
    unscaled: Unscaled,
    /// Boxed, since most directions send nothing again.
    lately: Option<Box<Lately>>,
}

/// More data than that is hardly ever in flight: 5 Gbit/s over 100 ms. By chance one number in 32 is as near.
const NEAR: u32 = 1 << 26;

impl Flow {
    /// The position that a sequence number stands for: 64 bits, so that nothing wraps, equal to
    /// the number itself modulo 2^32.
    #[inline]
    pub(crate) fn position(&mut self, seq: u32) -> u64 {
        if !self.started {
            self.begin(seq);
        }
        self.position_from(self.ranges.next(), seq)
    }

    /// Like `position`, for a direction whose next position is `next`.
    #[inline(always)]
    fn position_from(&self, next: u64, seq: u32) -> u64 {
        next.wrapping_add_signed(i64::from(seq.wrapping_sub(next as u32) as i32))
    }

    /// Whether a sequence number is no farther from the next one than data is in flight at most, if any is known.
    pub(crate) fn is_near(&self, seq: u32) -> bool {
        let apart = seq.wrapping_sub(self.ranges.next() as u32) as i32;
        !self.started || apart.unsigned_abs() < NEAR
    }

    /// Sets the first sequence number that data can have.
    pub(crate) fn begin(&mut self, seq: u32) {
        self.started = true;
        self.ranges.start_at(1 << 32 | u64::from(seq));
        self.una = self.ranges.next();
        self.floor = self.una;
    }

    /// Like `begin`, unless data was seen already (a retransmitted SYN).
    pub(crate) fn begin_if_new(&mut self, seq: u32) {
        if self.counts.data_frames == 0 {
            self.begin(seq);
        }
    }

    /// Processes a frame that goes in this direction; returns its position and what its data was.
    #[inline]
    pub(crate) fn send(
        &mut self,
        frame: &Frame,
        around: Around,
        common: &mut Common,
    ) -> (u64, Data) {
        let signature = frame.signature(around.ends);
        if self.may_repeat(frame) && self.is_copy(frame, signature, around, common) {
            return (0, Data::Doubled);
        }
        let place = self.remember(frame, signature, around, common);
        let sent = if frame.payload > 0 {
            self.send_payload(frame, place, around, common)
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

    /// Remembers a frame; returns the place if the frame brings new data.
    #[inline]
    fn remember(
        &mut self,
        frame: &Frame,
        signature: u64,
        around: Around,
        common: &mut Common,
    ) -> Option<Place> {
        let beyond = frame.seq.wrapping_sub(self.ranges.next() as u32) as i32;
        let is_plain = frame.payload > 0 && !frame.flags.has(Flags::SYN | Flags::RST);
        // The first frame of a capture that begins in the middle is new, wherever it stands.
        if is_plain && (!self.started || beyond >= 0) {
            return Some(common.copies.add_news(frame, signature, around.ends));
        }
        if frame.payload == 0 && around.advances {
            self.remember_advance(frame, signature, around.ends, common);
        } else {
            common.copies.add(frame, signature);
        }
        None
    }

    /// A payload in a RST is a message for people (RFC 9293, 3.5.2), not part of the stream.
    #[inline]
    fn send_payload(
        &mut self,
        frame: &Frame,
        place: Option<Place>,
        around: Around,
        common: &mut Common,
    ) -> (u64, Data) {
        if frame.flags.has(Flags::RST) {
            return (0, Data::None);
        }
        // A direction that a SYN or an acknowledgment has begun waits for no earlier bytes.
        self.may_begin_earlier |= !self.started;
        let syn = u32::from(frame.flags.has(Flags::SYN));
        let start = self.position(frame.seq.wrapping_add(syn));
        let span = Span::new(start, frame, place);
        (start, self.send_data(frame, span, around, common))
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
            self.see_before(start, end, Sent::of(frame))
        } else {
            self.ranges.see(start, end, Sent::of(frame))
        };
        self.count_data(frame, novelty, next.saturating_sub(start));
        // A repeat of older data does not show whether the newest data ends with PSH.
        if end == self.ranges.next() {
            self.newest = self.newest.with(frame);
        }
        self.classify(frame, span, novelty, around, common)
    }

    /// Handles bytes from before the first byte seen: the capture began in the middle, and these bytes come here for
    /// the first time, unless the receiver has acknowledged bytes behind them.
    #[cold]
    fn see_before(&mut self, start: u64, end: u64, sent: Sent) -> Novelty {
        if self.una > self.floor {
            return self.ranges.see(start, end, sent);
        }
        let floor = std::mem::replace(&mut self.floor, start);
        self.una = self.una.min(start);
        self.ranges.begin_earlier(start..floor, self.first_data_ns);
        self.ranges.see(start, end, sent)
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
                } else if span.start > span.next {
                    self.note_hole(frame, span.start - span.next);
                }
                let start = span.start.max(span.next);
                self.outstanding
                    .push(span.transmission(frame, start), common);
                // A capture of one direction shows no ACKs: time tells which segments needed no retransmission.
                if !self.acked {
                    self.count_unacknowledged(frame.time_ns - PATIENCE_NS, common);
                }
                Data::New
            }
            Novelty::Filling {
                age_ns, is_after, ..
            } => {
                self.outstanding
                    .push(span.transmission(frame, span.start), common);
                if is_written_late(age_ns) {
                    Data::New
                } else {
                    self.out_of_order(frame, age_ns, is_after, around)
                }
            }
            Novelty::Seen => self.repeat(frame, span.start, span.end, around),
            Novelty::Unknown => Data::OutOfOrder,
        }
    }

    /// Notes bytes that are missing in front of a frame. They are one segment if they are no longer than the frame, too: what SYNs
    /// announced may be far longer than segments are.
    #[cold]
    fn note_hole(&mut self, frame: &Frame, bytes: u64) {
        let payload = u32::try_from(bytes).unwrap_or(u32::MAX);
        let size = self.tally.size();
        let fits = size.is_some_and(|size| size.segments(payload) == 1);
        let is_one_segment = fits && payload <= frame.payload;
        self.tally.note_odd().note_hole(bytes, is_one_segment);
    }

    #[inline]
    fn count_data(&mut self, frame: &Frame, novelty: Novelty, known: u64) {
        let payload = u64::from(frame.payload);
        let new_bytes = match novelty {
            Novelty::Next => payload - known.min(payload),
            Novelty::Filling { new_bytes, .. } => new_bytes,
            Novelty::Seen => 0,
            Novelty::Unknown => payload,
        };
        self.note_time(frame);
        self.counts.payload_bytes += payload;
        if new_bytes < payload {
            self.tally.note_odd().repeated_bytes += payload - new_bytes;
        }
        if new_bytes == 0 {
            self.tally.add_repeat(frame.payload, frame.number);
        } else {
            self.tally.add(frame.payload, frame.number);
        }
    }

    /// Counts a frame with data, and whether it came close behind the one before.
    #[inline(always)]
    fn note_time(&mut self, frame: &Frame) {
        if self.counts.data_frames == 0 {
            self.first_data_ns = frame.time_ns;
        } else {
            let silence_ns = frame.time_ns - self.last_data_ns;
            self.counts.near += u32::from(silence_ns <= NEAR_NS);
            self.note_silence(silence_ns);
            if self.newest.is_restarted() {
                self.look_behind_gap(frame);
            }
        }
        self.last_data_ns = frame.time_ns;
        self.counts.data_frames += 1;
    }
}
