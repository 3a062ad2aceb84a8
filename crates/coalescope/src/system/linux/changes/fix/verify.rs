//! Whether applied settings still hold.

use std::fs;
use std::time::Duration;

use coalescope_change::journal::{Digest, Journal, State};
use coalescope_change::settings::{Error, Setting, Space, read};
use coalescope_knowledge::judge_watched;
use coalescope_report::{Meanwhile, Verified};

use crate::cli::LiveArgs;
use crate::system::linux::changes::places;
use crate::system::linux::watch;

/// Counts merged frames for a time.
pub(super) fn watched(time: Duration, live: &LiveArgs) -> anyhow::Result<Meanwhile> {
    let watched = watch::for_a_time(time, live)?;
    let findings = judge_watched(&watched);
    Ok(Meanwhile { watched, findings })
}

/// Compares all journals of kept changes with the present settings.
pub(super) fn verified() -> anyhow::Result<Vec<Verified>> {
    let mut all = Vec::new();
    for store in places::journals("fix --verify")? {
        let store = match store {
            Ok(store) => store,
            Err(error) => {
                all.push(Verified::unreadable("", &error.to_string()));
                continue;
            }
        };
        for id in store.list()? {
            match store.read(&id) {
                Ok(journal) if journal.state == State::Kept => all.extend(look(&journal)),
                // Journals in other states are not of kept changes.
                Ok(_) => {}
                Err(error) => all.push(Verified::unreadable(&id, &error.to_string())),
            }
        }
    }
    Ok(all)
}

/// Refuses a journal of another namespace than this one, where the same name means another interface.
pub(super) fn here(journal: &Journal, setting: &Setting) -> Result<(), Error> {
    let namespace = &setting.subject.namespace;
    let interfaces = journal.interfaces.iter().map(|entry| &entry.namespace);
    let sysctls = journal.sysctls.iter().map(|entry| &entry.namespace);
    let mut all = interfaces.chain(sysctls);
    match all.find(|id| id.name == *namespace) {
        Some(id) => Space::find(id).map(drop),
        None => Ok(()),
    }
}

fn look(journal: &Journal) -> Vec<Verified> {
    let settings = journal.wanted.iter().map(|setting| {
        let is = match here(journal, setting).and_then(|()| read(&setting.subject)) {
            Ok(is) => is.to_string(),
            Err(error) => error.to_string(),
        };
        let holds = is == setting.value.to_string();
        Verified::new(
            &journal.id,
            &setting.subject.to_string(),
            &setting.value.to_string(),
            &is,
            holds,
        )
    });
    let files = journal.files.iter().map(|entry| {
        let path = entry.path.display().to_string();
        let (is, holds) = match fs::read(&entry.path) {
            Ok(bytes) if Digest::of(&bytes) == entry.wrote => ("as written".to_owned(), true),
            Ok(_) => ("changed since".to_owned(), false),
            Err(error) => (error.to_string(), false),
        };
        Verified::new(&journal.id, &path, "as written", &is, holds)
    });
    settings.chain(files).collect()
}
