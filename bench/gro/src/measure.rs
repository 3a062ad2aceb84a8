//! Taking turns.

use std::io;

use crate::engine::Engine;
use crate::frames::Load;
use crate::id::Id;

/// Nanoseconds after which an engine has no more turns on a workload: DPDK's table takes half a
/// minute to go over 65,536 flows once.
const PATIENCE: i64 = 5_000_000_000;

/// Passes before those that are measured, where all is to be in the caches.
const WARM_UP: u32 = 5;

/// What one engine came to on one workload.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) id: Id,
    /// Nanoseconds for each packet, by round.
    times: Vec<f64>,
    pub(crate) out: usize,
}

impl Outcome {
    pub(crate) fn best(&self) -> f64 {
        self.times.iter().copied().fold(f64::NAN, f64::min)
    }

    pub(crate) fn median(&self) -> f64 {
        median(self.times.clone())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        len if len.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// What all engines came to on one workload.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) load: Load,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Row {
    pub(crate) fn get(&self, id: Id) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.id == id)
    }

    /// How many times as long one engine takes as another: the median of all rounds, within which
    /// they ran shortly after each other, and the best runs.
    pub(crate) fn ratio(&self, id: Id, to: Id) -> Option<(f64, f64)> {
        let (one, other) = (self.get(id)?, self.get(to)?);
        let rounds = one.times.iter().zip(&other.times);
        let ratios = rounds.map(|(one, other)| one / other).collect();
        Some((median(ratios), one.best() / other.best()))
    }
}

/// What one engine did in its turns.
#[derive(Clone, Debug, Default)]
struct Turns {
    ns: Vec<i64>,
    out: usize,
}

impl Turns {
    fn take(&mut self, engine: &mut dyn Engine, load: &Load) -> io::Result<()> {
        if self.ns.iter().sum::<i64>() > PATIENCE {
            return Ok(());
        }
        if load.loops > 1 {
            // What the engine before left in the caches is not part of a warm pass.
            engine.pass(WARM_UP)?;
        }
        let sample = engine.pass(load.loops)?;
        self.ns.push(sample.ns);
        self.out = sample.out;
        Ok(())
    }
}

/// Measures one workload: in each round every engine has a turn, each time another first, so
/// that what else the machine does hits all alike.
pub(crate) fn measure(
    engines: &mut [Box<dyn Engine>],
    load: &Load,
    rounds: usize,
) -> io::Result<Row> {
    for engine in &mut *engines {
        let loaded = engine.load(load);
        loaded.map_err(|error| said(&**engine, load, &error))?;
    }
    let mut turns = vec![Turns::default(); engines.len()];
    for round in 0..rounds {
        for at in 0..engines.len() {
            let at = (at + round) % engines.len();
            turns[at].take(&mut *engines[at], load)?;
        }
    }
    let outcomes = engines.iter().zip(&turns);
    let outcomes = outcomes.map(|(engine, turns)| outcome(&**engine, load, turns));
    Ok(Row {
        load: *load,
        outcomes: outcomes.collect::<io::Result<_>>()?,
    })
}

/// What came of the turns, if it is what must come out.
fn outcome(engine: &dyn Engine, load: &Load, turns: &Turns) -> io::Result<Outcome> {
    let expected = engine.rule(load).map(|rule| rule.outputs(load));
    if expected.is_some_and(|expected| expected != turns.out) {
        let text = format!("{} frames came out, not {expected:?}", turns.out);
        return Err(said(engine, load, &io::Error::other(text)));
    }
    let packets = f64::from(load.loops) * load.packets as f64;
    Ok(Outcome {
        id: engine.id(),
        times: turns.ns.iter().map(|&ns| ns as f64 / packets).collect(),
        out: turns.out,
    })
}

fn said(engine: &dyn Engine, load: &Load, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}, {load:?}: {error}", engine.id().title()))
}
