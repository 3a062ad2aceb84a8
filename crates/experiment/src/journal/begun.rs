//! The beginning of a journal: who, when, and in which boot.

use super::{Journal, SCHEMA};
use crate::guardian::ARGUMENT;
use crate::settings::Error;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Where `starttime` and `state` are in /proc/PID/stat, counted after the name in brackets.
const START_TIME: usize = 19;
const STATE: usize = 0;

/// The boot that this is.
pub(crate) fn boot_id() -> Result<String, Error> {
    let text = fs::read_to_string(BOOT_ID);
    let text = text.map_err(Error::file("read", Path::new(BOOT_ID)))?;
    Ok(text.trim().to_owned())
}

/// A journal in which nothing is written yet.
pub(crate) fn begin(command: Vec<String>, pid: u32) -> Result<Journal, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    Ok(Journal {
        schema: SCHEMA.to_owned(),
        id: format!("{:020}-{pid}", now.as_nanos()),
        boot_id: boot_id()?,
        begun_unix_s: now.as_secs(),
        pid,
        pid_started_ticks: started_ticks(pid),
        guardian_pid: std::process::id(),
        command,
        ..Journal::default()
    })
}

impl Journal {
    /// Whether the program lives that it is of, as far as that can be seen.
    pub(crate) fn has_command(&self) -> bool {
        let is_it =
            self.pid_started_ticks.is_some() && started_ticks(self.pid) == self.pid_started_ticks;
        // One that has ended stays in the list until its parent asks for it.
        is_it && !matches!(stat(self.pid, STATE).as_deref(), Some("Z" | "X"))
    }

    /// Whether its guardian lives, and has been stopped. Numbers of processes are given anew.
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
        let journal = begin(vec!["test".to_owned()], std::process::id()).unwrap();
        assert!(journal.pid_started_ticks.is_some_and(|ticks| ticks > 0));
        assert_eq!(journal.boot_id.len(), 36);
    }
}
