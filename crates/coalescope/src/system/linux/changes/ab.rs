//! `coalescope ab`: an experiment with settings or vantages.

pub(crate) mod ask;
mod kept;
mod settled;
mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use coalescope_experiment::ab::{self, Checked};
use coalescope_experiment::record::{Ending, Record};
use coalescope_report::AbReport;

use super::places;
use crate::cli::{AbArgs, LiveArgs};
use crate::interrupt::stop_on_signal;
use crate::page::PageFile;
use crate::system::linux::host;
use crate::{Outcome, made, speech};
use kept::Kept;
use watch::OnTerminal;

pub(crate) fn run(args: &AbArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    places::mention_left();
    ask::mind_the_rights(args)?;
    let stop = stop_on_signal().context("cannot listen for signals")?;
    let (mut record, kept) = begin(args)?;
    let checked = Checked::new(&record.asked)?;
    ask::mind_the_session(&checked, &mut record, args.yes)?;
    record.before = Some(snapshot(&checked)?);
    record.host = record.before.as_ref().and_then(|host| host.name.clone());
    let suspicions = settled::suspicions(args, &record)?;
    let record = experiment(&checked, record, &kept, &stop)?;
    let findings = settled::settle(&suspicions, &record);
    let report = AbReport::new(record, findings);
    kept.write(&report)?;
    speech::tell(&format!("the record is in {}", kept.path().display()));
    if let Some(error) = &report.record().error {
        speech::tell(&format!("error: {error}"));
    }
    let written = page.write(&report, || {
        let name = kept.path().display().to_string();
        let record = made::other(
            &name,
            "The record of this experiment, with all that was measured.",
        );
        made::made(vec![record])
    });
    let outcome = outcome(report.record());
    let outcome = super::print_done(&report, args.format, outcome, &state(&report, &kept));
    written?;
    Ok(outcome)
}

/// What is in force after the experiment, where the report cannot say so.
fn state(report: &AbReport, kept: &Kept) -> String {
    let record = kept.path().display();
    match report.record().restored {
        true => format!("all settings are as they were, and the record is in {record}"),
        false => format!(
            "NOT restored: {}; the record is in {record}",
            report.record().unrestored.join("; ")
        ),
    }
}

/// A new experiment, or one to resume.
fn begin(args: &AbArgs) -> anyhow::Result<(Record, Kept)> {
    match &args.resume {
        Some(path) => {
            let kept = Kept::at(path.clone());
            Ok((kept.read()?, kept))
        }
        None => {
            let record = Record::new(ask::asked(args)?, kept::now_unix_s());
            let kept = match &args.save {
                Some(path) => Kept::chosen(path, &record.asked)?,
                None => Kept::usual(record.begun_unix_s)?,
            };
            Ok((record, kept))
        }
    }
}

/// Runs the experiment, and reads the host's settings again afterwards.
fn experiment(
    checked: &Checked,
    record: Record,
    kept: &Kept,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Record> {
    let namespaces = checked.namespaces();
    let mut watch = OnTerminal::new(kept);
    let mut record = ab::run(checked, record, &mut watch, stop)?;
    record.after = Some(snapshot_of(&namespaces)?);
    Ok(record)
}

fn snapshot(checked: &Checked) -> anyhow::Result<coalescope_host::model::Snapshot> {
    snapshot_of(&checked.namespaces())
}

/// With settings in other namespaces, all namespaces are read, so that interfaces have the names
/// that settings use (`ns/NAME/eth0`).
fn snapshot_of(namespaces: &[String]) -> anyhow::Result<coalescope_host::model::Snapshot> {
    host::collect(&LiveArgs {
        netns: None,
        all_netns: !namespaces.is_empty(),
    })
}

fn outcome(record: &Record) -> Outcome {
    match record.ended {
        _ if !record.restored => Outcome::Unrestored,
        Ending::Failed => Outcome::Failed,
        _ => Outcome::Done,
    }
}
