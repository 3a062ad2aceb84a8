//! Reading standard output and standard error of a command, both at once.

use super::Error;
use super::tail::Tail;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{ErrorKind, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::Duration;

/// What is kept of standard output: iperf3's JSON of a thousand seconds and streams is smaller.
const STDOUT_BYTES: usize = 8 << 20;
/// What is kept of standard error, for the message.
const STDERR_BYTES: usize = 64 << 10;
/// Capacity of a pipe, pipe(7).
const PIPE_BYTES: usize = 64 << 10;

/// The output of a command.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) stdout: Tail,
    pub(super) stderr: Tail,
}

/// The output pipes of a command; `None` once a pipe is at its end.
#[derive(Debug)]
pub(super) struct Pipes {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Printed,
    buffer: Vec<u8>,
}

impl Pipes {
    /// Takes the pipes of a child.
    pub(super) fn of(child: &mut Child) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            printed: Printed {
                stdout: Tail::new(STDOUT_BYTES),
                stderr: Tail::new(STDERR_BYTES),
            },
            buffer: vec![0; PIPE_BYTES],
        }
    }

    /// Whether both pipes are at their end: no process can write to them any more.
    pub(super) fn are_closed(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits until there is output, `bell` is closed, or the time is over; then reads.
    pub(super) fn wait(&mut self, bell: Option<&PipeReader>, time: Duration) -> Result<(), Error> {
        let out = self.stdout.as_ref().map(AsFd::as_fd);
        let err = self.stderr.as_ref().map(AsFd::as_fd);
        let [out, err, _] = ready([out, err, bell.map(AsFd::as_fd)], time)?;
        self.read(out, err)
    }

    fn read(&mut self, out: bool, err: bool) -> Result<(), Error> {
        if out
            && !read_once(
                self.stdout.as_mut(),
                &mut self.buffer,
                &mut self.printed.stdout,
            )?
        {
            self.stdout = None;
        }
        if err
            && !read_once(
                self.stderr.as_mut(),
                &mut self.buffer,
                &mut self.printed.stderr,
            )?
        {
            self.stderr = None;
        }
        Ok(())
    }

    pub(super) fn into_printed(self) -> Printed {
        self.printed
    }
}

/// Waits until one of these sources is readable or closed; returns which.
fn ready(sources: [Option<BorrowedFd<'_>>; 3], time: Duration) -> Result<[bool; 3], Error> {
    let there = sources.iter().flatten();
    let mut fds: Vec<_> = there
        .map(|fd| PollFd::new(*fd, PollFlags::POLLIN))
        .collect();
    match poll(&mut fds, timeout(time)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(Error::system("wait for a command")(errno)),
    }
    let mut events = fds.iter().map(|fd| fd.any().unwrap_or(true));
    Ok(sources.map(|source| source.is_some() && events.next().unwrap_or(false)))
}

/// Reads once; false at the end. A read after poll(2) does not block, since nobody else reads this pipe.
fn read_once(
    pipe: Option<&mut impl Read>,
    buffer: &mut [u8],
    into: &mut Tail,
) -> Result<bool, Error> {
    let Some(pipe) = pipe else { return Ok(false) };
    match pipe.read(buffer) {
        Ok(0) => Ok(false),
        Ok(count) => {
            into.push(buffer.get(..count).unwrap_or_default());
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(Error::system("read what the command prints")(error)),
    }
}

/// Rounds up, so that a short wait does not become a busy loop.
fn timeout(time: Duration) -> PollTimeout {
    let milliseconds = time.as_micros().div_ceil(1000);
    PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
}
