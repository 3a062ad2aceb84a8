//! A running command, from its start to its end.

use super::pipes::{Pipes, Printed};
use super::{End, Error};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::io::{PipeReader, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval at which `stop` is checked; half of what a person takes for at once.
const LOOK: Duration = Duration::from_millis(50);
/// From SIGTERM to SIGKILL: iperf3 and the like end their connections in between.
const GRACE: Duration = Duration::from_secs(2);
/// How long a pipe is still read after the command's end, if another process has it open. Output of
/// the command itself is in the pipe already.
const DRAIN: Duration = Duration::from_millis(200);

/// A process group and its leader, which is our child. Dropped before its end is known, the whole
/// group is killed.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    at: Instant,
    is_reaped: bool,
}

/// A thread that waits for the leader's end and then closes a pipe. The thread does not reap the
/// leader (`WNOWAIT`), so that the process id stays the leader's until the group was killed.
struct Watcher {
    bell: PipeReader,
    thread: JoinHandle<Instant>,
}

/// Why and when a group was sent SIGTERM.
#[derive(Clone, Copy)]
struct Ended {
    end: End,
    at: Instant,
}

impl Group {
    /// A child that leads its group, and when it was started.
    pub(super) fn new(child: Child, at: Instant) -> Self {
        Self {
            child,
            at,
            is_reaped: false,
        }
    }

    /// Reads the output until the command's end; ends the command after its timeout or when `stop`
    /// is set. Returns how the command ended, its time and its output.
    pub(super) fn follow(
        mut self,
        timeout: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<(End, Duration, Printed), Error> {
        let mut pipes = Pipes::of(&mut self.child);
        let watcher = Watcher::of(self.leader())?;
        let ended = self.until_end(&watcher, &mut pipes, timeout, stop)?;
        let ended_at = watcher.join()?;
        drain(&mut pipes, ended)?;
        if ended.is_some() {
            self.signal(Signal::SIGKILL);
        }
        let status = self.reap()?;
        let end = ended.map_or_else(|| end(status), |ended| ended.end);
        let wall = ended_at.saturating_duration_since(self.at);
        Ok((end, wall, pipes.into_printed()))
    }

    /// Reads output until the leader is dead.
    fn until_end(
        &self,
        watcher: &Watcher,
        pipes: &mut Pipes,
        timeout: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Option<Ended>, Error> {
        let deadline = timeout.and_then(|timeout| self.at.checked_add(timeout));
        let mut ended = None;
        while !watcher.thread.is_finished() {
            match ended {
                None => ended = self.end_group(deadline, stop),
                Some(Ended { at, .. }) if at.elapsed() >= GRACE => self.signal(Signal::SIGKILL),
                Some(_) => {}
            }
            pipes.wait(Some(&watcher.bell), until(deadline))?;
        }
        Ok(ended)
    }

    /// Sends SIGTERM to the group after the timeout or when `stop` is set.
    fn end_group(&self, deadline: Option<Instant>, stop: &AtomicBool) -> Option<Ended> {
        let now = Instant::now();
        let end = if stop.load(Ordering::Relaxed) {
            End::Stopped
        } else if deadline.is_some_and(|deadline| now >= deadline) {
            End::TimedOut
        } else {
            return None;
        };
        self.signal(Signal::SIGTERM);
        Some(Ended { end, at: now })
    }

    /// Errors are ignored: processes of the group that have ended need no signal, and those that
    /// have changed their user cannot be signalled.
    fn signal(&self, signal: Signal) {
        let _ = killpg(self.leader(), signal);
    }

    fn leader(&self) -> Pid {
        // Process ids of Linux are at most 4,194,304 (proc(5), pid_max).
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn reap(&mut self) -> Result<ExitStatus, Error> {
        let status = self.child.wait();
        self.is_reaped = true;
        status.map_err(Error::system("learn how the command ended"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

impl Watcher {
    fn of(leader: Pid) -> Result<Self, Error> {
        let (bell, rope) = pipe().map_err(Error::system("make a pipe"))?;
        let thread = thread::Builder::new().name("workload".to_owned());
        let thread = thread
            .spawn(move || {
                let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
                while waitid(Id::Pid(leader), flags) == Err(Errno::EINTR) {}
                let at = Instant::now();
                drop(rope);
                at
            })
            .map_err(Error::system("start a thread"))?;
        Ok(Self { bell, thread })
    }

    /// The time at which the leader ended.
    fn join(self) -> Result<Instant, Error> {
        let ended = self.thread.join();
        ended.map_err(|_| {
            let problem = std::io::Error::other("the thread that waited for it is gone");
            Error::system("learn when the command ended")(problem)
        })
    }
}

/// The time to wait before the next check.
fn until(deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    // A deadline that has passed is no reason to check again at once.
    let left = left.filter(|left| !left.is_zero());
    left.map_or(LOOK, |left| left.min(LOOK))
}

/// Reads the rest of the output. After SIGTERM the leader's children have as long to end as the leader had.
fn drain(pipes: &mut Pipes, ended: Option<Ended>) -> Result<(), Error> {
    let end = Instant::now() + DRAIN;
    let end = ended.map_or(end, |ended| end.max(ended.at + GRACE));
    while !pipes.are_closed() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        pipes.wait(None, left)?;
    }
    Ok(())
}

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        // Neither is not what wait(2) gives for a process that has ended.
        (None, None) => End::Exited(status.into_raw()),
    }
}
