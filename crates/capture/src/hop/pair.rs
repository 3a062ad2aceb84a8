//! One connection at both points of a hop.

use super::clock::{Clock, Differences, Offsets};
use super::event::{Event, Passing, Side, Sighting};
use super::join::Join;
use super::link::{Mark, MatchedBy};
use super::order::{self, Order, settled, standing};
use super::outcome::{Horizon, Judged};
use super::over_time::OverTime;
use super::way::Way;
use crate::connection::Connection;
use crate::point::Point;

/// Events kept while it is not known which point comes first; then what evidence there is decides.
const MAX_UNDECIDED: usize = 16 * 1024;

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
    /// Evidence of which direction goes forth; `None` once that is settled.
    order: Option<Box<Order>>,
    /// The evidence of this pair was added to the hop's `Sides`.
    pub(super) is_counted: bool,
    /// The hop's next round is to look at it.
    pub(super) is_active: bool,
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
                join: Join::new(first.connection),
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
            order: Some(Box::default()),
            is_counted: false,
            is_active: false,
        }
    }

    /// Keeps what becomes of each frame until it is asked for.
    pub(crate) fn keep_judged(&mut self) {
        for way in &mut self.ways {
            way.result.kept = Some(Vec::new());
        }
    }

    /// Passes on what became of frames since the last call, with the side that they left and the connection there.
    pub(crate) fn drain_judged(&mut self, mut take: impl FnMut(usize, u32, Judged)) {
        let Some(forth) = self.forth else { return };
        for (index, way) in self.ways.iter_mut().enumerate() {
            let side = usize::from(index != forth);
            for judged in way.result.kept.iter_mut().flat_map(|kept| kept.drain(..)) {
                take(side, self.ids[side], judged);
            }
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.ways
            .iter()
            .map(|way| way.join.held() + way.events.len())
            .sum()
    }

    /// Takes an event of one side, in that side's own terms. Times closer together than
    /// `resolution_ns` tell nothing.
    pub(crate) fn event(
        &mut self,
        side: Side,
        passing: Passing,
        resolution_ns: i64,
        clock: &mut Clock,
    ) {
        let flipped = side == Side::Second && self.flipped;
        let from = usize::from(passing.from_low == flipped);
        // What is acknowledged, or not wanted, is data of the other direction.
        let way = match passing.event {
            Event::Ack { .. } | Event::Reset { .. } => 1 - from,
            Event::Data(_) | Event::Syn { .. } => from,
        };
        let Some(event) = self.ways[way].in_first_terms(side, passing.event) else {
            return;
        };
        if let Some(order) = &mut self.order {
            order.see(from, side, &event, resolution_ns);
            let forth = settled(order.weight());
            self.settle(forth, clock);
        } else if let Event::Ack { position, sighting } = event {
            self.sample(side, way, (position, sighting), clock);
        }
        self.ways[way].take(side, event);
    }

    /// Adds an acknowledgment to the clock, once it was seen at both points.
    fn sample(&mut self, side: Side, way: usize, ack: (u64, Sighting), clock: &mut Clock) {
        let both = self.ways[way].ack_at_both(side, ack);
        if let Some(([first_ns, second_ns], forth)) = both.zip(self.forth) {
            clock.add(first_ns, second_ns - first_ns, forth != way);
        }
    }

    /// Settles which direction goes forth.
    fn settle(&mut self, forth: Option<usize>, clock: &mut Clock) {
        if let Some((forth, order)) = forth.zip(self.order.as_ref()) {
            order.teach(forth, clock);
            self.forth = Some(forth);
            self.order = None;
        }
    }

    /// Weight of all evidence that direction 0 goes forth.
    pub(super) fn weight(&self, points: [&Point; 2]) -> i32 {
        let Some(order) = &self.order else {
            return order::settled_weight(self.forth);
        };
        let connections = self.connections(points);
        let standing = connections.map_or(0, |both| standing(both, self.flipped));
        let repeats = self.ways.iter().map(Way::repeats).enumerate();
        let repeats: i32 = repeats.map(|(way, shown)| order::repeats(way, shown)).sum();
        order.weight() + standing + repeats
    }

    /// Settles without proof which direction goes forth: by the weight of all connections; at weight 0 the direction
    /// with more data frames passes the first point first.
    pub(super) fn settle_without_proof(&mut self, weight: i32, clock: &mut Clock) {
        let forth = match weight {
            0 => usize::from(self.ways[1].frames > self.ways[0].frames),
            _ => usize::from(weight < 0),
        };
        self.settle(Some(forth), clock);
    }

    /// Whether it is known which direction goes forth.
    pub(super) fn is_settled(&self) -> bool {
        self.forth.is_some()
    }

    /// Whether so many events wait for this decision that memory gets short.
    pub(super) fn is_overdue(&self) -> bool {
        let waiting: usize = self.ways.iter().map(|way| way.events.len()).sum();
        waiting >= MAX_UNDECIDED
    }

    fn connections<'a>(&self, points: [&'a Point; 2]) -> Option<[&'a Connection; 2]> {
        let [first, second] = [0, 1].map(|side| points[side].table.get(self.ids[side]));
        Some([first?, second?])
    }

    /// Judges what can be judged by now. `horizons` are for frames that leave the first and the
    /// second point.
    pub(crate) fn advance(
        &mut self,
        horizons: &[Horizon; 2],
        rough_ns: i64,
        points: [&Point; 2],
        (clock, delays, over_time): (&mut Clock, &mut [Differences; 2], &mut [OverTime; 2]),
    ) {
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
            way.drain(leaves, Offsets::new(clock, rough_ns));
            let (result, over_time) = (&mut way.result, &mut over_time[leaves as usize]);
            way.join
                .advance(horizon, |judged| result.add(judged, &multi, over_time));
            way.give_delays(leaves, clock, delays);
        }
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
