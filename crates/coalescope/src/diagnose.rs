//! `coalescope diagnose`: settings and packets together.

use coalescope_analysis::inputs::{self, Point};
use coalescope_analysis::task::{self, Task};
use coalescope_knowledge::join;
use coalescope_report::{CheckReport, DiagnoseReport};

use crate::Outcome;
use crate::cli::DiagnoseArgs;
use crate::confine::{self, Needs};
use crate::hosts::Asked;
use crate::interrupt;
use crate::page::PageFile;
use crate::pictures::pictures;
use crate::system::memory;
use crate::trace;
use crate::watch::Counted;
use crate::{hosts, made, output};

pub(crate) fn run(args: &DiagnoseArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    let points = inputs::points(&args.captures)?;
    let counted = Counted::begin(&args.watched, &args.live)?;
    let asked = Asked::of(&args.from, &args.live)?;
    let saved = made::Saved::open(&page, &args.from);
    let threads = task::threads(None);
    let points = inputs::open(points);
    confine::enter(
        &Needs::of_page(&page)
            .and_folders(asked.given())
            .and_rules(&args.rules),
    );
    let rules = hosts::rules(&args.rules)?;
    let task = captures(points, threads)?;
    let captured = task.as_ref().map(trace::judged).transpose()?;
    let snapshots = asked.snapshots()?;
    let mut hosts = hosts::checked(&rules, &snapshots);
    let watched = counted.join(&mut hosts)?;
    if let Some((_, diagnosis)) = &captured {
        join(&mut hosts, diagnosis);
    }
    let pictures = match (&task, &captured) {
        (Some(task), Some((trace, found))) if page.is_wanted() => {
            Some(pictures(task, trace, found))
        }
        _ => None,
    };
    let mut check = CheckReport::of(snapshots, hosts);
    check.watched(watched);
    let mut report = DiagnoseReport::new(check, captured);
    if let Some(pictures) = pictures {
        report = report.with_series(pictures);
    }
    let made = || {
        let read = task.as_ref();
        let read = read.map(|task| made::captures(&task.points, &task.interrupt));
        let sources = read.into_iter().flatten().chain(saved.sources());
        made::made(sources.collect())
    };
    let output = &args.output;
    output::print_with_page(&report, output.format, output.connections, &page, made)?;
    Ok(Outcome::judged(report.has_findings(), report.is_decided()))
}

/// The task that reads captures, if there are any.
fn captures(points: Vec<Point>, threads: usize) -> anyhow::Result<Option<Task>> {
    if points.is_empty() {
        return Ok(None);
    }
    Ok(Some(trace::task(points, threads, interrupt::listen()?)))
}
