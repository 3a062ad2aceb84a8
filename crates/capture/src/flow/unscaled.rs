//! The scale of a receiver's window where the capture has no handshake, as when it begins in the middle of a transfer:
//! the least by which no data went beyond a window (RFC 9293, 3.8.6: a sender sends nothing beyond).
//!
//! Data that is seen here before the next acknowledgment, or sooner than an acknowledgment can be answered, was allowed by
//! the ones before. The least scale alone shows nothing: by chance a sender that something else holds back sends about as
//! much as the window allows by that scale. It counts if it is the largest scale as well, or the one that the SYN suggests:
//!
//! - A receiver takes back nothing that it has allowed (RFC 9293, 3.8.6: "SHOULD NOT shrink the window"): a window that falls
//!   while fewer bytes are acknowledged bounds the scale from above.
//! - The window of a SYN is not scaled (RFC 7323, 2.2), and the next one of that side is about as large in bytes.

use super::Flow;
use super::edge::Growth;
use crate::acks::Acks;

/// The largest scale there is (RFC 7323, 2.3).
const LARGEST: u8 = 14;
/// How much sooner than ever seen an answer may come, as a part of the time that it takes.
const SOONER: i64 = 16;

/// How far the quotient of both windows may be from the power of two that is nearest, as a logarithm: the receiver has got
/// little in between.
const ABOUT: f64 = 0.5;

/// The acknowledgment that is followed, and the scales that are possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unscaled {
    una: u64,
    since_ns: i64,
    /// As in the header.
    window: u16,
    /// The first one after the SYN.
    first_window: u16,
    least: u8,
    most: u8,
    /// Data came as far as the window lets it. Whether it goes on is followed now.
    is_full: bool,
    /// Another acknowledgment came before data came as far.
    is_superseded: bool,
}

impl Default for Unscaled {
    fn default() -> Self {
        Self {
            una: 0,
            since_ns: 0,
            window: 0,
            first_window: 0,
            least: 0,
            most: LARGEST,
            is_full: false,
            is_superseded: false,
        }
    }
}

impl Unscaled {
    /// Reads a value from its cache line.
    pub(super) fn touch(&self) -> u64 {
        self.una
    }

    /// How far the window lets data go. A receiver that rounds down takes back less than a unit of the scale.
    fn limit(&self) -> u64 {
        self.una + ((u64::from(self.window) + 1) << self.least)
    }

    /// Follows another acknowledgment.
    fn hear(&mut self, una: u64, window: u16, now_ns: i64) {
        // Less than a unit may be due to rounding.
        let fallen = self.window.saturating_sub(window).saturating_sub(1);
        if self.una == 0 {
            self.first_window = window;
        } else if fallen > 0 && una > self.una {
            let quotient = (una - self.una) / u64::from(fallen);
            self.most = self.most.min(quotient.checked_ilog2().unwrap_or(0) as u8);
        }
        (self.una, self.window, self.since_ns) = (una, window, now_ns);
        (self.is_full, self.is_superseded) = (false, false);
    }

    /// Raises the least scale until data up to `next` was allowed; whether it had to be raised. Zero-window probes go beyond
    /// any scale (RFC 9293, 3.8.6.1).
    fn raise(&mut self, next: u64) -> bool {
        let before = self.least;
        while self.least <= LARGEST && self.window > 0 && next > self.limit() {
            self.least += 1;
        }
        self.least > before
    }

    /// The scale, if only one is possible or the window of the SYN confirms it.
    fn scale(&self, syn_window: Option<u16>) -> Option<u8> {
        let is_heard = self.una > 0 && self.least <= self.most;
        let suggests = |syn: u16| {
            let scale = f64::from(syn) / f64::from(self.first_window);
            (scale.log2() - f64::from(self.least)).abs() <= ABOUT
        };
        // 65,535 is what larger windows are in a SYN.
        let is_confirmed = syn_window.is_some_and(|syn| syn < u16::MAX && suggests(syn));
        (is_heard && (self.least == self.most || is_confirmed)).then_some(self.least)
    }
}

impl Flow {
    /// Follows the last acknowledgment, if no handshake shows the scale of its window.
    pub(super) fn hear_unscaled(&mut self, acks: &Acks, now_ns: i64) {
        if acks.scale().is_some() {
            return;
        }
        // What came until now was allowed by the acknowledgment before, and is by this one.
        if !self.unscaled().is_superseded {
            self.raise_scale();
        }
        let (una, window) = (self.una, acks.last_window() as u16);
        self.unscaled().hear(una, window, now_ns);
        self.raise_scale();
    }

    /// Whether data without a known scale was followed beyond the edge, so that the next acknowledgment's turn has come.
    pub(super) fn is_beyond_unscaled(
        &mut self,
        acks: &Acks,
        now_ns: i64,
        turn_ns: Option<i64>,
    ) -> bool {
        if acks.scale().is_some() {
            return false;
        }
        let last = (self.una, acks.last_window());
        let unscaled = self.unscaled();
        let answer_ns = turn_ns.map_or(0, |turn| turn - turn / SOONER);
        unscaled.is_superseded = last != (unscaled.una, u64::from(unscaled.window));
        let is_too_soon = now_ns - unscaled.since_ns < answer_ns;
        let (was_allowed, is_full) = (unscaled.is_superseded && !is_too_soon, unscaled.is_full);
        !was_allowed && self.raise_scale() || is_full
    }

    /// Follows whether data goes beyond the window that it fills.
    pub(super) fn follow_unscaled(&mut self, acks: &Acks) {
        if let (None, Some(slow)) = (acks.scale(), &mut self.slow) {
            slow.unscaled.is_full = true;
            self.edge_ahead = slow.unscaled.limit() + 1;
        }
    }

    fn unscaled(&mut self) -> &mut Unscaled {
        &mut self.slow.get_or_insert_default().unscaled
    }

    fn raise_scale(&mut self) -> bool {
        let next = self.ranges.next();
        let raised = self.unscaled().raise(next);
        if raised {
            // What counted as held back by a smaller window was not.
            self.slow.get_or_insert_default().growth = Growth::default();
            (self.edge_ns, self.edge_since_ns) = (0, 0);
        }
        raised
    }

    /// The least scale so far by which no data went beyond a window.
    pub(super) fn least_scale(&self) -> Option<u8> {
        let least = self.slow.as_ref()?.unscaled.least;
        (least <= LARGEST).then_some(least)
    }

    /// The scale where no handshake shows it, but all else does; `syn_window` is the receiver's in its SYN.
    pub(crate) fn inferred_scale(&self, syn_window: Option<u16>) -> Option<u8> {
        self.slow.as_ref()?.unscaled.scale(syn_window)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::Frame;

    const MS: i64 = 1_000_000;
    const SEGMENT: u64 = 1_448;

    /// What a receiver says that announces such a window, without a known scale.
    pub(in crate::flow) fn announced(window: u16) -> Acks {
        let mut acks = Acks::default();
        let mut frame = Frame::default();
        frame.window = window;
        acks.add_pure(&frame, false);
        acks
    }

    /// Round trips of 30 ms at the sender. In each the receiver announces one of the windows, in turn, and so many bytes are sent,
    /// in frames of a segment each.
    fn followed(windows: &[u16], bytes: impl Fn(usize) -> u64) -> Flow {
        let mut flow = Flow::default();
        flow.counts.data_frames = 1;
        flow.begin(1);
        for turn in 0..=20 {
            let now_ns = (1 + 30 * turn as i64) * MS;
            flow.una = flow.ranges.next();
            let acks = announced(windows[turn % windows.len()]);
            if flow.awaits_edge() {
                flow.announce_edge(&acks, now_ns);
            }
            let mut left = bytes(turn);
            while left > 0 {
                let length = left.min(SEGMENT);
                left -= length;
                flow.ranges.see_next(flow.ranges.next() + length);
                if flow.is_at_edge() {
                    flow.reach_edge(now_ns, &acks, (Some(0), 10 * MS));
                }
            }
        }
        flow
    }

    fn at_edge_ms(flow: &Flow) -> i64 {
        flow.edge_ns / MS
    }

    #[test]
    fn the_window_of_the_syn_confirms_the_least_scale() {
        let tiny = followed(&[4_344], |_| 4_344);
        assert_eq!(tiny.inferred_scale(Some(5_000)), Some(0));
        assert_eq!(at_edge_ms(&tiny), 20 * 30);
        let usual = followed(&[502], |_| 44 * SEGMENT);
        assert_eq!(usual.inferred_scale(Some(64_240)), Some(7));
        assert!(at_edge_ms(&usual) >= 18 * 30);
    }

    /// A flight of 11 segments is what a window of 502 allows by a scale of 5, by chance: nothing shows that it is not larger.
    #[test]
    fn the_least_scale_alone_shows_nothing() {
        let flow = followed(&[502], |_| 11 * SEGMENT);
        assert_eq!(flow.least_scale(), Some(5));
        assert_eq!(flow.inferred_scale(None), None);
        assert_eq!(flow.inferred_scale(Some(64_240)), None);
        assert_eq!(flow.inferred_scale(Some(u16::MAX)), None);
    }

    /// While 14,480 bytes came, the window fell by 113 (112 without rounding): by a scale of 8 the receiver would have taken back what it had allowed.
    #[test]
    fn a_window_that_falls_bounds_the_scale() {
        let flow = followed(&[502, 389], |turn| [10, 34][turn % 2] * SEGMENT);
        assert_eq!(flow.inferred_scale(None), Some(7));
    }

    /// More data, once, shows a larger window.
    #[test]
    fn a_larger_flight_takes_back_what_counted() {
        let flow = followed(&[4_344], |turn| if turn == 10 { 6_000 } else { 4_344 });
        assert_eq!(flow.least_scale(), Some(1));
        assert_eq!(at_edge_ms(&flow), 0);
    }

    #[test]
    fn data_beyond_any_window_has_no_scale() {
        assert_eq!(followed(&[1], |_| 44 * SEGMENT).least_scale(), None);
        assert_eq!(followed(&[0], |_| SEGMENT).least_scale(), Some(0));
    }

    proptest! {
        /// A receiver that takes nothing back, and a sender that sends nothing beyond: a scale that is inferred is the one.
        #[test]
        fn the_only_possible_scale_is_the_one(
            scale in 0_u8..=14,
            buffer in 3_000_u64..4_000_000,
            rounds_up: bool,
            turns in proptest::collection::vec((0.0..=1.0, 0.0..=1.0), 1..40),
        ) {
            let mut unscaled = Unscaled::default();
            let (mut next, mut edge, mut unread) = (1_u64 << 32, 0, 0_u64);
            for (sent, read) in turns {
                let free = ((buffer - unread) >> scale).min(u64::from(u16::MAX));
                // Linux rounds up where an edge would move back (`tcp_select_window`), others down.
                let kept = u64::saturating_sub(edge, next);
                let kept = if rounds_up { kept.div_ceil(1 << scale) } else { kept >> scale };
                let window = free.max(kept);
                prop_assume!(window <= u64::from(u16::MAX));
                edge = edge.max(next + (window << scale));
                unscaled.hear(next, window as u16, 0);
                unscaled.raise(next);
                let bytes = ((edge - next) as f64 * sent) as u64;
                next += bytes;
                unscaled.raise(next);
                unread = (unread + bytes).min(buffer);
                unread -= (unread as f64 * read) as u64;
            }
            prop_assert!(unscaled.least <= scale && scale <= unscaled.most, "{unscaled:?}");
        }
    }
}
