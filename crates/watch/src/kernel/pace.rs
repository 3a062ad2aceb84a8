//! Whether each frame is counted, or those of some spans of time alone.
//!
//! A program that is called for each frame costs some 100 ns, of which half is the call, whatever the program does. Where
//! frames come so fast that this is felt, the programs are attached for a short time, now and then, and what they count is
//! multiplied. Dropped frames are always counted, and once a merged one has died each frame is counted again, as its flow
//! is to be followed.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use aya::Ebpf;
use aya::maps::{Array, MapData, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLinkId;

use super::attach::{PROGRAMS, attach, detach, map};
use super::clock::now_ns;
use super::error::LoadError;
use crate::facts::Sampling;

/// Calls of programs a second, on one processor, from which on not each frame is counted: at 100 ns each they take a
/// hundredth of its time (docs/watch.md: what it costs).
pub(super) const BUSY: f64 = 100_000.0;
/// Frames come slowly enough again at this share of that.
const CALM: f64 = 0.5;
/// How often the rate of calls is looked at, and how often in a row it has to be high: bursts are counted to the last frame.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 2;
/// The same while it is low, so that an idle host is hardly woken.
const IDLE_LOOK: Duration = Duration::from_millis(500);
/// How long frames are counted at a time. To attach and detach the kernel changes its code, and interrupts all processors for
/// that, as when somebody starts tcpdump: that has to be rare, for whoever watches for long. The last turn of spans is seldom
/// over when somebody looks, so that each is a short part of all.
const SPANS: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(250)];
/// A span is this part of the time since spans began, and a turn a twenty-fifth.
const SPAN_OF_ALL: u32 = 400;
/// One span of so many, of which the others are left out.
const ONE_IN: u32 = 16;
/// How soon a merged frame that dies is noticed meanwhile.
const NOTICED: Duration = Duration::from_millis(10);

/// The programs, which a thread attaches and detaches; they are gone when this value is dropped.
pub(super) struct Pacer {
    state: Arc<Mutex<State>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread has done so far.
#[derive(Default)]
struct State {
    sampled: Duration,
    /// Since when it samples.
    since: Option<Instant>,
    /// Why it ended before its time.
    error: Option<String>,
}

impl State {
    /// For how long not each frame was counted until now.
    fn took(&self) -> Duration {
        let since = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.sampled + since
    }
}

impl Pacer {
    /// Attaches the programs. `busy` is the rate of calls from which on not each frame is counted; none: each is, always.
    pub(super) fn begin(mut ebpf: Ebpf, busy: Option<f64>) -> Result<Self, LoadError> {
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = channel();
        let mut paced = Paced {
            weights: Array::try_from(map(&mut ebpf, "weights")?)?,
            calls: PerCpuArray::try_from(map(&mut ebpf, "calls")?)?,
            flows_until: Array::try_from(map(&mut ebpf, "flows_until")?)?,
            ebpf,
            links: Vec::new(),
            busy: busy.unwrap_or(f64::INFINITY),
            state: Arc::clone(&state),
            stopped,
        };
        paced.count_each()?;
        let thread = thread::Builder::new().name("pace".to_owned());
        let thread = thread.spawn(move || paced.run());
        Ok(Self {
            state,
            stop: Some(stop),
            thread: Some(thread.map_err(|error| LoadError::Ended(error.to_string()))?),
        })
    }

    /// For how long not each frame was counted, if ever.
    pub(super) fn sampling(&self) -> Result<Option<Sampling>, LoadError> {
        let state = locked(&self.state);
        if let Some(error) = &state.error {
            return Err(LoadError::Ended(error.clone()));
        }
        let took = state.took();
        Ok((took > Duration::ZERO).then(|| Sampling {
            one_in: u64::from(ONE_IN),
            took_s: took.as_secs_f64(),
        }))
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has detached the programs as well.
            let _ = thread.join();
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread holds.
struct Paced {
    ebpf: Ebpf,
    links: Vec<(&'static str, BtfTracePointLinkId)>,
    weights: Array<MapData, u64>,
    calls: PerCpuArray<MapData, u64>,
    flows_until: Array<MapData, u64>,
    busy: f64,
    state: Arc<Mutex<State>>,
    /// Closed when the programs are to go.
    stopped: Receiver<()>,
}

/// What ends a time of waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Woken {
    /// It is over.
    Over,
    /// A merged frame died.
    Wanted,
    /// The programs are to go.
    Stopped,
}

impl Paced {
    fn run(mut self) {
        if self.busy.is_infinite() {
            // Each frame is counted, until the end.
            let _ = self.stopped.recv();
        } else if let Err(error) = self.turns() {
            locked(&self.state).error = Some(error.to_string());
        }
    }

    /// Each frame, some spans, each frame, and so on.
    fn turns(&mut self) -> Result<(), LoadError> {
        while self.until_busy()? != Woken::Stopped {
            locked(&self.state).since = Some(Instant::now());
            if self.sample()? == Woken::Stopped {
                break;
            }
            self.count_each()?;
            let mut state = locked(&self.state);
            state.sampled = state.took();
            state.since = None;
        }
        Ok(())
    }

    /// Has each frame counted.
    fn count_each(&mut self) -> Result<(), LoadError> {
        self.weights.set(0, 1, 0)?;
        self.attach()
    }

    /// Waits until frames come too fast to count each.
    fn until_busy(&mut self) -> Result<Woken, LoadError> {
        let (mut looks, mut look) = (0, IDLE_LOOK);
        while looks < LOOKS {
            let (woken, rate) = self.rate_for(look)?;
            if woken == Woken::Stopped {
                return Ok(woken);
            }
            let is_busy = rate >= self.busy && !self.follows_flows()?;
            looks = if is_busy { looks + 1 } else { 0 };
            let is_idle = rate < self.busy * CALM;
            look = if is_idle { IDLE_LOOK } else { LOOK };
        }
        Ok(Woken::Over)
    }

    /// Counts in some spans, until frames come slowly again or a merged one dies.
    fn sample(&mut self) -> Result<Woken, LoadError> {
        self.weights.set(0, 0, 0)?;
        self.detach()?;
        let begun = Instant::now();
        let mut stands_for = Duration::ZERO;
        loop {
            let span = (begun.elapsed() / SPAN_OF_ALL).clamp(SPANS[0], SPANS[1]);
            // At another time of each turn: traffic may have a rhythm as well.
            let first = (span * (ONE_IN - 1)).mul_f64(dice());
            let woken = self.wait(begun + stands_for + first)?;
            if woken != Woken::Over {
                return Ok(woken);
            }
            let (counted, rate) = self.span(span)?;
            if rate < self.busy * CALM {
                return Ok(Woken::Over);
            }
            // A thread that was woken late has counted for longer, and then leaves out more.
            stands_for += counted * ONE_IN;
            let woken = self.wait(begun + stands_for)?;
            if woken != Woken::Over {
                return Ok(woken);
            }
        }
    }

    /// Counts for a span; returns how long it was, and the rate of calls.
    fn span(&mut self, long: Duration) -> Result<(Duration, f64), LoadError> {
        self.attach()?;
        // All programs begin, and end, at once.
        let begun = Instant::now();
        self.weights.set(0, u64::from(ONE_IN), 0)?;
        let (_, rate) = self.rate_for(long)?;
        self.weights.set(0, 0, 0)?;
        let took = begun.elapsed();
        self.detach()?;
        Ok((took, rate))
    }

    /// Waits; returns calls a second on the busiest processor meanwhile.
    fn rate_for(&self, time: Duration) -> Result<(Woken, f64), LoadError> {
        let begun = Instant::now();
        let before = self.calls.get(&0, 0)?;
        let woken = self.rest(time);
        let after = self.calls.get(&0, 0)?;
        let each = before.iter().zip(after.iter());
        let most = each
            .map(|(before, after)| after.saturating_sub(*before))
            .max();
        Ok((
            woken,
            most.unwrap_or(0) as f64 / begun.elapsed().as_secs_f64(),
        ))
    }

    /// Waits until then, or until a merged frame dies.
    fn wait(&self, until: Instant) -> Result<Woken, LoadError> {
        loop {
            if self.follows_flows()? {
                return Ok(Woken::Wanted);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.rest(left.min(NOTICED)) == Woken::Stopped {
                return Ok(if left.is_zero() {
                    Woken::Over
                } else {
                    Woken::Stopped
                });
            }
        }
    }

    fn rest(&self, time: Duration) -> Woken {
        match self.stopped.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Woken::Over,
            _ => Woken::Stopped,
        }
    }

    /// Whether flows are followed of which a merged frame died.
    fn follows_flows(&self) -> Result<bool, LoadError> {
        Ok(self.flows_until.get(&0, 0)? > now_ns())
    }

    fn attach(&mut self) -> Result<(), LoadError> {
        for (name, _) in PROGRAMS {
            let link = attach(&mut self.ebpf, name)?;
            self.links.push((name, link));
        }
        Ok(())
    }

    fn detach(&mut self) -> Result<(), LoadError> {
        for (name, link) in self.links.drain(..) {
            detach(&mut self.ebpf, name, link)?;
        }
        Ok(())
    }
}

/// A number from 0 to 1, by the clock's last digits.
fn dice() -> f64 {
    f64::from((now_ns() >> 10) as u16) / f64::from(u16::MAX)
}
