//! The frames of a hop in the order in which they left, around its losses.
//!
//! A bucket or a queue drops a frame because of those that passed shortly before; a box that cannot carry a frame drops
//! the frame for its length alone. Only the order of frames shows which of the two it was, and only if none is left out.

use std::collections::VecDeque;

use super::join::HOLD_NS;
use super::outcome::{Judged, Outcome};
use crate::facts::hop::Left;

/// Frames that are kept before anything seems to be lost.
const BEFORE: usize = 1 << 9;
/// And frames in all: the losses of a few seconds tell as much as those of hours.
const ALL: usize = 1 << 11;
/// Losses that are enough: where there are fewer, later frames may show more.
const ENOUGH: usize = 20;
/// What is lost is known later than what arrives: when the join has waited for so long, and a second for the rest.
const LATER_NS: i64 = HOLD_NS + 1_000_000_000;

/// One direction of a hop, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct InTurn {
    window: Window,
    /// Of those before it, the one with most losses.
    before: Window,
}

/// Frames one after the other, none left out.
#[derive(Debug, Default)]
struct Window {
    /// With their turns at the point: numbers of frames begin anew with each file.
    frames: VecDeque<(u64, Left)>,
    /// The turns from and up to which none is left out.
    first: u64,
    last: u64,
    lost: usize,
    /// A frame did not come though one behind it did: those before are kept from here on.
    has_hole: bool,
    /// When the last one left, once the window is full.
    full_ns: Option<i64>,
}

impl Window {
    /// Takes a frame that has just been judged, if it belongs to these. Those that were lost are judged later.
    fn take(&mut self, number: u64, left: Left) {
        let is_open = self.full_ns.is_none() || number <= self.last;
        if number < self.first || !is_open {
            return;
        }
        self.last = self.last.max(number);
        self.lost += usize::from(left.lost);
        self.frames.push_back((number, left));
        if self.full_ns.is_none() {
            self.make_room(left.ns);
        }
    }

    fn make_room(&mut self, now_ns: i64) {
        if self.frames.len() == ALL {
            self.full_ns = Some(now_ns);
        } else if self.frames.len() > BEFORE
            && !self.has_hole
            && let Some((number, _)) = self.frames.pop_front()
        {
            self.first = self.first.max(number + 1);
        }
    }

    /// Whether it is known what became of all its frames.
    fn is_known(&self, now_ns: i64) -> bool {
        self.full_ns
            .is_some_and(|full_ns| now_ns > full_ns + LATER_NS)
    }
}

impl InTurn {
    /// Takes a frame; `merged` says whether it carried several segments.
    pub(super) fn add(&mut self, judged: &Judged, merged: bool) {
        let lost = match judged.outcome {
            Outcome::NotJudged => return,
            Outcome::Lost => true,
            _ => false,
        };
        if self.window.lost < ENOUGH && self.window.is_known(judged.own_ns) {
            self.begin_anew();
        }
        self.window.has_hole |= lost || judged.behind_hole;
        let left = Left {
            ns: judged.own_ns,
            connection: judged.connection,
            bytes: judged.len,
            ahead: judged.ahead,
            merged,
            lost,
        };
        self.window.take(judged.turn, left);
    }

    fn begin_anew(&mut self) {
        let window = std::mem::take(&mut self.window);
        if window.lost > self.before.lost {
            self.before = window;
        }
    }

    /// All that are kept, if frames were lost, in the order of the capture: clocks may be set.
    pub(super) fn frames(&mut self) -> Vec<Left> {
        self.begin_anew();
        let Window { frames, first, .. } = std::mem::take(&mut self.before);
        let mut frames = Vec::from(frames);
        frames.retain(|(number, _)| *number >= first);
        frames.sort_by_key(|(number, _)| *number);
        frames.into_iter().map(|(_, left)| left).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// What is kept of frames that leave at a rate, of which these are lost, at most so many apart, as the join judges them: what arrives at once, what is
    /// lost when it has waited.
    fn kept(frames: u64, per_second: i64, every: u64, is_lost: impl Fn(u64) -> bool) -> Vec<Left> {
        let mut in_turn = InTurn::default();
        let own_ns = |number: u64| number as i64 * SECOND / per_second;
        let known_ns = |number: u64| own_ns(number) + if is_lost(number) { HOLD_NS } else { 0 };
        let mut order: Vec<u64> = (0..frames).collect();
        order.sort_by_key(|number| (known_ns(*number), *number));
        for number in order {
            let judged = Judged {
                connection: 0,
                len: number as u32,
                ahead: 0,
                // Of rotated files, each with its own numbers.
                number: number % 1_000,
                turn: number,
                lone: false,
                behind_hole: (number.saturating_sub(every)..number).any(&is_lost),
                pause_ns: 0,
                time_ns: own_ns(number),
                own_ns: own_ns(number),
                outcome: if is_lost(number) {
                    Outcome::Lost
                } else {
                    Outcome::Arrived
                },
            };
            in_turn.add(&judged, false);
        }
        in_turn.frames()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// However fast frames leave, and however late a loss is known: those that are kept stand one after the other.
        #[test]
        fn no_frame_is_left_out(per_second in 50_i64..50_000, begin in 0_u64..60_000, every in 3_u64..40) {
            let is_lost = |number: u64| number >= begin && number.is_multiple_of(every);
            let frames = kept(120_000, per_second, every, is_lost);
            prop_assert!(frames.iter().zip(frames.iter().skip(1)).all(|(one, next)| one.bytes + 1 == next.bytes));
            let lost = frames.iter().filter(|frame| frame.lost).count();
            prop_assert!(lost >= ENOUGH && frames.iter().all(|frame| frame.lost == is_lost(frame.bytes.into())));
        }
    }

    #[test]
    fn nothing_is_kept_where_nothing_is_lost() {
        assert!(kept(5_000, 1_000, 9, |_| false).is_empty());
        assert_eq!(kept(100, 1_000, 9, |number| number == 7).len(), 100);
    }
}
