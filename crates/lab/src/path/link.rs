//! A wire with a length: rate, delay, loss, reordering, and a queue that drops what does not fit.

use super::chance::Chance;
use super::{DropReason, Element, Error, Frame, Nanos, Onward, Side, cut, nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// Default size of a link's queue in bytes, as in the simulator.
const QUEUE_BYTES: usize = 4 << 20;
/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Bits per second, with Ethernet's preamble, frame check sequence and gap; `None` for no limit.
    pub rate_bps: Option<u64>,
    /// Propagation delay.
    pub delay: Duration,
    /// Random addition to the delay, at most this; the order of frames is kept.
    pub jitter: Duration,
    /// Probability of loss of a frame, 0 to 1.
    pub loss: f64,
    /// Losses in bursts.
    pub bursts: Option<Bursts>,
    /// Frames that overtake others.
    pub reorder: Option<Reorder>,
    /// Size of the queue; further frames are dropped. Without a rate nothing waits.
    pub queue: Queue,
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// In bytes on the wire.
    Bytes(usize),
    /// In frames.
    Frames(usize),
}

/// Gilbert's model of bursts of loss (Bell System Technical Journal 39, 1960): every frame may
/// change the state of the lane, and a lane in the bad state loses frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability that a good lane turns bad.
    pub begin: f64,
    /// Probability that a bad lane turns good.
    pub end: f64,
    /// Probability of loss in the bad state.
    pub loss: f64,
}

/// Some frames take longer and are overtaken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a frame is late.
    pub probability: f64,
    /// How much later it is, at most.
    pub extra: Duration,
}

impl Lane {
    /// A faultless lane with a queue of 4 MiB.
    #[must_use]
    pub fn new(rate_bps: u64, delay: Duration) -> Self {
        Self {
            rate_bps: Some(rate_bps),
            ..Self::delayed(delay)
        }
    }

    /// A faultless lane without a limit of rate.
    #[must_use]
    pub fn delayed(delay: Duration) -> Self {
        Self {
            rate_bps: None,
            delay,
            jitter: Duration::ZERO,
            loss: 0.0,
            bursts: None,
            reorder: None,
            queue: Queue::Bytes(QUEUE_BYTES),
        }
    }

    /// With random loss.
    #[must_use]
    pub fn losing(mut self, loss: f64) -> Self {
        self.loss = loss;
        self
    }

    /// With a random addition to the delay that keeps the order.
    #[must_use]
    pub fn jittering(mut self, jitter: Duration) -> Self {
        self.jitter = jitter;
        self
    }

    /// Whether the lane handles each frame by itself, so that merged frames are segmented first. A
    /// lane that only delays carries merged frames whole, which is much faster.
    fn needs_single_frames(&self) -> bool {
        let plain = Self::delayed(self.delay);
        let queue = plain.queue;
        Self {
            queue,
            ..self.clone()
        } != plain
    }

    fn check(&self, element: &str) -> Result<(), Error> {
        let bursts = self
            .bursts
            .map(|bursts| [bursts.begin, bursts.end, bursts.loss]);
        let probabilities = [self.loss, self.reorder.map_or(0.0, |late| late.probability)];
        let all = probabilities
            .into_iter()
            .chain(bursts.into_iter().flatten());
        for value in all {
            if !(0.0..=1.0).contains(&value) {
                return Err(wrong(element, "a probability", &value, "0 to 1"));
            }
        }
        match self.rate_bps {
            Some(0) => Err(wrong(element, "the rate in bit/s", &0, "1 or more")),
            _ => Ok(()),
        }
    }
}

fn wrong(element: &str, what: &'static str, value: &dyn ToString, range: &'static str) -> Error {
    Error::Value {
        element: element.to_owned(),
        what,
        value: value.to_string(),
        range,
    }
}

/// A link: two lanes.
#[derive(Debug)]
pub struct Link {
    name: String,
    lanes: [LaneState; 2],
}

impl Link {
    /// A link with the same lane in both directions.
    #[must_use]
    pub fn both(name: &str, lane: Lane) -> Self {
        Self::new(name, [lane.clone(), lane])
    }

    /// A lane for each direction, indexed by the side that frames travel toward.
    #[must_use]
    pub fn new(name: &str, toward: [Lane; 2]) -> Self {
        let [client, server] = toward;
        Self {
            name: name.to_owned(),
            lanes: [LaneState::new(client, 0), LaneState::new(server, 1)],
        }
    }

    /// Sets the seed of the random streams, instead of 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        for (stream, lane) in (0..).zip(&mut self.lanes) {
            lane.chance = Chance::new(seed, stream);
        }
        self
    }
}

impl Element for Link {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>) {
        let lane = &mut self.lanes[toward.index()];
        if !lane.single {
            return lane
                .enter(frame, at)
                .unwrap_or_else(|why| out.drop_frame(toward, why));
        }
        let mut enter = |single| {
            if let Err(why) = lane.enter(single, at) {
                out.drop_frame(toward, why);
            }
        };
        if let Err(why) = cut(frame, &mut enter) {
            out.drop_frame(toward, why);
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        let due = self.lanes.iter().filter_map(LaneState::due);
        due.min()
    }

    fn tick(&mut self, at: Nanos, out: &mut Onward<'_>) {
        for (side, lane) in Side::BOTH.into_iter().zip(&mut self.lanes) {
            while lane.due().is_some_and(|due| due <= at)
                && let Some(Reverse(travelling)) = lane.travelling.pop()
            {
                out.pass(travelling.frame, side);
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        let mut lanes = self.lanes.iter();
        lanes.try_for_each(|state| state.lane.check(&self.name))
    }
}

#[derive(Debug)]
struct LaneState {
    lane: Lane,
    single: bool,
    chance: Chance,
    /// When the last accepted frame has left the queue.
    free_at: Nanos,
    last_arrival: Nanos,
    bad: bool,
    /// When the transmission of each accepted frame begins; the frame waits until then. Kept only
    /// for a queue that counts frames.
    begins: VecDeque<Nanos>,
    travelling: BinaryHeap<Reverse<Travelling>>,
    taken: u64,
}

/// A frame under way, ordered by its arrival, then by when it entered.
#[derive(Debug)]
struct Travelling {
    due: Nanos,
    number: u64,
    frame: Frame,
}

impl Travelling {
    fn key(&self) -> (Nanos, u64) {
        (self.due, self.number)
    }
}

impl PartialEq for Travelling {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Travelling {}

impl PartialOrd for Travelling {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Travelling {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl LaneState {
    fn new(lane: Lane, stream: u64) -> Self {
        Self {
            single: lane.needs_single_frames(),
            lane,
            chance: Chance::new(0, stream),
            free_at: 0,
            last_arrival: 0,
            bad: false,
            begins: VecDeque::new(),
            travelling: BinaryHeap::new(),
            taken: 0,
        }
    }

    fn due(&self) -> Option<Nanos> {
        self.travelling.peek().map(|Reverse(first)| first.due)
    }

    fn enter(&mut self, frame: Frame, at: Nanos) -> Result<(), DropReason> {
        let sent = self.send(frame.wire_bytes(), at)?;
        self.lose()?;
        let due = self.propagate(sent);
        self.taken += 1;
        self.travelling.push(Reverse(Travelling {
            due,
            number: self.taken,
            frame,
        }));
        Ok(())
    }

    /// Puts a frame into the queue; returns when its last bit has left.
    fn send(&mut self, bytes: usize, at: Nanos) -> Result<Nanos, DropReason> {
        let Some(rate) = self.lane.rate_bps else {
            return Ok(at);
        };
        let begin = self.free_at.max(at);
        if !self.has_room(bytes, begin, at, rate) {
            return Err(DropReason::Queue);
        }
        let takes = bytes as u128 * 8 * SECOND / u128::from(rate.max(1));
        self.free_at = begin.saturating_add(takes as Nanos);
        Ok(self.free_at)
    }

    fn has_room(&mut self, bytes: usize, begin: Nanos, at: Nanos, rate: u64) -> bool {
        match self.lane.queue {
            Queue::Bytes(limit) => {
                let waiting = u128::from(begin - at) * u128::from(rate) / (8 * SECOND);
                waiting + bytes as u128 <= limit as u128
            }
            Queue::Frames(limit) => {
                self.begins.retain(|&begins| begins > at);
                let room = begin == at || self.begins.len() < limit;
                if room {
                    self.begins.push_back(begin);
                }
                room
            }
        }
    }

    fn lose(&mut self) -> Result<(), DropReason> {
        if let Some(bursts) = self.lane.bursts {
            let turn = if self.bad { bursts.end } else { bursts.begin };
            self.bad ^= self.chance.happens(turn);
            if self.bad && self.chance.happens(bursts.loss) {
                return Err(DropReason::Burst);
            }
        }
        match self.chance.happens(self.lane.loss) {
            true => Err(DropReason::Loss),
            false => Ok(()),
        }
    }

    fn propagate(&mut self, sent: Nanos) -> Nanos {
        let arrival = sent.saturating_add(nanos(self.lane.delay));
        if let Some(reorder) = self.lane.reorder
            && self.chance.happens(reorder.probability)
        {
            return arrival.saturating_add(1 + self.chance.up_to(nanos(reorder.extra)));
        }
        let jitter = self.chance.up_to(nanos(self.lane.jitter));
        self.last_arrival = self.last_arrival.max(arrival.saturating_add(jitter));
        self.last_arrival
    }
}

#[cfg(test)]
mod tests;
