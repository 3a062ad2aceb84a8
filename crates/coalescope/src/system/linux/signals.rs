//! Signals to a program that was started.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;

/// How often a program that was started is looked after.
const PAUSE: Duration = Duration::from_millis(20);
/// So often before it is killed: 2 s.
const PATIENCE: u32 = 100;

/// Runs a program and outlives it: what is to be cleaned up afterwards is. A terminal that goes
/// away, and whoever ends this program, end the other one; Ctrl-C is its own business.
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

/// As a terminal that goes away ends it; a shell that does not listen is killed.
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
