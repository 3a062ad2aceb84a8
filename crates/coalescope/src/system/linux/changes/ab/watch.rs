//! Progress of an experiment, on standard error.

use std::io;

use coalescope_experiment::ab::Watch;
use coalescope_experiment::design::Planned;
use coalescope_experiment::effects::spoken;
use coalescope_experiment::record::{Record, Run};
use coalescope_report::figure;

use super::kept::Kept;
use crate::speech;

/// Reports each run, and saves the record.
pub(super) struct OnTerminal<'a> {
    kept: &'a Kept,
    line: String,
}

impl<'a> OnTerminal<'a> {
    pub(super) fn new(kept: &'a Kept) -> Self {
        let line = String::new();
        Self { kept, line }
    }
}

impl Watch for OnTerminal<'_> {
    fn begins(&mut self, planned: Planned, levels: &[String], made: usize, allowed: usize) {
        let place = match planned.block {
            Some(block) => format!("run {made} of at most {allowed}, block {}", block + 1),
            None => "warm-up".to_owned(),
        };
        self.line = format!("{place}: {}", levels.join(", "));
    }

    fn ended(&mut self, run: &Run, record: &Record) {
        let result = match (&run.problem, record.metrics.first()) {
            (Some(problem), _) => problem.clone(),
            (None, Some(metric)) => run
                .figures
                .get(&metric.name)
                .map(|value| {
                    let name = spoken(&metric.name);
                    format!("{name} {}", figure(*value, metric.unit.as_deref()))
                })
                .unwrap_or_default(),
            (None, None) => String::new(),
        };
        speech::tell(&format!("{}: {result}", self.line));
    }

    fn keep(&mut self, record: &Record) -> io::Result<()> {
        self.kept.write(record)
    }
}
