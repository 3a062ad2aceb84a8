//! Applying settings, all or none.

use std::time::Duration;

use anyhow::bail;
use coalescope_change::guardian::{Guard, Options};
use coalescope_change::journal::{Store, StoreKind};
use coalescope_change::restore::{Fate, apply_files, undo_one};
use coalescope_change::settings::{Error, Setting};
use coalescope_experiment::ab::Session;
use coalescope_report::FixReport;

use super::choose::Chosen;
use crate::Outcome;
use crate::cli::FixArgs;
use crate::system::linux::changes::ab::ask::may_change;

/// How long a change may take before the guardian restores.
const DEADLINE: Duration = Duration::from_secs(60);
/// Whoever asks for changes that last must not believe that those do which the next start takes back.
const NOT_TO_LAST: &str = "Nothing was changed: not all of it can be made to last. Without --persist it is changed until \
    the next start; a FINDING that is named is fixed without the others.";

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
    if args.persist && !report.files.refused.is_empty() {
        report.problem = Some(NOT_TO_LAST.to_owned());
        return Ok(Outcome::Failed);
    }
    mind_the_session(&chosen.settings, args.yes)?;
    let command: Vec<String> = std::iter::once("coalescope".to_owned())
        .chain(std::env::args().skip(1))
        .collect();
    let is_made = chosen.settings.is_empty() || make(&chosen.settings, &command, report)?;
    let is_wanted = args.persist && !report.files.files.is_empty();
    report.applied = is_made && (!is_wanted || write(&command, report)?);
    Ok(match (report.applied, report.unrestored.is_empty()) {
        // What a finding asked for was not made.
        (true, _) if !chosen.left_out.is_empty() => Outcome::Failed,
        (true, _) => Outcome::Done,
        (false, true) => Outcome::Failed,
        (false, false) => Outcome::Unrestored,
    })
}

fn mind_the_session(settings: &[Setting], is_meant: bool) -> anyhow::Result<()> {
    if is_meant {
        return Ok(());
    }
    let Some(session) = Session::own() else {
        return Ok(());
    };
    let names = session.at_risk(settings)?;
    if names.is_empty() {
        return Ok(());
    }
    bail!(
        "your ssh session from {session} goes over {}, which is to be changed: --yes changes it; \
         should the session be lost, `coalescope undo` takes it back",
        names.join(" and ")
    );
}

/// Makes and keeps all settings, or restores all of them and returns false.
fn make(settings: &[Setting], command: &[String], report: &mut FixReport) -> anyhow::Result<bool> {
    let store = Store::usual(StoreKind::Runtime)?;
    let mut options = Options::new(store, command.to_vec());
    options.deadline = Some(DEADLINE);
    let mut guard = Guard::start(&options)?;
    let made = make_all(&mut guard, settings, report);
    if let Ok(None) = made {
        report.journals.push(guard.keep()?);
        return Ok(true);
    }
    let restored = guard.finish()?;
    let left = restored.unrestored.iter().map(ToString::to_string);
    report.unrestored = left.collect();
    report.problem = match made {
        Err(error) if restored.is_complete() => return Err(error.into()),
        Err(error) => Some(error.to_string()),
        Ok(ignored) => ignored.map(|one| format!("{one} did not take effect; nothing was kept")),
    };
    Ok(false)
}

/// Makes the settings; returns the first one that had no effect, if any.
fn make_all<'a>(
    guard: &mut Guard,
    settings: &'a [Setting],
    report: &mut FixReport,
) -> Result<Option<&'a Setting>, Error> {
    guard.record(settings)?;
    for setting in settings {
        let change = guard.change(setting)?;
        report.changes.push(change.to_string());
        if !change.took_effect() {
            return Ok(Some(setting));
        }
    }
    Ok(None)
}

/// Writes the files. If this fails, the settings are restored as well.
fn write(command: &[String], report: &mut FixReport) -> anyhow::Result<bool> {
    let store = Store::usual(StoreKind::Persistent);
    let written =
        store.and_then(|store| apply_files(&store, command.to_vec(), &report.files.writes()));
    match written {
        Ok(journal) => {
            report.journals.push(journal);
            Ok(true)
        }
        Err(error) => {
            report.problem = Some(error.to_string());
            report.unrestored = take_back(report)?;
            if let Error::NotTakenBack { left, .. } = error {
                report.unrestored.extend(left);
            }
            Ok(false)
        }
    }
}

/// Restores the settings; returns what could not be restored.
fn take_back(report: &mut FixReport) -> anyhow::Result<Vec<String>> {
    let store = Store::usual(StoreKind::Runtime)?;
    let mut left = Vec::new();
    for journal in std::mem::take(&mut report.journals) {
        let fate = undo_one(&store, &journal).map(|undone| undone.fate);
        match fate {
            Some(Fate::Failed { unrestored }) => {
                left.extend(unrestored.iter().map(ToString::to_string));
            }
            Some(fate) if fate.is_failure() || fate.may_pass() => {
                left.push(format!(
                    "what {journal} has: run `coalescope undo {journal}`"
                ));
            }
            _ => {}
        }
    }
    Ok(left)
}
