//! `coalescope trace`.

use std::ffi::OsString;
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::bail;
use coalescope_archive::Folder;
use coalescope_capture::{Options, facts};
use coalescope_knowledge::{Diagnosis, judge, judge_pair};
use coalescope_report::{Report, Source};

use crate::Outcome;
use crate::cli::TraceArgs;
use crate::confine::{self, Needs};
use crate::inputs::{self, Opened, Point};
use crate::interrupt::Interrupt;
use crate::made::{captures, made, other};
use crate::output;
use crate::page::PageFile;
use crate::pictures::pictures;
use crate::progress::Meter;
use crate::speech::{self, took};
use crate::system::memory;
use crate::task::Task;

/// Reading gains from a second thread, and little from more: one reads, one follows connections.
const USEFUL_THREADS: usize = 2;

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let archive = archive(args)?;
    let points = match &archive {
        Some(_) => Vec::new(),
        None => inputs::points(&args.files)?,
    };
    let given = archive.as_ref().map_or(points.len(), Folder::points);
    check(args.compare, given)?;
    let page = PageFile::check(&args.page)?;
    let threads = threads(args.threads);
    let points = inputs::open(points);
    confine::enter(&needs(&page, archive.as_ref()));
    let task = Task {
        points,
        archive,
        compare: args.compare,
        points_by_interface: args.points_by_interface,
        max_connections: args.max_connections,
        threads,
        interrupt: Interrupt::listen()?,
    };
    let mut report = report(&task)?;
    if page.is_wanted() {
        let pictures = pictures(&task, report.trace(), report.diagnosis());
        report = report.with_series(pictures);
    }
    let written = page.write(&report, || made(sources(&task)));
    // Whatever became of the page: the work is done.
    output::print(&report, args.output.format, args.output.connections)?;
    written?;
    let outcome = Outcome::of(report.has_findings());
    // The process ends here: freeing the facts of many connections one by one is of no use.
    std::mem::forget(report);
    Ok(outcome)
}

/// The archive, if one was given.
fn archive(args: &TraceArgs) -> anyhow::Result<Option<Folder>> {
    let is_one = |given: &OsString| Folder::is_one(Path::new(given));
    let Some(given) = args.files.iter().find(|given| is_one(given)) else {
        return Ok(None);
    };
    if args.files.len() > 1 || args.points_by_interface {
        bail!(
            "{} is an archive, which has its points in it: give nothing beside it",
            inputs::display(Path::new(given))
        );
    }
    Ok(Some(Folder::open(Path::new(given))?))
}

fn needs(page: &PageFile, archive: Option<&Folder>) -> Needs {
    let needs = Needs::of_page(page);
    match archive {
        Some(archive) => needs.and_folder(archive.path()),
        None => needs,
    }
}

/// What a page says it was made of.
fn sources(task: &Task) -> Vec<Source> {
    match &task.archive {
        Some(archive) => vec![other(
            &inputs::display(archive.path()),
            "An archive of captures: not hashed.",
        )],
        None => captures(&task.points, &task.interrupt),
    }
}

/// Reads everything and judges it.
pub(crate) fn report(task: &Task) -> anyhow::Result<Report> {
    if !task.compare {
        let (trace, diagnosis) = judged(task)?;
        return Ok(Report::new(trace, diagnosis));
    }
    let trace = read(task)?;
    let Some((comparison, diagnosis)) = judge_pair(&trace) else {
        bail!(NOTHING_TO_COMPARE)
    };
    Ok(Report::new(trace, diagnosis).with_comparison(comparison))
}

/// A trace, and what it means.
pub(crate) type Judged = (facts::Trace, Diagnosis);

/// Reads captures of the same traffic and judges them.
pub(crate) fn judged(task: &Task) -> anyhow::Result<Judged> {
    let trace = read(task)?;
    let begun = Instant::now();
    let diagnosis = judge(&trace);
    speech::detail(|| format!("judged it in {}", took(begun)));
    Ok((trace, diagnosis))
}

const NOTHING_TO_COMPARE: &str = "there is nothing to compare: one of the two captures shows no \
    TCP connection that carries data; trace it alone to see what is in it";

fn check(compare: bool, given: usize) -> anyhow::Result<()> {
    if compare && given != 2 {
        bail!(
            "--compare sets two transfers side by side, {given} given: give two captures, such as \
             DIRECT=direct.pcap VIP=vip.pcap"
        );
    }
    Ok(())
}

fn read(task: &Task) -> anyhow::Result<facts::Trace> {
    let trace = match &task.archive {
        Some(archive) => read_archive(archive, &task.options()),
        None => read_captures(task),
    }?;
    if task.interrupt.is_set() {
        speech::tell("warning: interrupted: this is what was read until then");
    }
    Ok(trace)
}

fn read_archive(archive: &Folder, options: &Options) -> anyhow::Result<facts::Trace> {
    memory::reading(inputs::display(archive.path()));
    let mut meter = Meter::new(None);
    let trace = coalescope_archive::trace(archive, options, &mut |progress| meter.tell(progress));
    meter.clear();
    Ok(trace?)
}

fn read_captures(task: &Task) -> anyhow::Result<facts::Trace> {
    let Opened { points, size_bytes } = inputs::sources(&task.points, &task.interrupt)?;
    let options = task.options();
    memory::reading(names(&task.points));
    let begun = Instant::now();
    speech::detail(|| reading(&task.points, size_bytes, options.threads));
    let mut meter = Meter::new(size_bytes);
    let trace = coalescope_capture::trace(points, &options, &mut |progress| meter.tell(progress));
    meter.clear();
    speech::detail(|| format!("read all of it in {}", took(begun)));
    Ok(trace?)
}

/// What is read.
fn names(points: &[Point]) -> String {
    points.iter().map(files).collect::<Vec<_>>().join(", ")
}

fn files(point: &Point) -> String {
    let names = point.inputs.iter().map(|input| input.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// What is read, and from where.
fn reading(points: &[Point], size_bytes: Option<u64>, threads: usize) -> String {
    let size = size_bytes.map_or_else(
        || "unknown size".to_owned(),
        |bytes| format!("{bytes} bytes"),
    );
    let points = points
        .iter()
        .map(|point| format!("\n  {}: {}", point.name, files(point)));
    let points: String = points.collect();
    format!("reading {size} with {threads} threads:{points}")
}

/// Threads to read with. Asked for before rights are given up: how many cores there are is in files.
pub(crate) fn threads(given: Option<u16>) -> usize {
    let useful = || thread::available_parallelism().map_or(1, |n| n.get().min(USEFUL_THREADS));
    given.map_or_else(useful, usize::from)
}
