//! Captures and hosts to reports, as the commands `trace` and `check` make them.

use std::ffi::OsString;
use std::path::PathBuf;

use coalescope_analysis::interrupt::Interrupt;
use coalescope_analysis::task::{self, MAX_CONNECTIONS, Task};
use coalescope_analysis::{Error, hosts, inputs};
use coalescope_archive::Folder;
use coalescope_host::sources::{self, Limits};
use coalescope_report::{CheckReport, Report as TraceReport};
use pyo3::prelude::*;

use crate::attended::attended;
use crate::error::{check_range, raised};
use crate::report::{Check, Report};

/// Judges captures of the same traffic at one or more points, or an archive of them: `[NAME=]FILE`, as the command takes them.
#[pyfunction]
#[pyo3(signature = (*captures, compare = false, points_by_interface = false, max_connections = MAX_CONNECTIONS, threads = None))]
pub(crate) fn trace(
    py: Python<'_>,
    captures: Vec<PathBuf>,
    compare: bool,
    points_by_interface: bool,
    max_connections: usize,
    threads: Option<u16>,
) -> PyResult<Report> {
    check_range("max_connections", max_connections as u64, u32::MAX.into())?;
    check_range("threads", threads.unwrap_or(1).into(), u16::MAX.into())?;
    let captures: Vec<OsString> = captures.into_iter().map(PathBuf::into_os_string).collect();
    let interrupt = Interrupt::default();
    let work = || {
        let archive = task::archive(&captures, points_by_interface)?;
        let points = match &archive {
            Some(_) => Vec::new(),
            None => inputs::points(&captures)?,
        };
        task::check_comparison(
            compare,
            archive.as_ref().map_or(points.len(), Folder::points),
        )?;
        report(&Task {
            archive,
            compare,
            points_by_interface,
            max_connections,
            ..Task::new(
                inputs::open(points),
                task::threads(threads),
                interrupt.clone(),
            )
        })
    };
    let report = attended(py, &interrupt, work)?;
    report.map(Report).map_err(raised)
}

fn report(task: &Task) -> Result<TraceReport, Error> {
    let trace = task.read(task.begin()?, &mut |_| {})?;
    task::report(trace, task.compare)
}

/// Checks hosts by what their commands printed; without any, this one.
#[pyfunction]
#[pyo3(signature = (*saved, rules = Vec::new()))]
pub(crate) fn check(py: Python<'_>, saved: Vec<PathBuf>, rules: Vec<PathBuf>) -> PyResult<Check> {
    let checked = attended(py, &Interrupt::default(), || checked(&saved, &rules))?;
    checked.map(Check).map_err(raised)
}

fn checked(saved: &[PathBuf], sites: &[PathBuf]) -> Result<CheckReport, Error> {
    let rules = hosts::rules(sites)?;
    let limits = Limits {
        counters: rules.counters(),
        ..Limits::default()
    };
    let mut read = Vec::new();
    for given in hosts::open(saved)? {
        read.extend(sources::read(given, &limits)?);
    }
    let (snapshots, files) = match saved.is_empty() {
        true => (vec![hosts::this_host()?], Default::default()),
        false => hosts::with_files(read),
    };
    let named = hosts::checked(&rules, &snapshots);
    let mut report = CheckReport::of(snapshots, named);
    report.read_from(files);
    Ok(report)
}
