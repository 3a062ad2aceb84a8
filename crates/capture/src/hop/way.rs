//! One direction of a connection at both points of a hop.

use std::collections::VecDeque;
use std::ops::Range;

use super::clock::{Clock, Differences, MOST_DRIFT_PPM, Offsets};
use super::event::{Event, Side, Sighting};
use super::join::Join;
use super::order::WIDE_NS;
use super::outcome::Seen;
use super::shift::Shift;
use super::verdicts::Verdicts;

/// Acknowledgments remembered for the clock, and the share that is sampled: one in so many.
const ACKS: usize = 32;
const ACKS_SAMPLED: u64 = 4;

/// One direction of the pair. Directions are those of the first point's key: 0 is from its lower
/// end.
#[derive(Debug, Default)]
pub(crate) struct Way {
    pub(crate) join: Join,
    pub(crate) result: Verdicts,
    pub(super) shift: Shift,
    /// Both points show data, and nothing which of it is the same.
    pub(super) is_unplaced: bool,
    /// Data frames seen at either point.
    pub(crate) frames: u64,
    /// Some acknowledgments of this direction's data at each point, for the clock: their position, the mark that
    /// distinguishes them from others of that position, and their time.
    pub(super) acks: [VecDeque<(u64, u32, i64)>; 2],
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
            Event::Data(seen) if self.side == side => Some(seen),
            _ => None,
        }
    }
}

impl Way {
    /// Keeps an event until the next round.
    pub(super) fn take(&mut self, side: Side, event: Event) {
        match event {
            Event::Syn { .. } => return,
            Event::Data(_) => self.frames += 1,
            Event::Ack { .. } | Event::Reset { .. } => {}
        }
        self.events.push(Passed { side, event });
    }

    /// Events that wait to be judged, or for their place.
    pub(super) fn waiting(&self) -> usize {
        self.events.len() + self.shift.held()
    }

    /// Forgets what is held: nothing is known of it.
    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.shift.forget();
        let result = &mut self.result;
        self.join.forget(|judged| result.wait(judged));
    }

    /// Payload bytes that each point shows more than once, of those that both have shown, or of all that one shows if the
    /// other has shown none: the point upstream of a loss shows more of them. What comes after the end of the other capture
    /// is left out: a capture that is stopped later shows more repeats, wherever it stands.
    pub(super) fn repeats(&self) -> [u64; 2] {
        let data = [Side::First, Side::Second].map(|side| self.data_of(side));
        let within = shown_by_both(&data);
        let together_ns = together_ns(&data, within.start);
        data.map(|data| {
            let begin_ns = begin_ns(&data, within.start);
            let is_together = |seen: &&Seen| {
                together_ns.is_none_or(|time| seen.own_ns - begin_ns.unwrap_or(seen.own_ns) <= time)
            };
            let shown = data.into_iter().filter(is_together);
            let mut ranges: Vec<_> = shown.map(|seen| seen.start..seen.end()).collect();
            ranges.sort_unstable_by_key(|range| range.start);
            repeated(&ranges, within.clone())
        })
    }

    fn data_of(&self, side: Side) -> Vec<&Seen> {
        let data = self.events.iter().filter_map(|event| event.data_of(side));
        data.collect()
    }

    /// When an acknowledgment passed both points, if the other point has shown it already.
    pub(super) fn ack_at_both(
        &mut self,
        side: Side,
        (position, Sighting { mark, time_ns, .. }): (u64, Sighting),
    ) -> Option<[i64; 2]> {
        if position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 > (1 << 32) / ACKS_SAMPLED {
            return None;
        }
        let (here, there) = (side as usize, 1 - side as usize);
        if self.acks[here].len() == ACKS {
            self.acks[here].pop_front();
        }
        self.acks[here].push_back((position, mark, time_ns));
        let is_same = |(other, its, _): &&(u64, u32, i64)| (*other, *its) == (position, mark);
        let (.., other_ns) = *self.acks[there].iter().find(is_same)?;
        Some(if side == Side::First {
            [time_ns, other_ns]
        } else {
            [other_ns, time_ns]
        })
    }

    /// Passes events to the join, those of data with the first point's time.
    pub(super) fn drain(&mut self, leaves: Side, offsets: Offsets<'_>) {
        for Passed { side, event } in self.events.drain(..) {
            match event {
                Event::Data(mut seen) => {
                    if side == Side::Second {
                        seen.time_ns -= offsets.at_second(seen.own_ns);
                    }
                    if side == leaves {
                        self.join.left(seen);
                    } else {
                        self.join.came(seen);
                    }
                }
                Event::Ack { position, sighting } if side == leaves => {
                    self.join.acknowledged(position, sighting.time_ns);
                }
                Event::Reset { time_ns } => {
                    let ahead = match side {
                        Side::First => 0,
                        Side::Second => offsets.at_second(time_ns),
                    };
                    self.join.reset(side == leaves, time_ns - ahead);
                }
                Event::Ack { .. } | Event::Syn { .. } => {}
            }
        }
    }

    pub(super) fn give_delays(
        &mut self,
        leaves: Side,
        clock: &mut Clock,
        delays: &mut [Differences; 2],
    ) {
        let forth = leaves == Side::First;
        for (left_ns, came_ns) in self.join.delays.drain(..) {
            let (first_ns, second_ns) = if forth {
                (left_ns, came_ns)
            } else {
                (came_ns, left_ns)
            };
            clock.add(first_ns, second_ns - first_ns, forth);
            delays[usize::from(!forth)].push(first_ns, second_ns - first_ns);
        }
    }
}

/// The bytes that both points show, or that one does if the other shows none.
fn shown_by_both(data: &[Vec<&Seen>; 2]) -> Range<u64> {
    let starts = data
        .iter()
        .filter_map(|data| data.iter().map(|seen| seen.start).min());
    let ends = data
        .iter()
        .filter_map(|data| data.iter().map(|seen| seen.end()).max());
    starts.max().unwrap_or(0)..ends.min().unwrap_or(0)
}

/// When a point first showed bytes from this position on, by its own clock.
fn begin_ns(data: &[&Seen], from: u64) -> Option<i64> {
    let first = data.iter().find(|seen| seen.end() > from);
    first.map(|seen| seen.own_ns)
}

/// For how long from there on both points show data; `None` if one shows none.
fn together_ns(data: &[Vec<&Seen>; 2], from: u64) -> Option<i64> {
    let lasts = |data: &Vec<&Seen>| Some(data.last()?.own_ns - begin_ns(data, from)?);
    let [first, second] = [lasts(&data[0])?, lasts(&data[1])?];
    // Clocks differ, and frames do not take equally long.
    let shorter = first.min(second);
    Some(shorter + shorter / 1_000_000 * MOST_DRIFT_PPM + WIDE_NS)
}

/// Bytes that sorted ranges cover more than once, within another range.
fn repeated(ranges: &[Range<u64>], within: Range<u64>) -> u64 {
    let mut seen = within.start;
    let mut again = 0;
    for range in ranges {
        let (start, end) = (range.start.max(within.start), range.end.min(within.end));
        again += end.min(seen).saturating_sub(start);
        seen = seen.max(end);
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without timestamps: one capture missed the first acknowledgment of a position, and shows a duplicate.
    #[test]
    fn a_duplicate_is_no_sight_of_the_first() {
        let mut way = Way::default();
        let sighting = |mark, time_ns| Sighting {
            mark,
            time_ns,
            ttl: 64,
            fragmented: false,
        };
        let sampled = |position: &u64| {
            let mut way = Way::default();
            way.ack_at_both(Side::First, (*position, sighting(7, 5)));
            !way.acks[0].is_empty()
        };
        let position = (1..).find(sampled).unwrap();
        way.ack_at_both(Side::First, (position, sighting(7, 5)));
        assert_eq!(
            way.ack_at_both(Side::Second, (position, sighting(8, 40))),
            None
        );
        assert_eq!(
            way.ack_at_both(Side::Second, (position, sighting(7, 6))),
            Some([5, 6])
        );
    }

    /// A direction whose points show frames of 100 bytes from these positions at these times.
    fn shown(data: [&[(u64, i64)]; 2]) -> Way {
        let mut way = Way::default();
        for (side, frames) in [Side::First, Side::Second].into_iter().zip(data) {
            for (number, (start, own_ns)) in frames.iter().enumerate() {
                let seen = Seen {
                    start: *start,
                    len: 100,
                    time_ns: *own_ns,
                    own_ns: *own_ns,
                    pause_ns: 0,
                    number: number as u64,
                    turn: number as u64,
                    tsval: 0,
                    id: 0,
                    ttl: 64,
                    fragmented: false,
                };
                way.take(side, Event::Data(seen));
            }
        }
        way
    }

    /// Behind a black hole no data comes, and it is sent again and again.
    #[test]
    fn a_point_without_data_is_behind_the_loss() {
        let way = shown([&[(1_000, 1), (1_000, 2), (1_000, 3)], &[]]);
        assert_eq!(way.repeats(), [200, 0]);
    }

    const MS: i64 = 1_000_000;

    #[test]
    fn what_is_lost_in_between_is_shown_again_in_front() {
        let front = [(0, 0), (100, MS), (100, 200 * MS)];
        let behind = [(0, 7 * MS), (100, 207 * MS)];
        assert_eq!(shown([&front, &behind]).repeats(), [100, 0]);
        assert_eq!(shown([&behind, &front]).repeats(), [0, 100]);
    }

    #[test]
    fn repeats_after_the_end_of_the_other_capture_show_nothing() {
        let stopped = [(0, 0), (100, MS)];
        let longer = [(0, 0), (100, MS), (100, 200 * MS)];
        assert_eq!(shown([&longer, &stopped]).repeats(), [0, 0]);
        assert_eq!(shown([&stopped, &longer]).repeats(), [0, 0]);
    }

    #[test]
    fn bytes_are_repeated_where_ranges_overlap() {
        let ranges = [0..10, 5..10, 10..20, 20..30, 28..29];
        assert_eq!(repeated(&ranges, 0..30), 6);
        assert_eq!(repeated(&ranges, 8..20), 2);
        assert_eq!(repeated(&ranges, 40..50), 0);
    }
}
