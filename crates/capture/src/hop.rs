//! From one point to the next: the same connections, clocks, and what became of each frame.

mod clock;
mod event;
mod found;
mod half;
mod in_turn;
mod join;
mod link;
mod order;
mod outcome;
mod over_time;
mod pair;
mod reading;
mod report;
mod same_ends;
mod same_frames;
mod settled;
mod shift;
mod sides;
mod sighted;
mod strip;
mod verdicts;
mod waiting;
mod way;

use coalescope_wire::Flags;

use crate::connection::Tracked;
use crate::flow::Data;
use crate::frame::Frame;
use crate::point::Point;
use clock::{Clock, Differences, Offsets};
use event::{Event, Passing, Side, Sighting};
use half::Half;
pub(crate) use link::{FIRST_FRAMES, is_sampled, is_telling};
use link::{Linker, Mark, MatchedBy};
use outcome::{Horizon, Seen};
pub(crate) use outcome::{Judged, Outcome};
use over_time::OverTime;
use pair::Pair;
use reading::Reading;
use sides::Sides;

/// Frames held for one hop, at most about 32 MiB. Beyond that the frames held get no verdict.
const MAX_HELD: usize = 192 * 1024;
/// Frames of one side that wait for their connection to appear on the other; beyond that the
/// other side is read first.
const MAX_AHEAD: usize = 64 * 1024;
/// New frames between two rounds of judging.
const ROUND: usize = 2048;

/// A hop between two points, in both directions.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    linker: Linker,
    halves: [Vec<Half>; 2],
    pairs: Vec<Pair>,
    /// Pairs that something is known of since the last round, or that still hold frames: of very many connections few.
    active: Vec<u32>,
    clock: Clock,
    /// The clocks' offset, as the first frame found at both points shows it.
    rough_ns: Option<i64>,
    /// Second point's time less first's: of frames that go forth, and of those that come back.
    delays: [Differences; 2],
    /// What became of frames over time, by the side that they left.
    over_time: [OverTime; 2],
    /// Events of each side that wait for a pair.
    early: [usize; 2],
    /// Which side clients are on, as far as connections have shown it.
    sides: Sides,
    held: usize,
    since_round: usize,
    /// The caller asks what became of each frame.
    keeps_judged: bool,
    /// How far each point was read, by its own clock.
    read: [Reading; 2],
    /// When data passed each point last, and how many frames of data did.
    last_data_ns: [i64; 2],
    passed: [u64; 2],
}

impl Hop {
    /// A hop; with `keeps_judged` it keeps what becomes of each frame.
    pub(crate) fn new(keeps_judged: bool) -> Self {
        Self {
            keeps_judged,
            ..Self::default()
        }
    }

    /// Passes on what became of frames since the last call, with the side that they left and the connection there.
    pub(crate) fn drain_judged(&mut self, mut take: impl FnMut(usize, u32, Judged)) {
        for pair in &mut self.pairs {
            pair.drain_judged(&mut take);
        }
    }

    /// Takes a frame that a point saw; `side` is 0 for the first point of the hop.
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
            self.look_for_pair(side, id, frame, tracked, points);
        }
        if matches!(tracked.data, Data::New | Data::OutOfOrder | Data::Repeat) {
            self.count_data(side, id, frame);
            let pause_ns = self.pause_before(side, frame);
            self.passed[side] += 1;
            let seen = Seen::of(frame, tracked, (pause_ns, self.passed[side]));
            self.event(side, id, frame, Event::Data(seen));
        }
        if frame.flags.has(Flags::SYN) {
            let (number, sighting) = (frame.seq, Sighting::of(frame));
            self.event(side, id, frame, Event::Syn { number, sighting });
        }
        if frame.flags.has(Flags::RST) {
            let time_ns = frame.time_ns;
            self.event(side, id, frame, Event::Reset { time_ns });
        }
        // A SYN-ACK acknowledges no data, and may be sent again without a sign of that.
        let acked = tracked.acked.filter(|_| !frame.flags.has(Flags::SYN));
        if let Some(position) = acked {
            let sighting = Sighting::of(frame);
            self.event(side, id, frame, Event::Ack { position, sighting });
        }
        if self.since_round >= ROUND {
            self.round(points, false);
        }
    }

    /// Notes how far a point was read.
    pub(crate) fn read(&mut self, side: usize, time_ns: i64) {
        self.read[side].note(time_ns);
    }

    /// The second point's clock less the first's, as far as known.
    pub(crate) fn offset_ns(&self) -> Option<i64> {
        self.clock.now_ns().or(self.rough_ns)
    }

    /// How long a frame takes at least, and by how much that may be wrong, if frames of both ways were seen at both points.
    pub(crate) fn delay_within_ns(&self) -> Option<(i64, i64)> {
        self.clock.delay_within_ns()
    }

    /// Whether clients are on the first point's side, by all connections.
    pub(crate) fn client_first(&self) -> Option<bool> {
        self.sides.client_first()
    }

    /// Takes what the other hops of the path show about the side of the clients.
    pub(crate) fn set_neighbours(&mut self, client_first: Option<bool>) {
        self.sides.neighbours = client_first;
    }

    /// Whether reading of this side should wait until the other has caught up: the clocks' offset is not known, and
    /// many frames wait for their connection to appear there.
    pub(crate) fn is_ahead(&self, side: usize) -> bool {
        self.pairs.is_empty() && self.early[side] >= MAX_AHEAD
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

    fn look_for_pair(
        &mut self,
        side: usize,
        id: u32,
        frame: &Frame,
        tracked: &Tracked,
        points: [&Point; 2],
    ) {
        let nth = self.halves[side][id as usize].nth[usize::from(!frame.from_low)];
        let found = self.linker.offer(side, id, frame, tracked.start, nth);
        let found = found.filter(|(by, other)| {
            !by.is_vague() || !same_ends::are_told_apart(side, frame, other, points)
        });
        let found = found.or_else(|| {
            same_ends::find(
                [&self.halves[side], &self.halves[1 - side]],
                (id, frame, tracked),
                nth,
                points[1 - side],
            )
        });
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
        if self.keeps_judged {
            pair.keep_judged();
        }
        self.rough_ns
            .get_or_insert(marks[1].time_ns - marks[0].time_ns);
        self.pairs.push(pair);
        for (side, mark) in marks.into_iter().enumerate() {
            let half = self.half(side, mark.connection);
            half.pair = Some(number);
            let early = std::mem::take(&mut half.early);
            self.early[side] -= early.len();
            for passing in early {
                self.pass(side, mark.connection, passing);
            }
        }
    }

    fn pause_before(&mut self, side: usize, frame: &Frame) -> i64 {
        let last_ns = std::mem::replace(&mut self.last_data_ns[side], frame.time_ns);
        frame.time_ns.saturating_sub(last_ns)
    }

    fn event(&mut self, side: usize, id: u32, frame: &Frame, event: Event) {
        let from_low = frame.from_low;
        self.pass(side, id, Passing { from_low, event });
    }

    fn pass(&mut self, side: usize, id: u32, passing: Passing) {
        let resolution_ns = self.resolution_ns();
        let half = &mut self.halves[side][id as usize];
        match half.pair {
            Some(number) => {
                let pair = &mut self.pairs[number as usize];
                if !std::mem::replace(&mut pair.is_active, true) {
                    self.active.push(number);
                }
                pair.event(Side::new(side), passing, resolution_ns, &mut self.clock);
            }
            None => {
                half.early.push_back(passing);
                self.early[side] += 1;
            }
        }
    }

    /// Times closer together than this tell nothing.
    fn resolution_ns(&self) -> i64 {
        self.read.iter().map(Reading::resolution_ns).sum()
    }

    /// Judges what can be judged by now.
    pub(crate) fn round(&mut self, points: [&Point; 2], at_end: bool) {
        self.since_round = 0;
        let due = self.due(at_end);
        self.settle(points, at_end, &due);
        self.clock.settle();
        if let Some(horizons) = self.horizons(at_end) {
            let rough_ns = self.rough_ns.unwrap_or(0);
            for number in &due {
                self.pairs[*number as usize].advance(
                    &horizons,
                    rough_ns,
                    points,
                    (&mut self.clock, &mut self.delays, &mut self.over_time),
                );
            }
        }
        self.relieve(&due);
        self.rest(due);
    }

    /// The pairs that a round has to look at, in their order: what one adds to the clock counts for the next.
    fn due(&mut self, at_end: bool) -> Vec<u32> {
        if at_end {
            return (0..self.pairs.len() as u32).collect();
        }
        let mut due = std::mem::take(&mut self.active);
        due.sort_unstable();
        due
    }

    /// Leaves pairs that hold nothing alone until something is known of them again.
    fn rest(&mut self, mut looked_at: Vec<u32>) {
        looked_at.retain(|number| {
            let pair = &mut self.pairs[*number as usize];
            pair.is_active = pair.held() > 0;
            pair.is_active
        });
        self.active = looked_at;
    }

    /// Frees memory: first the oldest events without a pair, then the rest. Only pairs that were looked at hold anything.
    fn relieve(&mut self, looked_at: &[u32]) {
        let held = |number: &u32| self.pairs[*number as usize].held();
        self.held = looked_at.iter().map(held).sum();
        debug_assert_eq!(self.held, self.pairs.iter().map(Pair::held).sum::<usize>());
        for side in [0, 1] {
            if self.held + self.early[0] + self.early[1] >= MAX_HELD {
                self.forget_oldest(side);
            }
        }
        if self.held >= MAX_HELD {
            self.pairs.iter_mut().for_each(Pair::forget);
        }
    }

    /// Forgets the older half of what waits for a pair on one side.
    fn forget_oldest(&mut self, side: usize) {
        let early = |half: &mut Half| std::mem::take(&mut half.early);
        let halves = &mut self.halves[side];
        let all = halves.iter().flat_map(|half| &half.early);
        let mut times: Vec<_> = all.map(|passing| passing.event.own_ns()).collect();
        if times.is_empty() {
            return;
        }
        let middle = times.len() / 2;
        let (_, &mut until_ns, _) = times.select_nth_unstable(middle);
        for half in halves.iter_mut().filter(|half| !half.early.is_empty()) {
            let kept = early(half).into_iter();
            half.early = kept
                .filter(|passing| passing.event.own_ns() > until_ns)
                .collect();
        }
        self.early[side] = self.halves[side].iter().map(|half| half.early.len()).sum();
    }

    /// How far both points were read, by the first one's clock.
    fn horizons(&self, at_end: bool) -> Option<[Horizon; 2]> {
        let offsets = Offsets::new(&self.clock, self.rough_ns?);
        let (first, second) = (self.read[0].span_ns()?, self.read[1].span_ns()?);
        let aligned = |time_ns| time_ns - offsets.at_second(time_ns);
        let second = (aligned(second.0), aligned(second.1));
        let horizon = |upstream: (i64, i64), downstream: (i64, i64)| Horizon {
            upstream_ns: upstream.1,
            downstream_ns: downstream.1,
            downstream_began_ns: downstream.0,
            at_end,
        };
        Some([horizon(first, second), horizon(second, first)])
    }
}
