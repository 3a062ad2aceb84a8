//! Signals to a child process.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;

/// Interval of checks whether the child has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// Checks before the child is killed: 2 s.
const PATIENCE: u32 = 100;

/// A flag that each signal sets which asks a process to end; none of them ends it, so that it cleans up.
pub(crate) fn stopped_by_signal() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::default();
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Runs a program and outlives it, so that the caller can clean up. SIGHUP and SIGTERM to this
/// process end the child; Ctrl-C is left to the child.
pub(crate) fn outlived(mut command: Command) -> io::Result<ExitStatus> {
    let (ended, ignored) = (Arc::default(), Arc::default());
    for (signal, came) in [
        (SIGHUP, &ended),
        (SIGTERM, &ended),
        (SIGINT, &ignored),
        (SIGQUIT, &ignored),
    ] {
        flag::register(signal, Arc::clone(came))?;
    }
    let mut child = command.spawn()?;
    while !ended.load(Ordering::Relaxed) {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(PAUSE);
    }
    end(&mut child)
}

/// Sends SIGHUP, as a terminal that closes; a child that ignores it is killed.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(child);
    for signal in [Signal::HUP, Signal::CONT] {
        let _ = kill_process(pid, signal);
    }
    for _ in 0..PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()
}
