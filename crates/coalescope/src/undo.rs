//! `coalescope undo`: takes back what journals hold.

use std::thread::sleep;
use std::time::Duration;

use coalescope_experiment::journal::{Store, StoreKind};
use coalescope_experiment::restore::{Fate, Undone, forget, undo_one};
use coalescope_report::UndoReport;

use crate::cli::UndoArgs;
use crate::{Outcome, output};

/// A guardian whose program was killed restores by itself: it needs about this long.
const PATIENCE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &UndoArgs) -> anyhow::Result<Outcome> {
    let stores = [
        Store::usual(StoreKind::Runtime)?,
        Store::usual(StoreKind::Persistent)?,
    ];
    let mut report = UndoReport::default();
    let mut missing: Vec<&String> = args.journals.iter().collect();
    for store in &stores {
        for id in store.list()? {
            if !args.journals.is_empty() && !args.journals.contains(&id) {
                continue;
            }
            missing.retain(|name| **name != id);
            handle(args, store, &id, &mut report)?;
        }
    }
    if let Some(name) = missing.first() {
        anyhow::bail!("there is no journal {name}: see coalescope undo --list");
    }
    output::print_undo(&report, args.format)?;
    Ok(if report.has_failed() {
        Outcome::Unrestored
    } else {
        Outcome::Done
    })
}

fn handle(args: &UndoArgs, store: &Store, id: &str, report: &mut UndoReport) -> anyhow::Result<()> {
    if args.list {
        report.list(id, store.read(id));
    } else if args.forget {
        forget(store, id)?;
        report.forgotten(id);
    } else if let Some(undone) = patiently(store, id) {
        report.add(undone);
    }
    Ok(())
}

/// Where a guardian is restoring at this moment, it is waited for.
fn patiently(store: &Store, id: &str) -> Option<Undone> {
    let mut undone = undo_one(store, id)?;
    for _ in 0..PATIENCE {
        if !matches!(undone.fate, Fate::Running { .. }) {
            break;
        }
        sleep(PAUSE);
        undone = undo_one(store, id)?;
    }
    Some(undone)
}
