//! A sender that takes the receiver's windows as they are in the header, without the scale that the handshake shows: a box behind
//! this point has taken the option out of the SYN or of its answer, so that each side believes something else (RFC 7323, 2.2).
//!
//! Such a sender fills each window as soon as its announcement comes, and never goes beyond. Any other one goes beyond at once, as a
//! rule: a scale of 7 makes a header of 502 out of 64 KB, which is less than a segment. At the receiver each acknowledgment
//! follows at once on the data: there, what comes sooner than an acknowledgment can be answered was allowed by the ones before.

use super::Flow;
use super::edge::{Growth, NONE};
use crate::acks::Acks;

/// Windows from here on show nothing: senders have buffers of 64 KiB as well.
const AMPLE: u64 = 60_000;
/// How far from the edge a sender may stay, as a share of the window: whole segments may not fit, and a message that is about as
/// long as a small window is no full window.
const SHORT: u64 = 16;
/// How much sooner than ever seen an answer may come, as a part of the time that it takes.
const SOONER: i64 = 16;

impl Flow {
    /// Follows the edge of a window as it is in the header; false if data has shown that its sender knows the scale.
    pub(super) fn announce_bare_edge(&mut self, acks: &mut Acks, now_ns: i64) -> bool {
        if !acks.may_lack_scale() {
            return false;
        }
        if acks.bare_window() >= AMPLE || self.is_beyond_bare(acks) {
            self.heed(acks);
            return false;
        }
        self.count_held_back(now_ns);
        self.edge_since_ns = now_ns;
        let edge = self.bare_edge(acks);
        let is_ahead = self.ranges.next() < edge;
        self.edge_ahead = if is_ahead { edge } else { NONE };
        true
    }

    /// Data has come as far as that edge, or, where that was filled, beyond it.
    pub(super) fn reach_bare_edge(
        &mut self,
        now_ns: i64,
        acks: &mut Acks,
        (turn_ns, rtt_ns): (Option<i64>, i64),
    ) {
        let followed = self.edge_ahead;
        self.edge_ahead = NONE;
        let is_filled = acks.is_filled();
        if self.is_beyond_bare(acks) || is_filled && self.is_too_soon(now_ns, turn_ns) {
            return self.heed(acks);
        }
        acks.note_filled(!is_filled);
        if is_filled {
            // Another window allows this.
            return;
        }
        let is_last = self.ranges.next() >= self.bare_edge(acks);
        self.is_in_time(now_ns, is_last, (turn_ns, rtt_ns));
        // Beyond the window that was followed, not beyond the last one.
        let window = acks.bare_window();
        self.edge_ahead = followed + self.short_of(window) + 2;
    }

    /// Whether data came sooner than the acknowledgment that is followed can be answered.
    fn is_too_soon(&self, now_ns: i64, turn_ns: Option<i64>) -> bool {
        let answer_ns = turn_ns.map_or(0, |turn| turn - turn / SOONER);
        now_ns.saturating_sub(self.edge_since_ns) < answer_ns
    }

    /// How far a window lets data go without its scale. A receiver that rounds down takes back less than one.
    fn bare_limit(&self, acks: &Acks) -> u64 {
        self.una + acks.bare_window() + 1
    }

    /// In front of that limit, what is as good as reaching it.
    fn bare_edge(&self, acks: &Acks) -> u64 {
        let window = acks.bare_window();
        self.una + window - self.short_of(window)
    }

    /// By how many bytes what is as good as a window may be smaller.
    fn short_of(&self, window: u64) -> u64 {
        self.tally.segment_bytes().min(window / SHORT)
    }

    fn is_beyond_bare(&self, acks: &Acks) -> bool {
        self.ranges.next() > self.bare_limit(acks)
    }

    /// The sender knows the scale: what counted as held back by smaller windows was not.
    fn heed(&mut self, acks: &mut Acks) {
        acks.note_scale_heeded();
        acks.note_filled(false);
        (self.edge_ns, self.edge_since_ns) = (0, 0);
        if let Some(slow) = &mut self.slow {
            slow.growth = Growth::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::unscaled::tests::announced;

    const MS: i64 = 1_000_000;
    const SEGMENT: u64 = 1_448;

    /// Round trips of 30 ms at the sender, which sends so many bytes in each; the receiver announces such a window, with a scale
    /// of 7. Milliseconds at the edge, and whether the sender knows the scale.
    fn followed(window: u16, bytes: impl Fn(u64) -> u64) -> (i64, bool) {
        at(window, bytes, false)
    }

    /// The same, at the receiver if `is_receiver`: there each segment is acknowledged as it comes.
    fn at(window: u16, bytes: impl Fn(u64) -> u64, is_receiver: bool) -> (i64, bool) {
        let turn_ns = if is_receiver { 30 * MS } else { 0 };
        let mut flow = Flow::default();
        flow.counts.data_frames = 1;
        flow.begin(1);
        let mut acks = announced(window);
        acks.set_scale(7);
        for turn in 0..=20 {
            let now_ns = (1 + 30 * turn as i64) * MS;
            flow.una = flow.ranges.next();
            if flow.awaits_edge() {
                flow.announce_edge(&mut acks, now_ns);
            }
            let mut left = bytes(turn);
            while left > 0 {
                let length = left.min(SEGMENT);
                left -= length;
                flow.ranges.see_next(flow.ranges.next() + length);
                if flow.is_at_edge() {
                    flow.reach_edge(now_ns, &mut acks, (Some(turn_ns), 30 * MS));
                }
                if is_receiver {
                    flow.una = flow.ranges.next();
                    if flow.awaits_edge() {
                        flow.announce_edge(&mut acks, now_ns);
                    }
                }
            }
        }
        (flow.edge_ns / MS, !acks.may_lack_scale())
    }

    #[test]
    fn a_sender_without_the_scale_is_held_back_nearly_all_the_time() {
        for window in [502, 7_812, 23_437] {
            let (held_ms, knows) = followed(window, |_| u64::from(window));
            assert!(held_ms >= 18 * 30 && !knows, "{window}: {held_ms} {knows}");
        }
    }

    #[test]
    fn one_window_that_is_exceeded_shows_that_the_scale_is_known() {
        let once = |turn: u64| if turn == 12 { 9_000 } else { 7_812 };
        assert_eq!(followed(7_812, once), (0, true));
        assert_eq!(followed(502, |_| 10 * SEGMENT), (0, true));
    }

    /// A sender that is done sooner is not held back by the window, scaled or not.
    #[test]
    fn messages_shorter_than_the_window_are_not_held_back() {
        let (held_ms, knows) = followed(7_812, |_| 6_000);
        assert_eq!((held_ms, knows), (0, false));
    }

    /// At the receiver a sender that knows the scale shows by more than a window within a round trip.
    #[test]
    fn at_the_receiver_more_than_a_window_in_a_flight_shows_that_the_scale_is_known() {
        for segments in [13, 20, 40, 100] {
            let bytes = |turn| segments * SEGMENT + turn % 3 * 500;
            let (_, knows) = at(16_384, bytes, true);
            assert!(knows, "{segments}");
        }
        for window in [7_812, 16_384, 23_437] {
            let (held_ms, knows) = at(window, |_| u64::from(window), true);
            assert!(held_ms >= 15 * 30 && !knows, "{window}: {held_ms} {knows}");
        }
    }

    /// 64 KiB are what a sender's own buffer has.
    #[test]
    fn large_windows_show_nothing() {
        assert!(followed(65_535, |_| 65_535).1);
    }
}
