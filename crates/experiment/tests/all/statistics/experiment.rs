//! Experiments with known truth, run through schedule, looks and verdicts as the command does it.

use std::collections::BTreeMap;

use coalescope_experiment::design::{Design, Factor, Plan, Schedule};
use coalescope_experiment::effects::{Analysis, Decision, Measured, Metric, Rules, Sense, decide};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Fewer resamples than the default, so that thousands of experiments are fast.
pub(super) fn rules() -> Rules {
    Rules {
        resamples: 999,
        ..Rules::default()
    }
}

pub(super) fn metric(name: &str, sense: Sense) -> Metric {
    Metric {
        name: name.into(),
        unit: None,
        sense,
    }
}

pub(super) fn design(factors: Vec<Factor>, max_runs: usize, seed: u64) -> Design {
    Design::new(Plan {
        factors,
        max_runs,
        seed,
    })
    .expect("a sound plan and its own runs")
}

/// One setting, two levels, at most 20 blocks.
pub(super) fn pair(seed: u64) -> Design {
    design(vec![Factor::setting("gro", &["on", "off"])], 40, seed)
}

/// What disturbs a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Noise {
    /// Normal, of this share of the figure.
    Normal(f64),
    /// The logarithm is normal: skewed.
    LogNormal(f64),
    /// The logarithm has Student's t of two degrees of freedom: no variance.
    Heavy(f64),
    /// A line over the whole experiment (this share in all), and noise that remembers 0.8 of itself.
    Drift(f64, f64),
}

/// Noise as it comes, run after run.
pub(super) struct Source {
    noise: Noise,
    random: Pcg64,
    last: f64,
    time: f64,
}

impl Source {
    pub(super) fn new(noise: Noise, seed: u64) -> Self {
        let random = Pcg64::new(
            u128::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835),
            7,
        );
        Self {
            noise,
            random,
            last: 0.0,
            time: 0.0,
        }
    }

    /// Between 0 and 1, neither included.
    fn uniform(&mut self) -> f64 {
        (f64::from(self.random.next_u32()) + 0.5) / 4_294_967_296.0
    }

    /// Standard normal (Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// What the next run's figure is multiplied with.
    pub(super) fn factor(&mut self) -> f64 {
        let z = self.normal();
        match self.noise {
            Noise::Normal(s) => 1.0 + s * z,
            Noise::LogNormal(s) => (s * z).exp(),
            // The mean of two squared normals is exponential.
            Noise::Heavy(s) => (s * z / (-self.uniform().ln()).sqrt()).exp(),
            Noise::Drift(line, s) => self.drift(line, s * z),
        }
    }

    fn drift(&mut self, line: f64, shock: f64) -> f64 {
        self.time += 1.0;
        self.last = 0.8 * self.last + shock;
        (line * self.time / 40.0 + self.last).exp()
    }
}

/// Runs an experiment: `truth` is each cell's figure without noise.
pub(super) fn run(design: &Design, truth: &[f64], noise: Noise, seed: u64) -> Analysis {
    let (mut source, mut runs) = (Source::new(noise, seed), Vec::new());
    let metrics = [metric("throughput", Sense::Speed)];
    let mut schedule = Schedule::new(design);
    while let Some(planned) = schedule.next() {
        let figure = truth[planned.cell] * source.factor();
        let figures = BTreeMap::from([("throughput".to_owned(), figure)]);
        runs.push(Measured {
            block: planned.block,
            cell: planned.cell,
            figures,
        });
        if schedule.between_blocks()
            && decide(design, &metrics, &runs, &rules()).expect("a sound plan and its own runs")
                == Decision::Clear
        {
            break;
        }
    }
    assert!(schedule.made() <= design.plan().max_runs);
    Analysis::of(design, &metrics, &runs, &rules()).expect("a sound plan and its own runs")
}

/// How many of 1,000 seeded experiments are so.
pub(super) fn count(experiment: impl Fn(u64) -> bool) -> usize {
    (0..1000).filter(|&seed| experiment(seed)).count()
}
