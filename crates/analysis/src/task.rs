//! Captures, or an archive of them, to a report.

use std::ffi::OsString;
use std::path::Path;
use std::thread;

use coalescope_archive::Folder;
use coalescope_capture::facts::Trace;
use coalescope_capture::{Options, PointInput, Progress, trace_parts};
use coalescope_knowledge::{judge, judge_pair};
use coalescope_report::Report;

use crate::error::Error;
use crate::inputs::{self, Opened, Point};
use crate::interrupt::Interrupt;

/// One thread reads, one follows connections: where most connections are few and large, more gain little.
const READING_AND_FOLLOWING: usize = 2;

/// The inputs and options of a trace.
pub struct Task {
    /// The points.
    pub points: Vec<Point>,
    /// An archive instead of points.
    pub archive: Option<Folder>,
    /// Whether the points are two transfers to compare.
    pub compare: bool,
    /// Whether the interfaces of the one input are the points.
    pub points_by_interface: bool,
    /// The most connections that are kept for one point.
    pub max_connections: usize,
    /// Threads to read with.
    pub threads: usize,
    /// A function that returns whether memory is short.
    pub is_short: Option<fn() -> bool>,
    /// Ends reading.
    pub interrupt: Interrupt,
}

/// Default limit of connections of a point: about 1 GiB.
pub const MAX_CONNECTIONS: usize = 1_000_000;

impl Task {
    /// Captures of one path, read as usual.
    #[must_use]
    pub fn new(points: Vec<Point>, threads: usize, interrupt: Interrupt) -> Self {
        Self {
            points,
            archive: None,
            compare: false,
            points_by_interface: false,
            max_connections: MAX_CONNECTIONS,
            threads,
            is_short: None,
            interrupt,
        }
    }

    /// These options, for reading.
    #[must_use]
    pub fn options(&self) -> Options {
        Options {
            threads: self.threads,
            points_by_interface: self.points_by_interface,
            separate: self.compare,
            max_connections: self.max_connections,
            is_short: self.is_short,
            stop: self.interrupt.flag(),
        }
    }

    /// Begins to read all captures; none for an archive.
    ///
    /// # Errors
    ///
    /// All captures that cannot be used.
    pub fn begin(&self) -> Result<Opened, Error> {
        inputs::sources(&self.points, &self.interrupt)
    }

    /// Reads everything.
    ///
    /// # Errors
    ///
    /// If nothing can be read.
    pub fn read(&self, begun: Opened, progress: &mut dyn FnMut(Progress)) -> Result<Trace, Error> {
        let options = self.options();
        let mut trace = match &self.archive {
            Some(archive) => coalescope_archive::trace(archive, &options, progress)?,
            None => self.read_captures(begun.points, &options, progress)?,
        };
        for (name, warning) in begun.reordered.into_iter().chain(self.reordered()) {
            warn(&mut trace, &name, warning);
        }
        Ok(trace)
    }

    /// The warnings of an archive's points whose captures were put in order of time when they were digested.
    fn reordered(&self) -> Vec<(String, String)> {
        let points = self.archive.as_ref().map(Folder::reordered);
        let points = points.into_iter().flatten();
        points
            .map(|(name, files)| (name, inputs::words_of_order(files)))
            .collect()
    }

    /// Reads captures. With more threads than two, connections of one point are shared out among them; where that may give
    /// another answer, which shows while they are read, files are read once more.
    fn read_captures(
        &self,
        mut begun: Vec<PointInput>,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Trace, Error> {
        if self.may_share_out()
            && let Some(point) = begun.pop()
        {
            if let Some(trace) = trace_parts(point, options, progress)? {
                return Ok(trace);
            }
            begun = self.begin()?.points;
        }
        Ok(coalescope_capture::trace(begun, options, progress)?)
    }

    /// Whether connections may be shared out among threads: of one point, whose captures can be read twice.
    fn may_share_out(&self) -> bool {
        let [point] = self.points.as_slice() else {
            return false;
        };
        let is_enough = self.threads > READING_AND_FOLLOWING;
        is_enough && !self.points_by_interface && inputs::read_once(point).is_none()
    }
}

/// Adds a warning to a point; where its interfaces became points of their own, to the first one.
fn warn(trace: &mut Trace, name: &str, warning: String) {
    let named = trace.points.iter().position(|point| point.name == name);
    if let Some(point) = trace.points.get_mut(named.unwrap_or(0)) {
        point.warnings.push(warning);
    }
}

/// The archive, if one is given.
///
/// # Errors
///
/// If other files are given beside it, or it cannot be opened.
pub fn archive(files: &[OsString], points_by_interface: bool) -> Result<Option<Folder>, Error> {
    // One whose digest did not end is refused as what it is.
    let is_one = |given: &&OsString| {
        let path = Path::new(given);
        Folder::is_one(path) || Folder::is_begun(path)
    };
    let Some(given) = files.iter().find(is_one).map(Path::new) else {
        return Ok(None);
    };
    if files.len() > 1 || points_by_interface {
        return Err(Error::Beside(inputs::display(given)));
    }
    Ok(Some(Folder::open(given)?))
}

/// Checks that exactly two points are given for a comparison.
///
/// # Errors
///
/// If they are not two.
pub fn check_comparison(compare: bool, given: usize) -> Result<(), Error> {
    match compare && given != 2 {
        true => Err(Error::Compare(given)),
        false => Ok(()),
    }
}

/// Judges a trace.
///
/// # Errors
///
/// If there is nothing to compare.
pub fn report(trace: Trace, compare: bool) -> Result<Report, Error> {
    if !compare {
        let diagnosis = judge(&trace);
        return Ok(Report::new(trace, diagnosis));
    }
    let (comparison, diagnosis) = judge_pair(&trace).ok_or(Error::NothingToCompare)?;
    Ok(Report::new(trace, diagnosis).with_comparison(comparison))
}

/// Number of threads to read with; the default if none is given.
#[must_use]
pub fn threads(given: Option<u16>) -> usize {
    let useful =
        || thread::available_parallelism().map_or(1, |n| n.get().min(READING_AND_FOLLOWING));
    given.map_or_else(useful, usize::from)
}
