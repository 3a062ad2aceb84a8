//! One direction of a connection at both points of a hop.

use std::collections::VecDeque;

use super::Event;
use super::clock::{Clock, Differences};
use super::join::Join;
use super::outcome::Seen;
use super::pair::Side;
use super::verdicts::Verdicts;

/// Acknowledgments remembered for the clock, and one in how many.
const ACKS: usize = 32;
const ACKS_SAMPLED: u64 = 4;

/// One direction of the pair. Directions are those of the first point's key: 0 is from its lower
/// end.
#[derive(Debug, Default)]
pub(crate) struct Way {
    pub(crate) join: Join,
    pub(crate) result: Verdicts,
    /// Second point's positions less the first's: not 0 where a firewall rewrites numbers, or one
    /// capture began after the numbers had wrapped.
    pub(super) shift: Option<i64>,
    /// Smallest difference of the times at which the same frame passed, second less first.
    pub(super) difference_ns: Option<i64>,
    /// Data frames seen at either point.
    pub(crate) frames: u64,
    /// Some acknowledgments of this direction's data at each point, for the clock.
    pub(super) acks: [VecDeque<(u64, i64)>; 2],
    /// Events since the last round, in each point's own time.
    pub(super) events: Vec<Passed>,
}

/// An event and the side that saw it.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) side: Side,
    pub(super) event: Event,
}

impl Passed {
    fn data_of(&self, side: Side) -> Option<&Seen> {
        match &self.event {
            Event::Data { seen, .. } if self.side == side => Some(seen),
            _ => None,
        }
    }
}

impl Way {
    /// A position by the first point's numbers.
    pub(super) fn to_first(&self, side: Side, position: u64) -> Option<u64> {
        match side {
            Side::First => Some(position),
            Side::Second => Some(position.wrapping_add_signed(-self.shift?)),
        }
    }

    /// Payload bytes that the first point shows more than the second, as far as both were read: it
    /// is upstream of where they were lost.
    pub(super) fn surplus(&self) -> i64 {
        let of = |side| {
            self.events
                .iter()
                .filter_map(move |event| event.data_of(side))
        };
        let last = |side| of(side).map(|seen| seen.own_ns).max();
        let (Some(first), Some(second)) = (last(Side::First), last(Side::Second)) else {
            return 0;
        };
        let offset_ns = self.difference_ns.unwrap_or(0);
        let until_ns = first.min(second - offset_ns);
        let bytes = |side, until: i64| -> i64 {
            of(side)
                .filter(|seen| seen.own_ns <= until)
                .map(|seen| i64::from(seen.len))
                .sum()
        };
        bytes(Side::First, until_ns) - bytes(Side::Second, until_ns + offset_ns)
    }

    /// When an acknowledgment passed both points, if the other point has shown it already.
    pub(super) fn ack_at_both(
        &mut self,
        side: Side,
        position: u64,
        time_ns: i64,
    ) -> Option<[i64; 2]> {
        if position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 > (1 << 32) / ACKS_SAMPLED {
            return None;
        }
        let (here, there) = (side as usize, 1 - side as usize);
        if self.acks[here].len() == ACKS {
            self.acks[here].pop_front();
        }
        self.acks[here].push_back((position, time_ns));
        let (_, other_ns) = *self.acks[there]
            .iter()
            .find(|(other, _)| *other == position)?;
        Some(if side == Side::First {
            [time_ns, other_ns]
        } else {
            [other_ns, time_ns]
        })
    }

    /// Hands events to the join, in the first point's time.
    pub(super) fn drain(&mut self, leaves: Side, offset_ns: i64) {
        for Passed { side, event } in self.events.drain(..) {
            let shift_ns = if side == Side::Second { offset_ns } else { 0 };
            match event {
                Event::Data { mut seen, .. } => {
                    seen.time_ns -= shift_ns;
                    if side == leaves {
                        self.join.left(seen);
                    } else {
                        self.join.came(seen);
                    }
                }
                Event::Ack {
                    position, time_ns, ..
                } if side == leaves => {
                    self.join.acknowledged(position, time_ns - shift_ns);
                }
                Event::Ack { .. } => {}
            }
        }
    }

    pub(super) fn give_delays(
        &mut self,
        leaves: Side,
        clock: &mut Clock,
        delays: &mut Differences,
    ) {
        let forth = leaves == Side::First;
        for (left_ns, came_ns) in self.join.delays.drain(..) {
            let (first_ns, second_ns) = if forth {
                (left_ns, came_ns)
            } else {
                (came_ns, left_ns)
            };
            clock.add(first_ns, second_ns - first_ns, forth);
            if forth {
                delays.push(first_ns, second_ns - first_ns);
            }
        }
    }
}
