//! Changes of the user's own commands, undone by the command that sets the reference level.

use crate::guardian;
use crate::journal::{Journal, Unrestored};
use crate::workload::{self, Ended, Vantage, Workload};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The longest run of one command: an ssh connection and a slow PowerShell.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Runs all commands, the last one first; returns those that failed.
pub(super) fn restore(journal: &Journal) -> Vec<Unrestored> {
    journal
        .commands
        .iter()
        .rev()
        .filter_map(|one| run(one))
        .collect()
}

fn run(command: &str) -> Option<Unrestored> {
    let workload = Workload {
        command: guardian::as_usual(command),
        timeout: Some(TIMEOUT),
    };
    let why = match workload::run(&workload, &Vantage::Here, &AtomicBool::new(false)) {
        Ok(ended) if ended.succeeded() => return None,
        Ok(ended) => last_words(&ended),
        Err(error) => error.to_string(),
    };
    Some(Unrestored {
        what: "what --do has changed".to_owned(),
        is: "unknown".to_owned(),
        was: "as its first command makes it".to_owned(),
        set: None,
        why,
        by_hand: Some(command.to_owned()),
    })
}

fn last_words(ended: &Ended) -> String {
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    let last = words.lines().last().unwrap_or_default();
    format!("the command ended with {:?}: {last}", ended.end)
}
