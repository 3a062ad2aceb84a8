//! What became of each frame of one direction of one connection, from one point to the next.
//!
//! Frames that left the first point wait here until the second point shows their bytes, or until
//! it is clear that it never will. A frame at the second point is credited to the latest
//! transmission of the same bytes that can have caused it, so that a retransmission which arrives
//! does not hide that the first try was lost.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::outcome::{Horizon, Judged, Outcome, Sameness, Seen};
use super::waiting::Waiting;

/// A reset of the receiver.
#[derive(Clone, Copy, Debug)]
struct Reset {
    /// By the first point's clock.
    time_ns: i64,
    /// Frames that had left when it was read.
    order: u64,
}

/// How long a frame may take before it counts as lost: longer than the queues of any sane path.
pub(super) const HOLD_NS: i64 = 3_000_000_000;
/// How late the clock estimate may make a frame look, before a cause is sought among later ones.
const TOLERANCE_NS: i64 = 2_000_000;
/// How long a frame of the second point waits for its cause to be read.
const GRACE_NS: i64 = 1_000_000_000;
/// Frames this close together can be merged into one; NICs wait some 10 to 100 us for more.
const LONE_NS: i64 = 1_000_000;
/// At the end of a capture nothing is called lost that had less than this to be acknowledged or
/// sent again: five of Linux's shortest retransmission timeouts.
const TAIL_NS: i64 = 1_000_000_000;
/// Acknowledgments remembered.
const MAX_ACKS: usize = 1024;
/// Delays kept of a direction, for the clock: a few hundred fix a median.
const MAX_DELAYS: usize = 256;

/// One direction of one connection over one hop.
#[derive(Debug, Default)]
pub(crate) struct Join {
    /// Its number at the first point.
    connection: u32,
    waiting: BTreeMap<(u64, u64), Waiting>,
    order: u64,
    longest: u32,
    last: Option<(u64, u64)>,
    last_ns: i64,
    /// Frames of the second point whose cause may not be read yet.
    pending: VecDeque<Seen>,
    /// Positions acknowledged, as seen at the first point, with the time by its own clock.
    acks: VecDeque<(u64, i64)>,
    /// The highest of them.
    acknowledged: Option<u64>,
    /// The receiver's reset, as it passed the first and the second point.
    resets: [Option<Reset>; 2],
    /// The shortest time that a frame took, by the first point's clock.
    fastest_ns: Option<i64>,
    highest_matched: u64,
    /// `highest_matched` before the frame at hand.
    matched_before: u64,
    /// A frame has arrived with the timestamp with which it left: nothing on the hop rewrites timestamps.
    keeps_stamps: bool,
    /// Of frames that arrived as they left, those with the identification with which they left, and with another one.
    ids: (u32, u32),
    pub(crate) reordered: u64,
    /// When the same frame left and came, each by its own point's clock.
    pub(crate) delays: Vec<(i64, i64)>,
}

impl Join {
    pub(crate) fn new(connection: u32) -> Self {
        Self {
            connection,
            ..Self::default()
        }
    }

    /// Frames held.
    pub(crate) fn held(&self) -> usize {
        self.waiting.len() + self.pending.len()
    }

    /// A frame left the first point.
    pub(crate) fn left(&mut self, seen: Seen) {
        self.longest = self.longest.max(seen.len);
        let close = self.last.is_some() && seen.own_ns - self.last_ns < LONE_NS;
        if close && let Some(before) = self.last.and_then(|key| self.waiting.get_mut(&key)) {
            before.lone = false;
        }
        self.mark_repeated(&seen);
        let key = (seen.start, self.order);
        self.order += 1;
        let ahead = self.ahead(&seen);
        self.waiting.insert(key, Waiting::new(seen, ahead, !close));
        self.last = Some(key);
        self.last_ns = seen.own_ns;
    }

    fn ahead(&self, seen: &Seen) -> u32 {
        let from = self.acknowledged.unwrap_or(seen.end());
        seen.end().saturating_sub(from).try_into().unwrap_or(0)
    }

    fn mark_repeated(&mut self, seen: &Seen) {
        for (_, old) in self.waiting.range_mut(keys(seen, self.longest)) {
            if old.seen.end() > seen.start {
                old.again_ns.get_or_insert(seen.own_ns);
            }
        }
    }

    /// A frame came to the second point; its time is by the first point's clock.
    pub(crate) fn came(&mut self, seen: Seen) {
        self.pending.push_back(seen);
    }

    /// The first point saw the receiver acknowledge everything below `position`, at a time by its
    /// own clock.
    pub(crate) fn acknowledged(&mut self, position: u64, time_ns: i64) {
        if self.acks.len() == MAX_ACKS {
            self.acks.pop_front();
        }
        self.acks.push_back((position, time_ns));
        self.acknowledged = self.acknowledged.max(Some(position));
    }

    /// The receiver's reset passed the point that frames leave, or the other one, at a time by the first point's clock. The first
    /// one counts, unless the connection went on since then.
    pub(crate) fn reset(&mut self, at_leaving: bool, time_ns: i64) {
        let reset = &mut self.resets[usize::from(!at_leaving)];
        if reset.is_none_or(|before| went_on(&self.acks, before.time_ns)) {
            *reset = Some(Reset {
                time_ns,
                order: self.order,
            });
        }
    }

    /// Credits the frames that came, and judges those that can be judged.
    pub(crate) fn advance(&mut self, horizon: &Horizon, mut judge: impl FnMut(Judged)) {
        while let Some(came) = self.pending.front().copied() {
            if came.time_ns + TOLERANCE_NS > horizon.upstream_ns && !horizon.at_end {
                break;
            }
            let patient = came.time_ns + GRACE_NS > horizon.upstream_ns && !horizon.at_end;
            if !self.credit(&came, &mut judge) && patient {
                break;
            }
            self.pending.pop_front();
        }
        self.retire(horizon, &mut judge);
    }

    /// Credits a frame of the second point; false if nothing that waits can have caused it.
    fn credit(&mut self, came: &Seen, judge: &mut impl FnMut(Judged)) -> bool {
        let causes = self.candidate_transmissions(came);
        self.matched_before = self.highest_matched;
        let mut open = Vec::with_capacity(4);
        open.push(came.start..came.end());
        for key in causes.iter().copied() {
            if open.is_empty() {
                break;
            }
            self.credit_transmission(key, came, &mut open, judge);
        }
        !causes.is_empty()
    }

    /// Transmissions of the frame's bytes, the likeliest first: same identification, same timestamp,
    /// then the latest that is not later than the frame, then the earliest of those that seem to be.
    fn candidate_transmissions(&self, came: &Seen) -> Vec<(u64, u64)> {
        let mut causes: Vec<_> = self
            .waiting
            .range(keys(came, self.longest))
            .filter(|(_, old)| old.seen.end() > came.start && !self.is_other(&old.seen, came))
            .map(|(key, old)| {
                let late = old.seen.time_ns > came.time_ns + TOLERANCE_NS;
                let distance = (came.time_ns - old.seen.time_ns).abs();
                let sameness = self.sameness(&old.seen, came);
                (
                    (sameness, old.seen.tsval != came.tsval, late, distance),
                    *key,
                )
            })
            .collect();
        causes.sort_unstable();
        causes.into_iter().map(|(_, key)| key).collect()
    }

    /// Whether both are one transmission, by their identifications. Another one says nothing where the hop rewrites them, as pf does
    /// (`scrub random-id`), or while no frame has shown that it does not.
    fn sameness(&self, old: &Seen, came: &Seen) -> Sameness {
        let keeps_ids = self.ids.0 > self.ids.1;
        match old.sameness(came) {
            Sameness::Other if !keeps_ids => Sameness::Unknown,
            sameness => sameness,
        }
    }

    /// Whether a frame that came is another transmission, by its timestamp: pieces of a frame have the frame's own. So
    /// a repair that the first capture missed is no part of what was lost before it.
    fn is_other(&self, old: &Seen, came: &Seen) -> bool {
        let stamped = old.tsval != 0 && came.tsval != 0;
        self.keeps_stamps && stamped && came.len <= old.len && old.tsval != came.tsval
    }

    fn credit_transmission(
        &mut self,
        key: (u64, u64),
        came: &Seen,
        open: &mut Vec<Range<u64>>,
        judge: &mut impl FnMut(Judged),
    ) {
        let Some(old) = self.waiting.get_mut(&key) else {
            return;
        };
        let taken = take(open, old.seen.start..old.seen.end());
        if taken == 0 {
            return;
        }
        old.covered = old.covered.saturating_add(taken as u32);
        old.pieces += 1;
        old.fragmented |= came.fragmented && !old.seen.fragmented;
        old.inside_larger |= came.start < old.seen.start || came.end() > old.seen.end();
        let is_same = old.seen.start == came.start && old.seen.len == came.len;
        self.keeps_stamps |= is_same && came.tsval != 0 && old.seen.tsval == came.tsval;
        if is_same {
            let sameness = old.seen.sameness(came);
            self.ids.0 += u32::from(sameness == Sameness::Same);
            self.ids.1 += u32::from(sameness == Sameness::Other);
        }
        // Karn's rule: of bytes that left twice nobody knows which transmission came, so no delay is taken.
        let first_try = old.again_ns.is_none() && old.pieces == 1;
        if first_try {
            let took_ns = came.time_ns - old.seen.time_ns;
            self.fastest_ns = Some(self.fastest_ns.map_or(took_ns, |least| least.min(took_ns)));
        }
        if first_try && old.seen.start == came.start && self.delays.len() < MAX_DELAYS {
            self.delays.push((old.seen.own_ns, came.own_ns));
        }
        // Against the state before this frame: pieces of one merged frame do not overtake each other.
        if key.1 < self.matched_before && came.start == old.seen.start {
            self.reordered += 1;
        }
        self.highest_matched = self.highest_matched.max(key.1);
        if old.covered >= old.seen.len {
            let judged = old.judged(self.connection, old.arrival());
            self.waiting.remove(&key);
            let first = self.waiting.first_key_value().map(|(first, _)| *first);
            let behind_hole = first.is_some_and(|(start, order)| start < key.0 && order < key.1);
            judge(Judged {
                behind_hole,
                ..judged
            });
        }
    }

    /// Judges what has waited long enough.
    fn retire(&mut self, horizon: &Horizon, judge: &mut impl FnMut(Judged)) {
        let due = |old: &Waiting| {
            horizon.at_end
                || old.seen.time_ns + HOLD_NS < horizon.downstream_ns.min(horizon.upstream_ns)
        };
        // The map is by position; what is due sits in front but for retransmissions.
        let due: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, old)| due(old))
            .map(|(key, _)| *key)
            .collect();
        for key in due {
            if let Some(old) = self.waiting.remove(&key) {
                let outcome = self.fate(key.1, &old, horizon);
                judge(old.judged(self.connection, outcome));
            }
        }
    }

    /// Whether nobody wanted a frame any more when it left, or when it would have come: who has seen the RST, a firewall or NAT
    /// that knows the connection, drops what the sender sends until the RST has reached it (RFC 9293 section 3.5.2). What
    /// left before a RST that passed the first point alone may be what a box answered with it.
    fn is_unwanted(&self, order: u64, old: &Waiting) -> bool {
        let takes_ns = TOLERANCE_NS + self.fastest_ns.unwrap_or(0).max(0);
        let [first, second] = self.resets;
        first.is_some_and(|reset| order >= reset.order && !went_on(&self.acks, reset.time_ns))
            || second.is_some_and(|reset| {
                let passed_ns = reset.time_ns + takes_ns;
                old.seen.time_ns + takes_ns >= reset.time_ns && !went_on(&self.acks, passed_ns)
            })
    }

    /// What became of a frame of which not all bytes came.
    fn fate(&self, order: u64, old: &Waiting, horizon: &Horizon) -> Outcome {
        if self.is_unwanted(order, old) {
            return Outcome::NotJudged;
        }
        let delivered = self.was_delivered(old);
        if old.covered > 0 {
            // The second capture missed the rest of what the receiver has.
            return if delivered == Some(true) {
                old.arrival()
            } else {
                Outcome::PartlyLost
            };
        }
        let sent_ns = old.seen.time_ns;
        let end_ns = horizon.downstream_ns.min(horizon.upstream_ns);
        if sent_ns < horizon.downstream_began_ns || sent_ns > end_ns {
            return Outcome::NotJudged;
        }
        match delivered {
            Some(true) => Outcome::Missed,
            // The end of the connection, or a capture without ACKs: whether the frame was lost cannot be decided.
            None if self.acks.is_empty() || sent_ns + TAIL_NS > end_ns => Outcome::NotJudged,
            _ => Outcome::Lost,
        }
    }

    /// Whether the receiver acknowledged this transmission: before any of it was sent again. `None`
    /// if neither happened.
    fn was_delivered(&self, old: &Waiting) -> Option<bool> {
        let i = self
            .acks
            .partition_point(|(position, _)| *position < old.seen.end());
        match (self.acks.get(i), old.again_ns) {
            (Some((_, acked_ns)), Some(again_ns)) => Some(*acked_ns < again_ns),
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        }
    }

    /// Forgets the oldest frames, when memory is short.
    pub(crate) fn forget(&mut self, mut judge: impl FnMut(Judged)) {
        self.pending.clear();
        for (_, old) in std::mem::take(&mut self.waiting) {
            judge(old.judged(self.connection, Outcome::NotJudged));
        }
    }
}

/// Whether the receiver acknowledged more after a time at the first point: a reset before was none of its own, or was not
/// believed (RFC 5961, section 3). What it acknowledged before a reset passes the first point before that does.
fn went_on(acks: &VecDeque<(u64, i64)>, reset_ns: i64) -> bool {
    let before = acks.partition_point(|(_, at_ns)| *at_ns <= reset_ns);
    let before = before.checked_sub(1).and_then(|i| acks.get(i));
    acks.back().is_some_and(|(last, at_ns)| {
        *at_ns > reset_ns && before.is_none_or(|(before, _)| last > before)
    })
}

/// Keys of transmissions that can overlap a frame.
fn keys(seen: &Seen, longest: u32) -> Range<(u64, u64)> {
    (seen.start.saturating_sub(u64::from(longest)), 0)..(seen.end(), 0)
}

/// Takes a range out of the open ones; returns the number of bytes taken.
fn take(open: &mut Vec<Range<u64>>, range: Range<u64>) -> u64 {
    let mut taken = 0;
    let mut left = Vec::with_capacity(open.len() + 1);
    for part in open.drain(..) {
        let common = part.start.max(range.start)..part.end.min(range.end);
        if common.is_empty() {
            left.push(part);
            continue;
        }
        taken += common.end - common.start;
        left.extend([part.start..common.start, common.end..part.end]);
    }
    left.retain(|part| !part.is_empty());
    *open = left;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn seen(start: u64, len: u32, ms: i64) -> Seen {
        Seen {
            start,
            len,
            time_ns: ms * MS,
            own_ns: ms * MS,
            pause_ns: 0,
            number: start,
            turn: start,
            tsval: 0,
            id: 0,
            ttl: 64,
            fragmented: false,
        }
    }

    fn judge(join: &mut Join) -> Vec<(u64, Outcome)> {
        let horizon = Horizon {
            upstream_ns: 60_000 * MS,
            downstream_ns: 60_000 * MS,
            downstream_began_ns: 0,
            at_end: true,
        };
        let mut all = Vec::new();
        join.advance(&horizon, |judged| all.push((judged.number, judged.outcome)));
        all.sort_by_key(|(number, _)| *number);
        all
    }

    #[test]
    fn the_retransmission_arrived_and_the_first_try_was_lost() {
        let mut join = Join::default();
        join.left(seen(0, 3000, 0));
        join.left(Seen {
            number: 1,
            turn: 1,
            ..seen(0, 1000, 300)
        });
        join.acknowledged(1000, 310 * MS);
        join.came(seen(0, 1000, 301));
        assert_eq!(
            judge(&mut join),
            [(0, Outcome::Lost), (1, Outcome::Arrived)]
        );
    }

    /// Of a merged frame that was lost only the repair of one segment is seen, and not where it left.
    #[test]
    fn a_repair_that_the_first_capture_missed_is_no_part_of_what_was_lost() {
        let mut join = Join::default();
        let stamped = |seen: Seen, tsval| Seen { tsval, ..seen };
        join.left(stamped(seen(0, 1000, 0), 7));
        join.came(stamped(seen(0, 1000, 1), 7));
        join.left(stamped(seen(1000, 3000, 2), 9));
        join.left(stamped(seen(2000, 2000, 300), 400));
        join.came(stamped(seen(1000, 1000, 290), 390));
        join.came(stamped(seen(2000, 2000, 301), 400));
        join.acknowledged(4000, 310 * MS);
        let expected = [
            (0, Outcome::Arrived),
            (1000, Outcome::Lost),
            (2000, Outcome::Arrived),
        ];
        assert_eq!(judge(&mut join), expected);
    }

    /// A merged frame that was lost has begun in front of the repair of one of its segments.
    #[test]
    fn rewritten_identifications_part_no_frames() {
        let mut join = Join::default();
        let with = |seen: Seen, id| Seen { id, ..seen };
        join.left(with(seen(0, 3000, 0), 7));
        join.left(Seen {
            number: 1,
            turn: 1,
            ..with(seen(0, 1000, 300), 8)
        });
        join.came(with(seen(0, 1000, 301), 1007));
        join.left(with(seen(1000, 1000, 600), 9));
        join.came(with(seen(1000, 1000, 601), 1001));
        join.left(with(seen(2000, 1000, 900), 10));
        join.came(with(seen(2000, 1000, 901), 1003));
        join.acknowledged(3000, 910 * MS);
        let expected = [
            (0, Outcome::Lost),
            (1, Outcome::Arrived),
            (1000, Outcome::Arrived),
            (2000, Outcome::Arrived),
        ];
        assert_eq!(judge(&mut join), expected);
    }

    #[test]
    fn split_and_merged_frames_are_recognised() {
        let mut join = Join::default();
        join.left(seen(0, 3000, 0));
        join.left(seen(3000, 1000, 5));
        join.left(seen(4000, 1000, 5));
        for i in 0..3 {
            join.came(seen(i * 1000, 1000, 1));
        }
        join.came(seen(3000, 2000, 6));
        let expected = [
            (0, Outcome::Resplit),
            (3000, Outcome::MergedFurther),
            (4000, Outcome::MergedFurther),
        ];
        assert_eq!(judge(&mut join), expected);
    }

    #[test]
    fn what_the_receiver_acknowledged_was_missed_not_lost() {
        let mut join = Join::default();
        join.left(seen(0, 1000, 0));
        join.left(seen(1000, 1000, 1));
        join.acknowledged(2000, 5 * MS);
        join.came(seen(1000, 1000, 2));
        assert_eq!(
            judge(&mut join),
            [(0, Outcome::Missed), (1000, Outcome::Arrived)]
        );
    }

    /// A box that has seen the RST drops what is still on its way; what left before that was lost, be it what a box answered with
    /// that RST. A reset that only one of the points has seen says no more than one of both, once the receiver acknowledges more.
    #[test]
    fn what_left_after_a_reset_is_not_judged_unless_the_connection_goes_on() {
        let fates = |points: &[bool], goes_on: bool| {
            let mut join = Join::default();
            join.acknowledged(0, 0);
            join.left(seen(0, 1000, 0));
            join.left(seen(500, 500, 500));
            points.iter().for_each(|at| join.reset(*at, 500 * MS));
            join.left(seen(1000, 1000, 500));
            join.left(seen(2000, 3000, 501));
            join.came(seen(9000, 1000, 600));
            join.acknowledged(0, 510 * MS);
            if goes_on {
                join.acknowledged(1000, 520 * MS);
            }
            let judged = judge(&mut join).into_iter();
            judged.map(|(_, outcome)| outcome).collect::<Vec<_>>()
        };
        let (lost, unjudged) = (Outcome::Lost, Outcome::NotJudged);
        assert_eq!(fates(&[true], false), [lost, lost, unjudged, unjudged]);
        for points in [&[false][..], &[true, false]] {
            assert_eq!(fates(points, false), [lost, unjudged, unjudged, unjudged]);
        }
        for points in [&[true][..], &[false], &[true, false]] {
            let went_on = fates(points, true);
            assert_eq!(went_on[2..], [lost, lost], "{points:?}");
        }
    }

    /// The reset is at the second point before the first one has seen it, and so would be what left meanwhile.
    #[test]
    fn what_would_have_come_after_a_reset_is_not_judged() {
        let mut join = Join::default();
        join.acknowledged(0, 0);
        join.left(seen(0, 1000, 0));
        join.came(seen(0, 1000, 20));
        join.left(seen(1000, 1000, 470));
        join.left(seen(2000, 3000, 481));
        join.reset(false, 500 * MS);
        join.acknowledged(1000, 510 * MS);
        join.reset(true, 520 * MS);
        join.left(seen(5000, 1000, 530));
        let expected = [
            (0, Outcome::Arrived),
            (1000, Outcome::Lost),
            (2000, Outcome::NotJudged),
            (5000, Outcome::NotJudged),
        ];
        assert_eq!(judge(&mut join), expected);
    }

    #[test]
    fn a_resplit_frame_that_lost_a_piece_is_partly_lost() {
        let mut join = Join::default();
        join.left(seen(0, 3000, 0));
        join.came(seen(0, 1000, 1));
        assert_eq!(judge(&mut join), [(0, Outcome::PartlyLost)]);
    }

    #[test]
    fn lone_frames_have_no_neighbour_within_a_millisecond() {
        let mut join = Join::default();
        join.left(seen(0, 100, 0));
        join.left(seen(100, 100, 50));
        join.left(seen(200, 100, 50));
        let lone: Vec<bool> = join.waiting.values().map(|old| old.lone).collect();
        assert_eq!(lone, [true, false, false]);
    }
}
