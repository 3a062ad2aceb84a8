//! Processors and priorities of threads.

use crate::error::Error;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::process::{Command, Stdio};

/// The first processor that this thread may use.
pub(crate) fn first_processor() -> Result<usize, Error> {
    let action = "read which processors may be used";
    let allowed = sched_getaffinity(Pid::from_raw(0)).map_err(Error::system(action))?;
    let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap_or(false));
    first.ok_or_else(|| Error::system(action)(Errno::EINVAL))
}

/// Lets a thread run on one processor only.
pub(crate) fn pin(thread: Pid, processor: usize) -> Result<(), Error> {
    let action = format!("pin thread {thread} to processor {processor}");
    let mut only = CpuSet::new();
    only.set(processor)
        .and_then(|()| sched_setaffinity(thread, &only))
        .map_err(Error::system(action))
}

/// Gives a thread a real-time priority (SCHED_FIFO).
///
/// Uses chrt of util-linux: no safe crate sets the policy of another thread.
pub(crate) fn make_fifo(thread: Pid, priority: u8) -> Result<(), Error> {
    let action = format!("give thread {thread} real-time priority with chrt");
    let mut command = Command::new("chrt");
    command.args([
        "--fifo",
        "--pid",
        &priority.to_string(),
        &thread.to_string(),
    ]);
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let status = status.map_err(Error::io(action.clone()))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::system(action)(Errno::EPERM))
    }
}
