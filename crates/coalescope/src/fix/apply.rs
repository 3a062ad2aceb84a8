//! Making the changes, all or none.

use std::time::Duration;

use anyhow::{Context, bail};
use coalescope_experiment::ab;
use coalescope_experiment::guardian::{Guard, Options};
use coalescope_experiment::journal::{Store, StoreKind};
use coalescope_experiment::restore::{apply_files, undo_one};
use coalescope_experiment::settings::Setting;
use coalescope_report::FixReport;

use super::choose::Chosen;
use crate::ab::ask::may_change;
use crate::cli::FixArgs;
use crate::{Outcome, speech};

/// How long a change may take before the guardian takes it for lost.
const DEADLINE: Duration = Duration::from_secs(60);

pub(super) fn apply(
    args: &FixArgs,
    chosen: &Chosen,
    report: &mut FixReport,
) -> anyhow::Result<Outcome> {
    if !chosen.settings.is_empty() && !may_change() {
        bail!(
            "--apply changes settings, which takes root (or CAP_NET_ADMIN): run it with sudo; nothing was changed"
        );
    }
    mind_the_session(&chosen.settings, args.yes)?;
    let command: Vec<String> = std::iter::once("coalescope".to_owned())
        .chain(std::env::args().skip(1))
        .collect();
    if !chosen.settings.is_empty() && !make(&chosen.settings, &command, report)? {
        return Ok(if report.unrestored.is_empty() {
            Outcome::Failed
        } else {
            Outcome::Unrestored
        });
    }
    if args.persist && !report.files.files.is_empty() {
        write(&command, report)?;
    }
    report.applied = true;
    Ok(Outcome::Done)
}

fn mind_the_session(settings: &[Setting], is_meant: bool) -> anyhow::Result<()> {
    let Some(address) = ab::session_address() else {
        return Ok(());
    };
    let names = ab::at_risk(settings, address)?;
    if names.is_empty() || is_meant {
        return Ok(());
    }
    bail!(
        "your ssh session from {address} goes over {}, which is to be changed: --yes changes it; \
         should the session be lost, `coalescope undo` takes it back",
        names.join(" and ")
    );
}

/// Makes all settings and keeps them; or takes all back, and says no.
fn make(settings: &[Setting], command: &[String], report: &mut FixReport) -> anyhow::Result<bool> {
    let store = Store::usual(StoreKind::Runtime)?;
    let mut options = Options::new(store, command.to_vec());
    options.deadline = Some(DEADLINE);
    let mut guard = Guard::start(&options)?;
    guard.record(settings)?;
    for setting in settings {
        let change = guard.change(setting)?;
        report.changes.push(change.to_string());
        if !change.took_effect() {
            let restored = guard.finish()?;
            let left = restored.unrestored.iter().map(ToString::to_string);
            report.unrestored = left.collect();
            report.problem = Some(format!("{setting} did not take effect; nothing was kept"));
            return Ok(false);
        }
    }
    report.journals.push(guard.keep()?);
    Ok(true)
}

/// Writes the files. If that fails, the settings are taken back as well.
fn write(command: &[String], report: &mut FixReport) -> anyhow::Result<()> {
    let store = Store::usual(StoreKind::Persistent)?;
    match apply_files(&store, command.to_vec(), &report.files.writes()) {
        Ok(journal) => {
            report.journals.push(journal);
            Ok(())
        }
        Err(error) => {
            let runtime = Store::usual(StoreKind::Runtime)?;
            for journal in &report.journals {
                if let Some(undone) = undo_one(&runtime, journal)
                    && undone.fate.is_failure()
                {
                    speech::tell("warning: not all settings could be taken back: coalescope undo");
                }
            }
            Err(error).context("no file was changed, and the settings were taken back")
        }
    }
}
