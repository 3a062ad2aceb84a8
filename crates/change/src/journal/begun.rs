//! The beginning of a journal: who, when, and in which boot.

use super::{Journal, SCHEMA, Store};
use crate::guardian::ARGUMENT;
use crate::settings::Error;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Where `starttime` and `state` are in /proc/PID/stat, counted after the name in brackets.
const START_TIME: usize = 19;
const STATE: usize = 0;

/// The id of the present boot.
pub(crate) fn boot_id() -> Result<String, Error> {
    let text = fs::read_to_string(BOOT_ID);
    let text = text.map_err(Error::file("read", Path::new(BOOT_ID)))?;
    Ok(text.trim().to_owned())
}

/// A journal in which nothing is written yet. Its name comes after those of all others, also where the clock was
/// set back meanwhile: what was changed last is undone first.
pub(crate) fn begin(store: &Store, command: Vec<String>, pid: u32) -> Result<Journal, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let time = now.as_nanos().max(latest(store).saturating_add(1));
    Ok(Journal {
        schema: SCHEMA.to_owned(),
        id: format!("{time:020}-{pid}"),
        boot_id: boot_id()?,
        begun_unix_s: now.as_secs(),
        pid,
        pid_started_ticks: started_ticks(pid),
        guardian_pid: std::process::id(),
        command,
        ..Journal::default()
    })
}

/// The time in the name of the newest journal in all folders.
fn latest(store: &Store) -> u128 {
    let all = Store::everywhere().into_iter().flatten();
    let lists = all.chain([store.clone()]).map(|store| store.list());
    let ids = lists.filter_map(Result::ok).flatten();
    let times = ids.filter_map(|id| id.split_once('-')?.0.parse().ok());
    times.max().unwrap_or_default()
}

impl Journal {
    /// Whether the program of the journal still runs, as far as /proc shows. The start time is
    /// compared because process ids are used again.
    pub(crate) fn has_command(&self) -> bool {
        let is_it =
            self.pid_started_ticks.is_some() && started_ticks(self.pid) == self.pid_started_ticks;
        // A process that has ended is listed as a zombie until its parent waits for it.
        is_it && !matches!(stat(self.pid, STATE).as_deref(), Some("Z" | "X"))
    }

    /// Whether the guardian of the journal lives and is stopped (SIGSTOP). Its command line is
    /// compared because process ids are used again.
    pub(crate) fn has_stopped_guardian(&self) -> bool {
        let line = fs::read(format!("/proc/{}/cmdline", self.guardian_pid));
        let is_guardian = line
            .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(ARGUMENT.as_bytes()));
        is_guardian && matches!(stat(self.guardian_pid, STATE).as_deref(), Some("T" | "t"))
    }
}

fn started_ticks(pid: u32) -> Option<u64> {
    stat(pid, START_TIME)?.parse().ok()
}

/// A field of /proc/PID/stat, counted after the name in brackets.
fn stat(pid: u32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(field).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_begun() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let journal = begin(&store, vec!["test".to_owned()], std::process::id()).unwrap();
        assert!(journal.pid_started_ticks.is_some_and(|ticks| ticks > 0));
        assert_eq!(journal.boot_id.len(), 36);
    }

    #[test]
    fn later_ones_come_later_by_every_clock() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let mut first = begin(&store, Vec::new(), 7).unwrap();
        // The name of the first journal is from 30 years later: the clock was set back since.
        let (time, _) = first.id.split_once('-').unwrap();
        let time: u128 = time.parse().unwrap();
        first.id = format!("{:020}-7", time + 30 * 365 * 86_400 * 1_000_000_000);
        store.write(&first).unwrap();
        let second = begin(&store, Vec::new(), 7).unwrap();
        store.write(&second).unwrap();
        assert_eq!(store.list().unwrap(), [second.id, first.id]);
    }
}
