//! From one point to the next: the same connections, clocks, and what became of each frame.

mod clock;
mod join;
mod link;
mod outcome;
mod pair;
mod report;
mod strip;
mod verdicts;
mod way;

use std::collections::VecDeque;

use crate::connection::Tracked;
use crate::flow::Data;
use crate::frame::{Frame, Odd};
use crate::point::Point;
use clock::{Clock, Differences};
use link::{Linker, Mark, MatchedBy};
use outcome::{Horizon, Seen};
pub(crate) use outcome::{Judged, Outcome};
use pair::{Pair, Side};
use strip::Slots;
pub use strip::{Slot, Strip};

/// Frames held for one hop, at most about 32 MiB. Beyond that what is held goes without a verdict.
const MAX_HELD: usize = 192 * 1024;
/// Frames of one side that wait for their connection to appear on the other; beyond that the
/// other side is read first.
const MAX_AHEAD: usize = 64 * 1024;
/// New frames between two rounds of judging.
const ROUND: usize = 2048;

/// What one point knows of a connection that may be on the hop.
#[derive(Debug, Default)]
struct Half {
    /// The pair it belongs to, once found.
    pair: Option<u32>,
    /// Data frames so far in each direction, for choosing which leave tokens.
    nth: [u64; 2],
    /// Events until the pair is found.
    early: VecDeque<Event>,
}

/// Something seen at a point, kept until the other end of the pair is known.
#[derive(Clone, Copy, Debug)]
enum Event {
    Data {
        from_low: bool,
        seen: Seen,
    },
    Ack {
        from_low: bool,
        position: u64,
        time_ns: i64,
    },
}

/// A hop between two points, in both directions.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    linker: Linker,
    halves: [Vec<Half>; 2],
    pairs: Vec<Pair>,
    clock: Clock,
    /// Second point's time less first's, of frames that went that way.
    delays: Differences,
    /// What became of frames over time, by the side that they left.
    strips: [Slots; 2],
    /// Events of each side that wait for a pair.
    early: [usize; 2],
    /// Whether clients are on the first point's side on the other hops of the path.
    neighbours: Option<bool>,
    held: usize,
    since_round: usize,
    /// Somebody asks what became of each frame.
    keeps_told: bool,
    /// First and last time read at each point, by its own clock.
    read_ns: [Option<(i64, i64)>; 2],
}

impl Hop {
    /// A hop; if it `keeps_told`, it can tell what became of each frame.
    pub(crate) fn new(keeps_told: bool) -> Self {
        Self {
            keeps_told,
            ..Self::default()
        }
    }

    /// Gives what became of frames since it was asked last, with the side that they left and the
    /// connection there.
    pub(crate) fn tell(&mut self, mut hear: impl FnMut(usize, u32, Judged)) {
        for pair in &mut self.pairs {
            pair.tell(&mut hear);
        }
    }

    /// Takes what a point saw; `side` is 0 for the first point of the hop.
    pub(crate) fn observe(
        &mut self,
        side: usize,
        id: u32,
        frame: &Frame,
        tracked: &Tracked,
        points: [&Point; 2],
    ) {
        if tracked.data == Data::Doubled {
            return;
        }
        self.half(side, id);
        if self.halves[side][id as usize].pair.is_none() {
            self.look_for_pair(side, id, frame, tracked);
        }
        if matches!(tracked.data, Data::New | Data::OutOfOrder | Data::Repeat) {
            self.count_data(side, id, frame);
            let seen = seen(frame, tracked);
            self.event(
                side,
                id,
                Event::Data {
                    from_low: frame.from_low,
                    seen,
                },
            );
        }
        if let Some(position) = tracked.acked {
            let (from_low, time_ns) = (frame.from_low, frame.time_ns);
            self.event(
                side,
                id,
                Event::Ack {
                    from_low,
                    position,
                    time_ns,
                },
            );
        }
        if self.since_round >= ROUND {
            self.round(points, false);
        }
    }

    /// Notes how far a point was read.
    pub(crate) fn read(&mut self, side: usize, time_ns: i64) {
        self.read_ns[side] = Some(match self.read_ns[side] {
            None => (time_ns, time_ns),
            Some((first, last)) => (first.min(time_ns), last.max(time_ns)),
        });
    }

    /// The second point's clock less the first's, as far as known.
    pub(crate) fn offset_ns(&self) -> Option<i64> {
        self.clock.now_ns()
    }

    /// Whether clients are on the first point's side, by the connections for which clocks tell.
    pub(crate) fn client_first(&self, first: &Point) -> Option<bool> {
        self.pairs.iter().find_map(|pair| pair.client_first(first))
    }

    /// Takes what the other hops of the path say of that.
    pub(crate) fn set_neighbours(&mut self, client_first: Option<bool>) {
        self.neighbours = client_first;
    }

    /// Whether reading more of this side should wait until the other has caught up.
    pub(crate) fn is_ahead(&self, side: usize) -> bool {
        self.early[side] >= MAX_AHEAD
    }

    fn half(&mut self, side: usize, id: u32) -> &mut Half {
        let halves = &mut self.halves[side];
        if halves.len() <= id as usize {
            halves.resize_with(id as usize + 1, Half::default);
        }
        &mut halves[id as usize]
    }

    fn count_data(&mut self, side: usize, id: u32, frame: &Frame) {
        self.half(side, id).nth[usize::from(!frame.from_low)] += 1;
        self.since_round += 1;
    }

    fn look_for_pair(&mut self, side: usize, id: u32, frame: &Frame, tracked: &Tracked) {
        let nth = self.halves[side][id as usize].nth[usize::from(!frame.from_low)];
        let found = self.linker.offer(side, id, frame, tracked.start, nth);
        let Some((by, other)) = found else { return };
        if self.half(1 - side, other.connection).pair.is_none() {
            let here = Mark::new(id, frame, tracked.start);
            let marks = if side == 0 {
                [here, other]
            } else {
                [other, here]
            };
            self.link(by, marks);
        }
    }

    fn link(&mut self, by: MatchedBy, marks: [Mark; 2]) {
        let number = self.pairs.len() as u32;
        let mut pair = Pair::new(by, &marks);
        if self.keeps_told {
            pair.keep_told();
        }
        pair.sample(&marks, &mut self.clock);
        self.pairs.push(pair);
        for (side, mark) in marks.into_iter().enumerate() {
            let half = self.half(side, mark.connection);
            half.pair = Some(number);
            let early = std::mem::take(&mut half.early);
            self.early[side] -= early.len();
            for event in early {
                self.event(side, mark.connection, event);
            }
        }
    }

    fn event(&mut self, side: usize, id: u32, event: Event) {
        let half = &mut self.halves[side][id as usize];
        match half.pair {
            Some(pair) => self.pairs[pair as usize].event(Side::new(side), event, &mut self.clock),
            None => {
                half.early.push_back(event);
                self.early[side] += 1;
            }
        }
    }

    /// Judges what can be judged by now.
    pub(crate) fn round(&mut self, points: [&Point; 2], at_end: bool) {
        self.since_round = 0;
        let Some(horizon) = self.horizon(at_end) else {
            return;
        };
        let offset_ns = self.clock.now_ns().unwrap_or(0);
        let likely = self.client_first(points[0]).or(self.neighbours);
        for pair in &mut self.pairs {
            pair.advance(
                &horizon,
                offset_ns,
                points,
                likely,
                (&mut self.clock, &mut self.delays, &mut self.strips),
            );
        }
        self.relieve();
    }

    /// When memory is short: what no pair was found for goes first, then the rest.
    fn relieve(&mut self) {
        self.held = self.pairs.iter().map(Pair::held).sum();
        if self.held + self.early[0] + self.early[1] >= MAX_HELD {
            self.halves
                .iter_mut()
                .flatten()
                .for_each(|half| half.early = VecDeque::new());
            self.early = [0; 2];
        }
        if self.held >= MAX_HELD {
            self.pairs.iter_mut().for_each(Pair::forget);
        }
    }

    /// How far both points were read, by the first one's clock.
    fn horizon(&self, at_end: bool) -> Option<[Horizon; 2]> {
        let offset_ns = self.clock.now_ns().unwrap_or(0);
        let (first, second) = (self.read_ns[0]?, self.read_ns[1]?);
        let second = (second.0 - offset_ns, second.1 - offset_ns);
        let horizon = |upstream: (i64, i64), downstream: (i64, i64)| Horizon {
            upstream_ns: upstream.1,
            downstream_ns: downstream.1,
            downstream_began_ns: downstream.0,
            at_end,
        };
        Some([horizon(first, second), horizon(second, first)])
    }
}

fn seen(frame: &Frame, tracked: &Tracked) -> Seen {
    Seen {
        start: tracked.start,
        len: frame.payload,
        time_ns: frame.time_ns,
        own_ns: frame.time_ns,
        number: frame.number,
        tsval: frame.timestamps().map_or(0, |(tsval, _)| tsval),
        fragmented: frame.is(Odd::FRAGMENTED),
    }
}
