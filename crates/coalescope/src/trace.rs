//! `coalescope trace`.

use std::time::Instant;

use coalescope_analysis::inputs::{self, Point};
use coalescope_analysis::interrupt::Interrupt;
use coalescope_analysis::task::{self, Task};
use coalescope_archive::Folder;
use coalescope_capture::facts;
use coalescope_knowledge::{Diagnosis, judge};
use coalescope_report::{Report, Source};

use crate::Outcome;
use crate::cli::TraceArgs;
use crate::confine::{self, Needs};
use crate::interrupt;
use crate::made::{captures, made, other};
use crate::output;
use crate::page::PageFile;
use crate::pictures::pictures;
use crate::progress::Meter;
use crate::speech::{self, took};
use crate::system::memory;

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let archive = task::archive(&args.files, args.points_by_interface)?;
    let points = match &archive {
        Some(_) => Vec::new(),
        None => inputs::points(&args.files)?,
    };
    let given = archive.as_ref().map_or(points.len(), Folder::points);
    task::check_comparison(args.compare, given)?;
    let page = PageFile::check(&args.page)?;
    let threads = task::threads(args.threads);
    let points = inputs::open(points);
    confine::enter(&needs(&page, archive.as_ref()));
    let task = Task {
        archive,
        compare: args.compare,
        points_by_interface: args.points_by_interface,
        max_connections: args.max_connections,
        ..task(points, threads, interrupt::listen()?)
    };
    let mut report = report(&task)?;
    if page.is_wanted() {
        let pictures = pictures(&task, report.trace(), report.diagnosis());
        report = report.with_series(pictures);
    }
    let made = || made(sources(&task));
    let output = &args.output;
    output::print_with_page(&report, output.format, output.connections, &page, made)?;
    let outcome = Outcome::of(report.has_findings());
    // The process ends here, and freeing the facts of many connections one by one would only take time.
    std::mem::forget(report);
    Ok(outcome)
}

fn needs(page: &PageFile, archive: Option<&Folder>) -> Needs {
    let needs = Needs::of_page(page);
    match archive {
        Some(archive) => needs.and_folder(archive.path()),
        None => needs,
    }
}

/// The sources that a page names.
fn sources(task: &Task) -> Vec<Source> {
    match &task.archive {
        Some(archive) => vec![other(
            &inputs::display(archive.path()),
            "An archive of captures: not hashed.",
        )],
        None => captures(&task.points, &task.interrupt),
    }
}

/// A task that reads captures of one path, and keeps connections as long as there is memory.
pub(crate) fn task(points: Vec<Point>, threads: usize, interrupt: Interrupt) -> Task {
    Task {
        is_short: Some(memory::is_short),
        ..Task::new(points, threads, interrupt)
    }
}

/// Reads everything and judges it.
pub(crate) fn report(task: &Task) -> anyhow::Result<Report> {
    let trace = read(task)?;
    let begun = Instant::now();
    let report = task::report(trace, task.compare)?;
    speech::detail(|| format!("judged it in {}", took(begun)));
    Ok(report)
}

/// A trace and its diagnosis.
pub(crate) type Judged = (facts::Trace, Diagnosis);

/// Reads captures of the same traffic and judges them.
pub(crate) fn judged(task: &Task) -> anyhow::Result<Judged> {
    let trace = read(task)?;
    let begun = Instant::now();
    let diagnosis = judge(&trace);
    speech::detail(|| format!("judged it in {}", took(begun)));
    Ok((trace, diagnosis))
}

fn read(task: &Task) -> anyhow::Result<facts::Trace> {
    let opened = task.begin()?;
    memory::reading(names(task));
    let begun = Instant::now();
    speech::detail(|| reading(task, opened.size_bytes));
    let mut meter = Meter::new(opened.size_bytes.filter(|_| task.archive.is_none()));
    let trace = task.read(opened, &mut |progress| meter.show(progress));
    meter.clear();
    speech::detail(|| format!("read all of it in {}", took(begun)));
    if task.interrupt.is_set() {
        speech::tell("warning: interrupted: this is what was read until then");
    }
    Ok(trace?)
}

/// Names of the inputs.
fn names(task: &Task) -> String {
    match &task.archive {
        Some(archive) => inputs::display(archive.path()),
        None => task.points.iter().map(files).collect::<Vec<_>>().join(", "),
    }
}

fn files(point: &Point) -> String {
    let names = point.inputs.iter().map(|input| input.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// A message about what is read, and from where.
fn reading(task: &Task, size_bytes: Option<u64>) -> String {
    if task.archive.is_some() {
        return format!("reading the archive {}", names(task));
    }
    let size = size_bytes.map_or_else(
        || "unknown size".to_owned(),
        |bytes| format!("{bytes} bytes"),
    );
    let points = task
        .points
        .iter()
        .map(|point| format!("\n  {}: {}", point.name, files(point)));
    let points: String = points.collect();
    format!("reading {size} with {} threads:{points}", task.threads)
}
