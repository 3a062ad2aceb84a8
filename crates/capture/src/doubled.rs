//! Frames that stand in a capture twice: a mirror of ingress and egress, `tcpdump -i any` on a
//! bridge, a routed packet before and after. They are one transmission, not two.
//!
//! A copy is the same frame in all that its sender wrote; a retransmission differs in its IPv4 identification, which
//! counts frames. Where there is no identification (IPv6, or DF with an identification of 0 as RFC 6864 allows) a
//! routed copy has a smaller hop limit, and any other copy passes before the sender can have learnt that the frame was
//! lost.

use std::fmt;

use crate::frame::{Frame, mixed};

/// A copy of a frame with identification comes within this, even through a queue. Stacks that send a
/// segment again with the same identification wait for a retransmission timeout, 200 ms at least.
const COPY_NS: i64 = 150_000_000;
/// A copy that cannot be told from a retransmission by its headers comes within this: timestamps tick as fast.
const CLOSE_NS: i64 = 1_000_000;
/// Like `CLOSE_NS`, where the round trip is not known: shorter than a round trip through any network.
const UNKNOWN_NS: i64 = 100_000;
/// The unit in which times of frames are remembered.
const UNIT_NS: i64 = 1024;
/// Frames of a point remembered, in 1 MiB: over 0.1 s of 5 Gbit/s in full frames.
const REMEMBERED: usize = 64 * 1024;
/// Chains of frames of a like signature, in 96 KiB, for frames that are found in no other way: duplicate
/// acknowledgments and retransmissions.
const CHAINS: usize = 4 * 1024;
/// Frames looked at in one chain: 16 are to be expected at most.
const STEPS: usize = 64;
/// Chains of frames with news (data or a higher acknowledgment), in 16 KiB. Directions whose ends agree in some bits
/// share a chain.
const FLOWS: usize = 4 * 1024;
/// Frames looked at in one of these chains, for a copy that comes after the acknowledgment: at 1 Gbit/s in full frames
/// 12 ms.
const FLOW_STEPS: usize = 1024;

/// What is known around a frame that may be a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// Round trip of the whole path; 0 if not known.
    pub(crate) rtt_ns: i64,
    /// The receiver reports data missing.
    pub(crate) loss_reported: bool,
    /// This capture doubles frames as a rule.
    pub(crate) doubling: bool,
    /// Bits of the connection's ends.
    pub(crate) ends: u64,
}

impl Surroundings {
    /// Whether the later of two frames, equal but for TTL and this far apart, is a copy.
    fn is_copy(&self, frame: &Frame, apart_ns: i64, was_routed: bool) -> bool {
        if frame.id != 0 || was_routed {
            return apart_ns < COPY_NS;
        }
        // True duplicate ACKs can be equal to the bit.
        let is_told = frame.is_syn() || frame.payload > 0 && !self.loss_reported;
        (is_told || self.doubling) && apart_ns < self.soonest_ns(frame)
    }

    /// The sender cannot have sent a segment again before this: it learns of the loss after a round trip at the
    /// earliest. Half a round trip leaves room for a first transmission that was delayed. A SYN waits for a timeout.
    fn soonest_ns(&self, frame: &Frame) -> i64 {
        match self.rtt_ns {
            _ if frame.is_syn() => CLOSE_NS,
            0 => UNKNOWN_NS,
            rtt_ns => (rtt_ns / 2).min(CLOSE_NS),
        }
    }
}

/// A frame that passed, in 16 bytes: the upper bits of its signature, with the TTL in the lowest byte; and its time,
/// with the number of the frame before it in its chain. Plain integers, for which zeroed memory is valid: pages that
/// are never used take none.
#[derive(Clone, Copy, Debug)]
struct Passed([u64; 2]);

impl Passed {
    #[inline]
    fn new(frame: &Frame, signature: u64, before: u32) -> Self {
        let marked = signature & !u64::from(u8::MAX) | u64::from(frame.ttl);
        Self([marked, u64::from(before) << 32 | u64::from(time(frame))])
    }

    #[inline]
    fn has(&self, signature: u64) -> bool {
        (self.0[0] ^ signature) <= u64::from(u8::MAX)
    }

    fn ttl(&self) -> u8 {
        self.0[0] as u8
    }

    /// The time between this frame and another one. Times are modulo 2^32 units: over an hour.
    fn apart_ns(&self, frame: &Frame) -> i64 {
        let apart = time(frame).wrapping_sub(self.0[1] as u32) as i32;
        i64::from(apart.unsigned_abs()) * UNIT_NS
    }

    /// Number of the frame before this one in its chain.
    fn before(&self) -> u32 {
        (self.0[1] >> 32) as u32
    }
}

/// Where a frame is remembered, until as many others are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u16);

/// Where to look for the frame that brought the same news first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// At this place, or nowhere.
    At(Place),
    /// Among the last frames of its direction.
    Anywhere,
    /// Nowhere.
    None,
}

/// Frames of a like signature. Nearly every frame has a signature that no earlier frame had. For nine of ten the marks
/// alone show this, without a look at the frames, which are spread over a mebibyte.
#[derive(Clone, Copy, Debug)]
struct Chain([u64; 2]);

impl Chain {
    /// Marks (bits of signatures) of the last frames, up to [`REMEMBERED`] of all chains.
    fn marks(&self) -> u64 {
        self.0[0]
    }

    /// Number of the last frame in the chain.
    fn last(&self) -> u32 {
        self.0[1] as u32
    }

    #[inline]
    fn with(&self, signature: u64, number: u32) -> Self {
        Self([self.marks() | mark(signature), u64::from(number)])
    }
}

/// The last frames of a point, copies left out. Frames lie one after the other in memory, so that a frame with news
/// needs no other cache line: the queue of unacknowledged data knows the places of its frames, and the last
/// acknowledgments of a direction come first in its chain.
#[derive(Clone)]
pub(crate) struct Copies {
    /// Each a [`Passed`], by number, modulo their count.
    passed: Box<[[u64; 2]; REMEMBERED]>,
    /// Each a [`Chain`].
    chains: Box<[[u64; 2]; CHAINS]>,
    /// Marks of the [`REMEMBERED`] frames before these: the mark of a remembered frame is in `chains` or here.
    marks_before: Box<[u64; CHAINS]>,
    /// Number of the last frame with news, by chain.
    flows: Box<[u32; FLOWS]>,
    /// Number of the next frame. Numbers wrap; those of frames that never were are too far back.
    next: u32,
}

impl Default for Copies {
    fn default() -> Self {
        Self {
            passed: zeros(),
            chains: zeros(),
            marks_before: zeros(),
            flows: zeros(),
            next: REMEMBERED as u32 + 1,
        }
    }
}

/// Zeroed memory, which the kernel provides when it is touched.
fn zeros<T: Clone + Default, const COUNT: usize>() -> Box<[T; COUNT]> {
    let zeros = vec![T::default(); COUNT].try_into();
    zeros.unwrap_or_else(|_| unreachable!("as many as asked for"))
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.get(self.next.wrapping_sub(1));
        f.debug_struct("Copies")
            .field("next", &self.next)
            .field("last", &last)
            .finish_non_exhaustive()
    }
}

impl Copies {
    /// Remembers a frame that brings no news.
    #[inline(always)]
    pub(crate) fn add(&mut self, frame: &Frame, signature: u64) {
        let slot = &mut self.chains[chain(signature)];
        let chain = Chain(*slot);
        *slot = chain.with(signature, self.next).0;
        self.put(Passed::new(frame, signature, chain.last()));
    }

    /// Remembers a frame with new data or a higher acknowledgment; `ends` are bits of the ends of its connection.
    #[inline(always)]
    pub(crate) fn add_news(&mut self, frame: &Frame, signature: u64, ends: u64) -> Place {
        let last = &mut self.flows[flow(frame, ends)];
        let before = std::mem::replace(last, self.next);
        self.put(Passed::new(frame, signature, before))
    }

    #[inline(always)]
    fn put(&mut self, passed: Passed) -> Place {
        let at = place(self.next);
        self.passed[usize::from(at.0)] = passed.0;
        self.next = self.next.wrapping_add(1);
        if place(self.next).0 == 0 {
            self.turn();
        }
        at
    }

    /// Starts new marks, once for as many frames as are remembered, and keeps the old ones that long.
    #[cold]
    #[inline(never)]
    fn turn(&mut self) {
        for (chain, before) in self.chains.iter_mut().zip(self.marks_before.iter_mut()) {
            *before = std::mem::take(&mut chain[0]);
        }
    }

    /// Whether a frame with this signature passed within the time of a copy.
    pub(crate) fn may_know(&self, frame: &Frame, signature: u64, first: First, ends: u64) -> bool {
        self.find(frame, signature, first, ends).is_some()
    }

    /// Whether the frame is a copy of one that passed.
    pub(crate) fn knows(
        &self,
        frame: &Frame,
        signature: u64,
        first: First,
        around: &Surroundings,
    ) -> bool {
        let known = self.find(frame, signature, first, around.ends);
        known.is_some_and(|(passed, apart_ns)| {
            around.is_copy(frame, apart_ns, frame.ttl < passed.ttl())
        })
    }

    /// The last frame with this signature, if it passed within the time of a copy, and how far apart they are.
    fn find(
        &self,
        frame: &Frame,
        signature: u64,
        first: First,
        ends: u64,
    ) -> Option<(Passed, i64)> {
        let known = self.find_chained(frame, signature);
        known.or_else(|| self.find_first(frame, signature, first, ends))
    }

    /// Finds a frame that brought no news.
    fn find_chained(&self, frame: &Frame, signature: u64) -> Option<(Passed, i64)> {
        let at = chain(signature);
        let chain = Chain(self.chains[at]);
        let marks = chain.marks() | self.marks_before[at];
        let may_be = marks & mark(signature) != 0;
        may_be.then(|| self.look_for(frame, signature, chain.last(), STEPS))?
    }

    /// Finds a frame that brought news.
    fn find_first(
        &self,
        frame: &Frame,
        signature: u64,
        first: First,
        ends: u64,
    ) -> Option<(Passed, i64)> {
        match first {
            First::At(at) => {
                let passed = Passed(self.passed[usize::from(at.0)]);
                let apart_ns = passed.apart_ns(frame);
                let is_it = passed.has(signature) && apart_ns < COPY_NS;
                is_it.then_some((passed, apart_ns))
            }
            First::Anywhere => {
                let last = self.flows[flow(frame, ends)];
                self.look_for(frame, signature, last, FLOW_STEPS)
            }
            First::None => None,
        }
    }

    /// Follows a chain from its last frame, for `steps` frames at most, and no farther back than a copy can be.
    #[inline(never)]
    fn look_for(
        &self,
        frame: &Frame,
        signature: u64,
        last: u32,
        steps: usize,
    ) -> Option<(Passed, i64)> {
        let mut number = last;
        for _ in 0..steps {
            let passed = self.get(number)?;
            let apart_ns = passed.apart_ns(frame);
            if apart_ns >= COPY_NS {
                return None;
            }
            if passed.has(signature) {
                return Some((passed, apart_ns));
            }
            number = passed.before();
        }
        None
    }

    #[inline]
    fn get(&self, number: u32) -> Option<Passed> {
        let back = self.next.wrapping_sub(number);
        let at = usize::from(place(number).0);
        (back as usize <= REMEMBERED).then(|| Passed(self.passed[at]))
    }
}

/// The place of a frame. The first frame has the number after [`REMEMBERED`].
#[inline]
fn place(number: u32) -> Place {
    Place(number.wrapping_sub(1) as u16)
}

#[inline]
fn chain(signature: u64) -> usize {
    // The highest bits depend on all.
    (signature >> (64 - CHAINS.ilog2())) as usize
}

/// The chain of a frame with news, chosen by the ends and the direction.
#[inline]
fn flow(frame: &Frame, ends: u64) -> usize {
    (mixed(ends, u64::from(frame.from_low)) >> (64 - FLOWS.ilog2())) as usize
}

/// The mark of a signature: one of 64 bits, chosen by other bits than those that choose the chain.
#[inline]
fn mark(signature: u64) -> u64 {
    1 << (signature >> 32 & 63)
}

#[inline]
fn time(frame: &Frame) -> u32 {
    (frame.time_ns / UNIT_NS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    const US: i64 = 1_000;
    const MS: i64 = 1_000_000;
    const KNOWN: Surroundings = Surroundings {
        rtt_ns: 10 * MS,
        loss_reported: false,
        doubling: false,
        ends: 0,
    };

    /// A data frame.
    fn frame(time_ns: i64, id: u16, ttl: u8) -> Frame {
        let mut frame = Frame::default();
        (frame.time_ns, frame.id, frame.ttl) = (time_ns, id, ttl);
        (frame.seq, frame.payload) = (1, 1000);
        frame
    }

    fn is_copy(first: &Frame, second: &Frame, around: Surroundings) -> bool {
        let mut copies = Copies::default();
        let place = copies.add_news(first, first.signature(0), 0);
        let firsts = [First::At(place), First::Anywhere];
        let [found, walked] =
            firsts.map(|first| copies.knows(second, second.signature(0), first, &around));
        assert_eq!(found, walked);
        assert!(!copies.knows(second, second.signature(0), First::None, &around));
        let mut chained = Copies::default();
        chained.add(first, first.signature(0));
        let by_chain = chained.knows(second, second.signature(0), First::None, &around);
        assert_eq!(found, by_chain);
        found
    }

    #[test]
    fn one_identification_is_one_transmission() {
        let first = frame(0, 7, 64);
        assert!(is_copy(&first, &frame(40 * MS, 7, 63), KNOWN));
        assert!(!is_copy(&first, &frame(200 * MS, 7, 64), KNOWN));
        assert!(!is_copy(&first, &frame(10 * US, 8, 64), KNOWN));
    }

    #[test]
    fn without_identification_the_round_trip_tells() {
        let first = frame(0, 0, 64);
        let at = |us| frame(us * US, 0, 64);
        assert!(is_copy(&first, &at(900), KNOWN));
        assert!(!is_copy(&first, &at(1100), KNOWN));
        let short = Surroundings {
            rtt_ns: 200 * US,
            ..KNOWN
        };
        assert!(is_copy(&first, &at(50), short));
        assert!(!is_copy(&first, &at(300), short));
        let unknown = Surroundings { rtt_ns: 0, ..KNOWN };
        assert!(is_copy(&first, &at(50), unknown));
        assert!(!is_copy(&first, &at(300), unknown));
    }

    #[test]
    fn what_was_reported_missing_is_sent_again() {
        let first = frame(0, 0, 64);
        let again = frame(30 * US, 0, 64);
        let reported = Surroundings {
            loss_reported: true,
            ..KNOWN
        };
        assert!(!is_copy(&first, &again, reported));
        let doubling = Surroundings {
            doubling: true,
            ..reported
        };
        assert!(is_copy(&first, &again, doubling));
    }

    #[test]
    fn a_smaller_hop_limit_is_a_routed_copy() {
        let first = frame(0, 0, 64);
        assert!(is_copy(&first, &frame(20 * MS, 0, 63), KNOWN));
        assert!(!is_copy(&first, &frame(20 * MS, 0, 65), KNOWN));
    }

    /// Acknowledgments of 200 connections. Of a million frames, each looked up among 65,536, a signature of 32 bits
    /// takes 15 for another.
    #[test]
    fn no_frame_is_taken_for_another() {
        let mut copies = Copies::default();
        let mut chance = 1_u64;
        for number in 0..1_000_000_u32 {
            chance = chance.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            let mut ack = frame(i64::from(number) * 150, (chance >> 48) as u16, 64);
            let ports = (40_000 + number % 200) << 16 | 5201;
            (ack.key, ack.from_low) = Key::v4(0x0a00_0001_0a00_0002, ports);
            (ack.payload, ack.ack) = (0, (chance >> 16) as u32);
            let signature = ack.signature(ack.key.mark());
            assert!(
                !copies.may_know(&ack, signature, First::Anywhere, 0),
                "frame {number}"
            );
            copies.add(&ack, signature);
        }
    }

    /// New data of a few connections, in turn; numbers are of frames.
    fn numbered(number: usize) -> (Frame, u64) {
        let id = 1 + (number % 60_000) as u16;
        let mut frame = frame(number as i64 * US / 2, id, 64);
        frame.seq = number as u32;
        (frame, number as u64 % 100)
    }

    #[test]
    fn frames_are_remembered_by_time_and_number() {
        let mut copies = Copies::default();
        let mut places = Vec::new();
        for number in 0..3 * REMEMBERED {
            let (frame, ends) = numbered(number);
            places.push(copies.add_news(&frame, frame.signature(ends), ends));
        }
        let known = |back: usize| {
            let number = 3 * REMEMBERED - back;
            let (mut again, ends) = numbered(number);
            again.time_ns = 3 * REMEMBERED as i64 * US / 2;
            let around = Surroundings { ends, ..KNOWN };
            let first = First::At(places[number]);
            copies.knows(&again, again.signature(ends), first, &around)
        };
        assert!(known(1) && known(102) && known(REMEMBERED));
        assert!(!known(REMEMBERED + 1));
    }

    #[test]
    fn what_was_acknowledged_is_looked_for_among_the_last_of_its_connection() {
        let mut copies = Copies::default();
        for number in 0..REMEMBERED {
            let (frame, ends) = numbered(number);
            copies.add_news(&frame, frame.signature(ends), ends);
        }
        let known = |back: usize| {
            let (mut again, ends) = numbered(REMEMBERED - back);
            again.time_ns = REMEMBERED as i64 * US / 2;
            let around = Surroundings { ends, ..KNOWN };
            copies.knows(&again, again.signature(ends), First::Anywhere, &around)
        };
        // Connections of which ends are alike share a chain: at most 100 of them.
        assert!(known(1) && known(102) && known(FLOW_STEPS));
    }

    #[test]
    fn what_brings_no_new_data_is_remembered_by_number_too() {
        let mut copies = Copies::default();
        for number in 0..3 * REMEMBERED {
            let (frame, ends) = numbered(number);
            copies.add(&frame, frame.signature(ends));
        }
        let known = |back: usize| {
            let (mut again, ends) = numbered(3 * REMEMBERED - back);
            again.time_ns = 3 * REMEMBERED as i64 * US / 2;
            copies.may_know(&again, again.signature(ends), First::None, ends)
        };
        assert!(known(1) && known(102) && known(REMEMBERED));
        assert!(!known(REMEMBERED + 1));
    }
}
