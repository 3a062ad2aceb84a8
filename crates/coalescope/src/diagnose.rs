//! `coalescope diagnose`: settings and packets together.

use std::ffi::OsString;

use coalescope_host::drift::drift;
use coalescope_knowledge::join;
use coalescope_report::{CheckReport, DiagnoseReport};

use crate::Outcome;
use crate::cli::DiagnoseArgs;
use crate::page::PageFile;
use crate::trace::{self, Task};
use crate::{hosts, inputs, output};

pub(crate) fn run(args: &DiagnoseArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let rules = hosts::rules(&args.rules)?;
    let captured = captures(&args.captures)?;
    let snapshots = hosts::snapshots(&args.from, &args.live)?;
    let checked = hosts::checked(&rules, &snapshots);
    let names = snapshots
        .iter()
        .map(|snapshot| snapshot.name.clone().unwrap_or_default());
    let mut hosts: Vec<_> = names.zip(checked).collect();
    if let Some((_, diagnosis)) = &captured {
        join(&mut hosts, diagnosis);
    }
    let drift = drift(&snapshots);
    let checked = hosts.into_iter().map(|(_, checked)| checked);
    let check = CheckReport::new(snapshots.into_iter().zip(checked).collect(), drift);
    let report = DiagnoseReport::new(check, captured);
    let written = page.write(|out| report.write_html(out));
    output::print_diagnose(&report, args.output)?;
    written?;
    Ok(Outcome::of(report.has_findings()))
}

/// Reads the captures and judges them, if there are any.
fn captures(files: &[OsString]) -> anyhow::Result<Option<trace::Judged>> {
    if files.is_empty() {
        return Ok(None);
    }
    let task = Task {
        points: inputs::points(files)?,
        compare: false,
        points_by_interface: false,
        threads: None,
    };
    trace::judged(task).map(Some)
}
