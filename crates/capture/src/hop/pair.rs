//! One connection at both points of a hop.

use super::clock::{Clock, Differences, Offsets};
use super::event::{Event, Passing, Side, Sighting};
use super::join::Join;
use super::link::{Mark, MatchedBy};
use super::order::{self, Order, settled, standing};
use super::outcome::{Horizon, Judged};
use super::over_time::OverTime;
use super::shift::Shift;
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
        let [mut marked, mut other] = shifts(by, marks).map(Some);
        let mut way = |index: usize| {
            let is_marked = (index == 0) == first.from_low;
            Way {
                join: Join::new(first.connection),
                shift: if is_marked {
                    marked.take()
                } else {
                    other.take()
                }
                .unwrap_or_default(),
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
            .map(|way| way.join.held() + way.waiting())
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
        let way = sent_by(from, &passing.event);
        for waited in self.ways[way].shift.learn(side, &passing.event) {
            self.take(way, Side::Second, waited, resolution_ns, clock);
        }
        if let Some(event) = self.ways[way].shift.place(side, passing.event) {
            self.take(way, side, event, resolution_ns, clock);
        }
    }

    /// Takes an event of a direction's data, by the first point's numbers.
    fn take(
        &mut self,
        way: usize,
        side: Side,
        event: Event,
        resolution_ns: i64,
        clock: &mut Clock,
    ) {
        if let Some(order) = &mut self.order {
            order.see(sent_by(way, &event), side, &event, resolution_ns);
            let forth = settled(order.weight());
            self.settle(forth, clock);
        } else if let Event::Ack { position, sighting } = event {
            self.sample(side, way, (position, sighting), clock);
        }
        self.ways[way].take(side, event);
    }

    /// Waits no longer to learn how far apart positions are.
    pub(super) fn place_all(&mut self, resolution_ns: i64, clock: &mut Clock) {
        for way in [0, 1] {
            let (waited, is_told) = self.ways[way].shift.give_up();
            self.ways[way].is_unplaced |= !is_told;
            for event in waited {
                self.take(way, Side::Second, event, resolution_ns, clock);
            }
        }
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
        let waiting: usize = self.ways.iter().map(Way::waiting).sum();
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
            if way.shift.is_open() {
                continue;
            }
            if way.is_unplaced {
                way.forget();
                continue;
            }
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
        self.ways.iter_mut().for_each(Way::forget);
    }
}

/// The direction of which an event tells, for the one in which its frame goes, and the other way round: what is acknowledged, or not
/// wanted, is data of the other direction.
fn sent_by(way: usize, event: &Event) -> usize {
    match event {
        Event::Ack { .. } | Event::Reset { .. } => 1 - way,
        Event::Data(_) | Event::Syn { .. } => way,
    }
}

/// How far apart positions are, in the direction of the marks and in the other one.
fn shifts(by: MatchedBy, [first, second]: &[Mark; 2]) -> [Shift; 2] {
    let apart = second.position.wrapping_sub(first.position) as i64;
    let is_rewritten = apart.rem_euclid(1 << 32) != 0;
    // Where one direction is not rewritten, the other one seldom is: by SYN proxies.
    let other = Shift::open((!is_rewritten).then_some(0));
    match by {
        MatchedBy::Handshake => [Shift::Known(0), Shift::open(Some(0))],
        MatchedBy::Syn => [Shift::open(None), Shift::open(None)],
        MatchedBy::Numbers => [Shift::Known(apart), Shift::Known(0)],
        MatchedBy::Bytes | MatchedBy::Payload => [Shift::Known(apart), other],
    }
}
