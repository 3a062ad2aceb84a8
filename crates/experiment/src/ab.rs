//! An experiment from its first change to its last run.
//!
//! [`run`] makes run after run, each with its levels set, until the answer is clear or all allowed
//! runs are made. No measurement is lost: any error is in the [`Record`] that is returned, and all
//! settings are restored, or named in it.

mod board;
mod error;
mod measure;
mod plan;
mod ssh_route;

pub use error::Error;
pub use plan::{Checked, now};
pub use ssh_route::Session;

use crate::design::{Design, Planned, Schedule};
use crate::effects::{Decision, decide};
use crate::record::{Ending, Record, Run};
use board::Board;
use coalescope_change::settings::Space;
use measure::Measuring;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// An observer of a running experiment.
pub trait Watch {
    /// A run is about to be made.
    fn begins(&mut self, planned: Planned, levels: &[String], made: usize, allowed: usize);
    /// A run was made.
    fn ended(&mut self, run: &Run, record: &Record);
    /// The record has grown: it is to be saved, so that the experiment can be resumed.
    ///
    /// # Errors
    ///
    /// If the record cannot be saved; the experiment ends.
    fn keep(&mut self, record: &Record) -> std::io::Result<()>;
}

/// Runs an experiment, or resumes one. `stop` ends it at once.
///
/// # Errors
///
/// If the experiment cannot begin; then nothing was changed. Later errors are in the record.
pub fn run(
    checked: &Checked,
    mut record: Record,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Record, Error> {
    let design = record.design()?;
    checked.mind_aliases()?;
    let planned = record.planned();
    let schedule = Schedule::resume(&design, &planned)?;
    // A missing namespace would otherwise be noticed only by the first run in it.
    for name in checked.namespaces() {
        Space::open(Some(&name))?;
    }
    let board = Board::set_up(checked, &record.asked)?;
    let mut experiment = Experiment {
        measuring: Measuring::new(checked, &record.asked),
        begun: Instant::now(),
        design: &design,
        board,
        watch,
        stop,
    };
    // Of an experiment that is gone on with, how it ended before is over.
    record.error = None;
    record.restored = !experiment.board.changes_anything();
    let ended = experiment.runs(schedule, &mut record);
    let (board, watch) = (experiment.board, experiment.watch);
    board.restore(&mut record);
    match ended {
        Ok(ending) => record.end_as(&design, ending)?,
        Err(error) => record.fail(&design, &error.to_string(), error.doubt())?,
    }
    watch.keep(&record).map_err(Error::keep)?;
    Ok(record)
}

struct Experiment<'a> {
    measuring: Measuring,
    begun: Instant,
    design: &'a Design,
    board: Board,
    watch: &'a mut dyn Watch,
    stop: &'a AtomicBool,
}

impl Experiment<'_> {
    fn runs(&mut self, mut schedule: Schedule<'_>, record: &mut Record) -> Result<Ending, Error> {
        if let Some(ending) = self.decided(record)? {
            return Ok(ending);
        }
        let allowed = schedule.allowed();
        while let Some(planned) = schedule.next() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            let levels = names(self.design, planned.cell);
            self.watch
                .begins(planned, &levels, schedule.made(), allowed);
            let Some(run) = self.run(planned, levels, record)? else {
                return Ok(Ending::Interrupted);
            };
            record.runs.push(run);
            self.publish(record)?;
            if let Some(ending) = self.decided(record)? {
                return Ok(ending);
            }
        }
        Ok(Ending::Spent)
    }

    /// Makes one run; `None` if `stop` was set.
    fn run(
        &mut self,
        planned: Planned,
        levels: Vec<String>,
        record: &mut Record,
    ) -> Result<Option<Run>, Error> {
        let at = self.design.levels_of(planned.cell);
        let changes = self.board.go_to(&at, record, self.stop)?;
        self.board.hold()?;
        let begun_s = self.begun.elapsed().as_secs_f64();
        let (vantage, left) = (self.board.vantage(&at), self.board.left());
        let Some((mut run, ended)) = self.measuring.run(vantage, left, self.stop)? else {
            return Ok(None);
        };
        // Before its figures are read: a run of another level has none.
        self.board.hold()?;
        self.measuring
            .judge(&mut run, &ended, &mut record.metrics)?;
        run.block = planned.block;
        run.cell = planned.cell;
        run.levels = levels;
        run.begun_s = begun_s;
        run.changes = changes;
        Ok(Some(run))
    }

    fn publish(&mut self, record: &mut Record) -> Result<(), Error> {
        record.conclude(self.design)?;
        self.watch.keep(record).map_err(Error::keep)?;
        if let Some(run) = record.runs.last() {
            self.watch.ended(run, record);
        }
        Ok(())
    }

    fn decided(&self, record: &Record) -> Result<Option<Ending>, Error> {
        if record.metrics.is_empty() {
            return Ok(None);
        }
        let runs: Vec<_> = record.runs.iter().map(Run::measured).collect();
        let decision = decide(self.design, &record.metrics, &runs, &record.asked.rules)?;
        Ok(match decision {
            Decision::GoOn => None,
            Decision::Clear => Some(Ending::Clear),
            Decision::Spent => Some(Ending::Spent),
        })
    }
}

fn names(design: &Design, cell: usize) -> Vec<String> {
    let names = design.level_names(cell).into_iter();
    names.map(str::to_owned).collect()
}
