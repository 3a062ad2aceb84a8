//! `coalescope undo`: restores from journals.

use std::thread::sleep;
use std::time::Duration;

use anyhow::bail;
use coalescope_change::journal::{Journal, Store};
use coalescope_change::restore::{Undone, forget, undo_forced, unknown_key};
use coalescope_change::settings::Error;
use coalescope_report::UndoReport;

use super::places;
use crate::cli::UndoArgs;
use crate::page::PageFile;
use crate::{Outcome, speech, suggest};

/// After its program was killed, a guardian needs about this long to restore by itself.
const PATIENCE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &UndoArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let mut report = UndoReport::default();
    let mut missing: Vec<&String> = args.journals.iter().collect();
    let (mut known, mut unread, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for store in places::journals("undo")? {
        match store.and_then(|store| Ok((meant(args, &store)?, store))) {
            Err(error) => unread.push(error),
            Ok((ids, store)) => {
                speech::detail(|| format!("looking for journals in {}", store.path().display()));
                known.extend(store.list().unwrap_or_default());
                missing.retain(|name| !ids.contains(name));
                all.extend(ids.into_iter().map(|id| (id, store.clone())));
            }
        }
    }
    if let Some(name) = missing.first() {
        let known = known.iter().map(String::as_str);
        bail!(suggest::unknown(
            "journal",
            name,
            known,
            "`coalescope undo --list` lists them"
        ));
    }
    if !args.force.is_empty() {
        check_forced(&args.force, &all)?;
    }
    // The latest change is undone first, in whichever folder its journal is.
    all.sort_by(|one, two| two.0.cmp(&one.0));
    for (id, store) in all {
        handle(args, &store, &id, &mut report)?;
    }
    // Unreadable folders are reported only if no journal was named: the named ones were all found.
    if args.journals.is_empty() {
        unread.iter().for_each(|error| report.unread(error));
    }
    mind_root(&report);
    let (outcome, state) = ended(&report);
    if args.list {
        super::print_and_write(&report, &page, args.format)?;
        return Ok(outcome);
    }
    Ok(super::print_and_write_done(
        &report,
        &page,
        args.format,
        outcome,
        state,
    ))
}

/// The exit code, and what is in force.
fn ended(report: &UndoReport) -> (Outcome, &'static str) {
    match report.has_failed() {
        true => (
            Outcome::Unrestored,
            "not all is as it was: `coalescope undo` tries again",
        ),
        false => (
            Outcome::Done,
            "what it had to do is done: `coalescope undo --list` shows what is left",
        ),
    }
}

/// Refuses a `--force` that names no key of a journal: with a typing error, the user would believe
/// the key restored.
fn check_forced(forced: &[String], all: &[(String, Store)]) -> anyhow::Result<()> {
    let journals = all.iter().filter_map(|(id, store)| store.read(id).ok());
    let journals: Vec<Journal> = journals.collect();
    let unknown = unknown_key(&journals, forced).filter(|_| !journals.is_empty());
    let Some((key, known)) = unknown else {
        return Ok(());
    };
    let known = known.iter().map(String::as_str);
    let see = "`coalescope undo` names what somebody else has changed";
    bail!(suggest::unknown(
        "setting in a journal called",
        key,
        known,
        see
    ))
}

/// The journals of a folder that were asked for.
fn meant(args: &UndoArgs, store: &Store) -> Result<Vec<String>, Error> {
    let mut ids = store.list()?;
    if args.left {
        let left: Vec<String> = store
            .left()?
            .into_iter()
            .map(|journal| journal.id)
            .collect();
        ids.retain(|id| left.contains(id));
    }
    ids.retain(|id| args.journals.is_empty() || args.journals.contains(id));
    Ok(ids)
}

/// Mentions that journals of root are not visible to an ordinary user.
fn mind_root(report: &UndoReport) {
    let is_root = rustix::process::geteuid().is_root();
    let own = std::env::var_os("COALESCOPE_STATE").is_some_and(|path| !path.is_empty());
    if !is_root && !own && report.is_empty() {
        speech::tell(
            "warning: what root has changed is not looked at: run `sudo coalescope undo` for that",
        );
    }
}

fn handle(args: &UndoArgs, store: &Store, id: &str, report: &mut UndoReport) -> anyhow::Result<()> {
    if args.list {
        report.list(id, store.read(id));
    } else if args.forget {
        forget(store, id)?;
        report.forgotten(id);
    } else if let Some(undone) = patiently(args, store, id) {
        report.add(undone);
    }
    Ok(())
}

/// Undoes a journal; if a guardian is restoring it at this moment, waits for the guardian.
fn patiently(args: &UndoArgs, store: &Store, id: &str) -> Option<Undone> {
    let mut undone = undo_forced(store, id, &args.force)?;
    for _ in 0..PATIENCE {
        if !undone.fate.may_pass() {
            break;
        }
        sleep(PAUSE);
        undone = undo_forced(store, id, &args.force)?;
    }
    Some(undone)
}
