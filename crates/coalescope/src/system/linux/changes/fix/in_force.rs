//! What earlier fixes have set and is in force: `check` has no finding of these any more, and a reboot still resets them.

use clap::Parser;
use coalescope_change::journal::{Journal, State, Store};
use coalescope_change::settings::{Setting, read};

use super::verify::here;
use crate::cli::{Cli, Command};

/// Settings of kept changes that hold now.
#[derive(Default)]
pub(super) struct InForce {
    pub(super) settings: Vec<Setting>,
    /// The findings that the fixes were asked to mend.
    pub(super) findings: Vec<String>,
}

impl InForce {
    /// Reads all journals. With ids, only those of fixes that were asked for these findings and no others.
    pub(super) fn of(ids: &[String]) -> Self {
        let mut found = Self::default();
        for store in Store::everywhere().into_iter().flatten() {
            let journals = store.list().unwrap_or_default().into_iter();
            let kept = journals
                .filter_map(|id| store.read(&id).ok())
                .filter(|journal| journal.state == State::Kept);
            for journal in kept {
                found.add(&journal, ids);
            }
        }
        found
    }

    fn add(&mut self, journal: &Journal, ids: &[String]) {
        let asked = asked(journal);
        if !ids.is_empty() && (asked.is_empty() || !asked.iter().all(|id| ids.contains(id))) {
            return;
        }
        let holds = |setting: &&Setting| {
            let is = here(journal, setting).and_then(|()| read(&setting.subject));
            is.is_ok_and(|is| is == setting.value)
        };
        self.settings
            .extend(journal.wanted.iter().filter(holds).cloned());
        self.findings.extend(asked);
    }
}

/// The findings that the command of a journal named.
fn asked(journal: &Journal) -> Vec<String> {
    match Cli::try_parse_from(&journal.command).map(|cli| cli.command) {
        Ok(Command::Fix(args)) => args.findings,
        _ => Vec::new(),
    }
}
