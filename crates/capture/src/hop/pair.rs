//! One connection at both points of a hop.

use super::Event;
use super::clock::{Clock, Differences};
use super::link::{Mark, MatchedBy};
use super::outcome::{Horizon, Judged};
use super::strip::Slots;
use super::way::{Passed, Way};
use crate::point::Point;

/// First or second point of the hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

impl Side {
    pub(crate) fn new(index: usize) -> Self {
        if index == 0 {
            Self::First
        } else {
            Self::Second
        }
    }
}

/// Events kept while it is not known which point comes first; then a guess decides.
const MAX_UNDECIDED: usize = 16 * 1024;
/// Differences below this are the clocks' and the captures' own noise.
const TOO_CLOSE_NS: i64 = 2_000;

/// A connection found at both points.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) ids: [u32; 2],
    pub(crate) by: MatchedBy,
    /// The second point's lower end is the first point's higher one (after NAT).
    flipped: bool,
    pub(crate) ways: [Way; 2],
    /// The direction that passes the first point first.
    pub(crate) forth: Option<usize>,
}

impl Pair {
    pub(crate) fn new(by: MatchedBy, marks: &[Mark; 2]) -> Self {
        let [first, second] = marks;
        let shift = second.position.wrapping_sub(first.position) as i64;
        let rewritten = by == MatchedBy::Payload && shift.rem_euclid(1 << 32) != 0;
        let way = |index: usize| {
            let same = (index == 0) == first.from_low && by != MatchedBy::Handshake;
            let shift = if same {
                Some(shift)
            } else {
                (!rewritten).then_some(0)
            };
            Way {
                shift,
                ..Way::default()
            }
        };
        Self {
            ids: [first.connection, second.connection],
            by,
            flipped: first.from_low != second.from_low,
            ways: [way(0), way(1)],
            forth: None,
        }
    }

    /// Keeps what becomes of each frame until it is asked for.
    pub(crate) fn keep_told(&mut self) {
        for way in &mut self.ways {
            way.result.told = Some(Vec::new());
        }
    }

    /// Gives what became of frames since it was asked last, with the side that they left and the
    /// connection there.
    pub(crate) fn tell(&mut self, mut hear: impl FnMut(usize, u32, Judged)) {
        let Some(forth) = self.forth else { return };
        for (index, way) in self.ways.iter_mut().enumerate() {
            let side = usize::from(index != forth);
            for judged in way.result.told.iter_mut().flat_map(|told| told.drain(..)) {
                hear(side, self.ids[side], judged);
            }
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.ways
            .iter()
            .map(|way| way.join.held() + way.events.len())
            .sum()
    }

    /// Learns from two sightings of one frame.
    pub(crate) fn sample(&mut self, marks: &[Mark; 2], clock: &mut Clock) {
        let way = usize::from(!marks[0].from_low);
        self.sample_way(way, marks[0].time_ns, marks[1].time_ns, clock);
    }

    fn sample_way(&mut self, way: usize, first_ns: i64, second_ns: i64, clock: &mut Clock) {
        let difference = second_ns - first_ns;
        let least = &mut self.ways[way].difference_ns;
        *least = Some(least.map_or(difference, |least| least.min(difference)));
        let decided_before = self.forth.is_some();
        self.decide(false, None);
        match self.forth {
            Some(forth) if decided_before => clock.add(first_ns, difference, forth == way),
            Some(forth) => self.sample_both(first_ns, forth, clock),
            None => {}
        }
    }

    fn sample_both(&self, first_ns: i64, forth: usize, clock: &mut Clock) {
        for (index, way) in self.ways.iter().enumerate() {
            if let Some(difference) = way.difference_ns {
                clock.add(first_ns, difference, index == forth);
            }
        }
    }

    /// Of the two directions, the one whose frames take longer from the first point to the second
    /// by the two clocks is the one that goes that way: the other's difference is the offset less
    /// its delay. Two points a bridge apart can be too close for that: then frames that only one
    /// point has tell which is upstream.
    fn decide(&mut self, at_any_rate: bool, likely: Option<usize>) {
        if self.forth.is_some() {
            return;
        }
        let [low, high] = [self.ways[0].difference_ns, self.ways[1].difference_ns];
        let apart = low.zip(high).map(|(low, high)| high - low);
        self.forth = match apart {
            Some(apart) if apart.abs() > TOO_CLOSE_NS => Some(usize::from(apart > 0)),
            _ if at_any_rate => Some(self.guess(apart.unwrap_or(0), likely)),
            _ => None,
        };
    }

    /// What the order of the points must be when clocks hardly tell.
    fn guess(&self, apart_ns: i64, likely: Option<usize>) -> usize {
        let [low, high] = self.ways.each_ref().map(Way::surplus);
        if low != high {
            return usize::from(high > low);
        }
        if apart_ns != 0 {
            return usize::from(apart_ns > 0);
        }
        likely.unwrap_or_else(|| usize::from(self.ways[1].frames > self.ways[0].frames))
    }

    /// Takes an event of one side, in that side's own terms.
    pub(crate) fn event(&mut self, side: Side, event: Event, clock: &mut Clock) {
        let flipped = side == Side::Second && self.flipped;
        match event {
            Event::Data { from_low, mut seen } => {
                let way = &mut self.ways[usize::from(from_low == flipped)];
                way.frames += 1;
                if let Some(start) = way.to_first(side, seen.start) {
                    seen.start = start;
                    way.events.push(Passed {
                        side,
                        event: Event::Data { from_low, seen },
                    });
                }
            }
            Event::Ack {
                from_low,
                position,
                time_ns,
            } => {
                // What is acknowledged is data of the other direction.
                let index = usize::from(from_low != flipped);
                let way = &mut self.ways[index];
                let Some(position) = way.to_first(side, position) else {
                    return;
                };
                let event = Event::Ack {
                    from_low,
                    position,
                    time_ns,
                };
                way.events.push(Passed { side, event });
                if let Some([first_ns, second_ns]) = way.ack_at_both(side, position, time_ns) {
                    self.sample_way(1 - index, first_ns, second_ns, clock);
                }
            }
        }
    }

    /// Judges what can be judged by now. `horizons` are for frames that leave the first and the
    /// second point.
    pub(crate) fn advance(
        &mut self,
        horizons: &[Horizon; 2],
        offset_ns: i64,
        points: [&Point; 2],
        client_first: Option<bool>,
        (clock, delays, strips): (&mut Clock, &mut Differences, &mut [Slots; 2]),
    ) {
        let waiting: usize = self.ways.iter().map(|way| way.events.len()).sum();
        let likely = self.likely(client_first, points[0]);
        self.decide(horizons[0].at_end || waiting >= MAX_UNDECIDED, likely);
        let Some(forth) = self.forth else { return };
        for index in [0, 1] {
            let leaves = if index == forth {
                Side::First
            } else {
                Side::Second
            };
            let horizon = &horizons[leaves as usize];
            let multi = self.sorter(index, leaves, points);
            let way = &mut self.ways[index];
            way.drain(leaves, offset_ns);
            let (result, strip) = (&mut way.result, &mut strips[leaves as usize]);
            way.join
                .advance(horizon, |judged| result.add(judged, &multi, strip));
            way.give_delays(leaves, clock, delays);
        }
    }

    /// The direction that goes forth if clients are on the given side.
    fn likely(&self, client_first: Option<bool>, first: &Point) -> Option<usize> {
        let connection = first.table.get(self.ids[0])?;
        client_first.map(|client_first| usize::from(client_first != connection.client_is_low))
    }

    /// Whether the client is on the first point's side, where that is known.
    pub(crate) fn client_first(&self, first: &Point) -> Option<bool> {
        let connection = first.table.get(self.ids[0])?;
        Some((self.forth? == 0) == connection.client_is_low)
    }

    /// Tells frames of several segments from single ones, as the point they leave sees them;
    /// `None` while that is not settled.
    fn sorter<'a>(
        &self,
        way: usize,
        leaves: Side,
        points: [&'a Point; 2],
    ) -> impl Fn(u32) -> Option<bool> + use<'a> {
        let flipped = leaves == Side::Second && self.flipped;
        let flow = if flipped { 1 - way } else { way };
        let connection = points[leaves as usize].table.get(self.ids[leaves as usize]);
        let tally = connection.map(|connection| &connection.flows[flow].tally);
        move |len| {
            tally
                .filter(|tally| tally.segment.is_settled())
                .map(|tally| tally.is_multi(len))
        }
    }

    /// The flow of a direction at one of the points.
    pub(crate) fn flow_at(&self, way: usize, side: usize) -> usize {
        if side == 1 && self.flipped {
            1 - way
        } else {
            way
        }
    }

    /// Forgets what is held, when memory is short.
    pub(crate) fn forget(&mut self) {
        for way in &mut self.ways {
            way.events.clear();
            let result = &mut way.result;
            way.join.forget(|judged| result.wait(judged));
        }
    }
}
