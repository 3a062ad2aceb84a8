//! The guardian's own process.

use super::protocol::{Reply, Request};
use super::session::Session;
use crate::journal::Store;
use crate::restore::Report;
use crate::settings::Error;
use coalescope_host::safe::printable;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{read, setsid};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{Stdin, Write, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The hidden argument that makes an executable a guardian.
pub(crate) const ARGUMENT: &str = "__guardian";
/// The hidden argument that runs a command with no signal blocked, unlike the guardian.
const AS_USUAL: &str = "__as-usual";
/// Exit code if the command could not be run, as of env(1).
const NOT_RUN: u8 = 125;
/// Signals that mean a fault of the program itself. If they were blocked, the program would hang.
const FAULTS: [Signal; 6] = [
    Signal::SIGSEGV,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGILL,
    Signal::SIGABRT,
    Signal::SIGTRAP,
];
/// The longest request.
const LONGEST: usize = 1 << 20;
/// The longest deadline.
const YEAR_S: f64 = 366.0 * 86_400.0;

/// Runs the guardian if the program was started as one. To be called first in `main`, before there
/// is a second thread. With `Some`, the program ends with that exit code.
#[must_use]
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    match arguments.next()?.to_str()? {
        ARGUMENT => Some(serve()),
        AS_USUAL => Some(exec(&arguments.next()?)),
        _ => None,
    }
}

/// The arguments that make `sh -c` run a command with no signal blocked. A child inherits blocked
/// signals, and the guardian's thread must not unblock them even for a moment.
pub(crate) fn as_usual(command: &str) -> Vec<String> {
    let is_deaf = SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(Signal::SIGTERM));
    if is_deaf {
        vec![
            "/proc/self/exe".to_owned(),
            AS_USUAL.to_owned(),
            command.to_owned(),
        ]
    } else {
        vec![command.to_owned()]
    }
}

fn exec(command: &OsStr) -> ExitCode {
    let problem = match SigSet::empty().thread_set_mask() {
        Ok(()) => Command::new("sh").arg("-c").arg(command).exec(),
        Err(errno) => errno.into(),
    };
    let _ = writeln!(stderr(), "cannot run sh: {problem}");
    ExitCode::from(NOT_RUN)
}

fn serve() -> ExitCode {
    become_independent();
    let mut guardian = Guardian::default();
    while let Some(request) = guardian.next() {
        let reply = guardian.answer(request);
        reply_with(&reply);
        if guardian.is_done {
            break;
        }
    }
    guardian.end()
}

/// Blocks all signals that can be blocked, leaves the session of the terminal, and makes the kernel
/// choose another process when memory is short.
fn become_independent() {
    let mut refused = SigSet::all();
    for fault in FAULTS {
        refused.remove(fault);
    }
    // `setsid` fails only if this process leads a group already, which makes no difference here.
    let _ = refused.thread_block();
    let _ = setsid();
    let _ = env::set_current_dir("/");
    let _ = fs::write("/proc/self/oom_score_adj", "-1000");
}

/// Sends a reply. An error is ignored: if the program is gone, nobody reads the reply.
fn reply_with(reply: &Reply) {
    let mut line = serde_json::to_vec(reply).unwrap_or_default();
    line.push(b'\n');
    let mut out = stdout().lock();
    let _ = out.write_all(&line).and_then(|()| out.flush());
}

#[derive(Default)]
struct Guardian {
    session: Option<Session>,
    deadline: Option<Instant>,
    /// The result of restoring at the deadline.
    expired: Option<Report>,
    is_done: bool,
    input: Vec<u8>,
}

impl Guardian {
    /// Reads the next complete request; `None` when the program is gone. An incomplete request is dropped.
    fn next(&mut self) -> Option<Request> {
        loop {
            if let Some(end) = self.input.iter().position(|&byte| byte == b'\n') {
                let line: Vec<_> = self.input.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            if !self.wait() {
                self.expire();
            } else if !self.receive(&stdin()) {
                return None;
            }
        }
    }

    /// Waits for input; false at the deadline. The wait goes on after a signal, and after poll(2)
    /// timed out before the deadline, since one poll may be shorter.
    fn wait(&self) -> bool {
        let input = stdin();
        loop {
            let left = self
                .deadline
                .map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            let mut both = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
            match poll(&mut both, timeout(left)) {
                Ok(0) | Err(Errno::EINTR | Errno::EAGAIN) => {}
                // Any other error will be returned by the read that follows.
                Ok(_) | Err(_) => return true,
            }
        }
    }

    fn receive(&mut self, input: &Stdin) -> bool {
        let mut piece = [0; 4096];
        match read(input.as_fd(), &mut piece) {
            Err(Errno::EINTR | Errno::EAGAIN) => true,
            Ok(0) | Err(_) => false,
            Ok(length) => {
                self.input.extend(&piece[..length]);
                self.input.len() <= LONGEST
            }
        }
    }

    fn expire(&mut self) {
        self.deadline = None;
        if let Some(session) = self.session.take() {
            let report = session.finish();
            warn("the deadline is over", &report);
            self.expired = Some(report);
        }
    }

    fn answer(&mut self, request: Request) -> Reply {
        let reply = match request {
            Request::Start {
                store,
                command,
                parent,
                deadline_s,
            } => {
                self.deadline = deadline(deadline_s);
                self.start(&store, command, parent)
            }
            Request::Deadline(seconds) if self.session.is_some() => {
                self.deadline = deadline(seconds);
                Ok(Reply::Done)
            }
            Request::Finish => self.finish(),
            Request::Keep => self.keep(),
            request => self.with_session(&request),
        };
        reply.unwrap_or_else(Reply::Failed)
    }

    fn start(
        &mut self,
        store: &std::path::Path,
        command: Vec<String>,
        parent: u32,
    ) -> Result<Reply, Error> {
        let session = Session::start(Store::at(store)?, command, parent)?;
        let id = session.id().to_owned();
        self.session = Some(session);
        Ok(Reply::Ready(id))
    }

    fn with_session(&mut self, request: &Request) -> Result<Reply, Error> {
        let over = self.over();
        let session = self.session.as_mut().ok_or(over)?;
        match request {
            Request::Record(settings) => session.record(settings).map(|()| Reply::Done),
            Request::Remember(command) => session.remember(command).map(|()| Reply::Done),
            Request::Change(setting) => session.change(setting).map(Reply::Changed),
            Request::Holds(change) => session.lost(change).map(Reply::Lost),
            _ => Ok(Reply::Restored(session.restore())),
        }
    }

    /// The error for requests outside an experiment: before its start, after its end or after the deadline.
    fn over(&self) -> Error {
        match self.expired {
            Some(_) => Error::Expired,
            None => Error::guardian("has nothing to do")("no experiment was begun"),
        }
    }

    fn finish(&mut self) -> Result<Reply, Error> {
        self.is_done = true;
        let report = match self.session.take() {
            Some(session) => session.finish(),
            None => self.expired.clone().ok_or_else(|| self.over())?,
        };
        Ok(Reply::Restored(report))
    }

    fn keep(&mut self) -> Result<Reply, Error> {
        let over = self.over();
        self.session.as_mut().ok_or(over)?.keep()?;
        self.session = None;
        self.is_done = true;
        Ok(Reply::Done)
    }

    /// Restores what was neither restored nor kept yet.
    fn end(mut self) -> ExitCode {
        let report = match self.session.take() {
            Some(session) => {
                let report = session.finish();
                warn("the command ended without restoring", &report);
                report
            }
            None => self.expired.unwrap_or_default(),
        };
        ExitCode::from(report.exit_code())
    }
}

/// Rounds up, so that poll(2) does not return before the deadline.
fn timeout(left: Option<Duration>) -> PollTimeout {
    left.map_or(PollTimeout::NONE, |left| {
        let left = left + Duration::from_millis(1);
        PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
    })
}

fn deadline(seconds: Option<f64>) -> Option<Instant> {
    let wait = seconds
        .filter(|seconds| seconds.is_finite())?
        .clamp(0.0, YEAR_S);
    Instant::now().checked_add(Duration::from_secs_f64(wait))
}

/// Prints to the terminal that the command was started from, if the terminal is still there.
fn warn(why: &str, report: &Report) {
    let text = format!("coalescope: {why}; its guardian speaks: {report}\n");
    let _ = stderr().write_all(printable(&text).as_bytes());
}
