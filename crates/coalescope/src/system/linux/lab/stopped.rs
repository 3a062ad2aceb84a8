//! Work of the lab that a signal ends at once, with nothing left behind.

use std::fs;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use coalescope_lab::path;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// Interval of checks whether the work is done or a signal came.
const PAUSE: Duration = Duration::from_millis(50);
/// How long the work may take to end once its commands have ended: a measurement waits for its connection.
const END: Duration = Duration::from_millis(500);
/// How long its commands may take to end: `ab` gives its COMMAND two seconds.
const COMMANDS: Duration = Duration::from_secs(4);

/// Attempts at removing a folder that is in use.
const TRIES: usize = 10;

/// Runs `work` in a thread of its own; `None` if `stop` was set before its end. Then the commands of the work are ended,
/// and what it has made is removed: its names of namespaces, and its folder if that is temporary.
pub(super) fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    place: &Arc<Place>,
    work: impl FnOnce(&Place) -> T + Send + 'static,
) -> Option<T> {
    let own = Arc::clone(place);
    let worker = thread::spawn(move || work(&own));
    while !worker.is_finished() {
        if stop.load(Ordering::Relaxed) {
            end(&worker, place);
            return None;
        }
        thread::sleep(PAUSE);
    }
    Some(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Ends the work: by itself, since its commands fail, or else it is left where it hangs, without what it has made. Its
/// devices go with the process.
fn end<T>(worker: &JoinHandle<T>, place: &Place) {
    let begun = Instant::now();
    while !worker.is_finished() {
        let commands = commands();
        let patience = if commands.is_empty() { END } else { COMMANDS };
        let is_over = begun.elapsed() > patience;
        let signal = if is_over { Signal::KILL } else { Signal::TERM };
        for command in commands {
            // One that has ended meanwhile needs no signal.
            let _ = kill_process(command, signal);
        }
        if is_over {
            path::abandon();
            remove(place);
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Removes a temporary folder although something may still write to it.
fn remove(place: &Place) {
    let Place::Temporary(folder) = place else {
        return;
    };
    for _ in 0..TRIES {
        // A file that is made meanwhile is an error, and removed by the next attempt.
        let _ = fs::remove_dir_all(folder.path());
        if !folder.path().exists() {
            return;
        }
    }
}

/// The children of this process, which are the commands of the work.
fn commands() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let children = threads.filter_map(|one| fs::read_to_string(one.path().join("children")).ok());
    let of = |text: String| -> Vec<Pid> {
        let pids = text.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.filter_map(Pid::from_raw).collect()
    };
    children.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The test below, in a process of its own: all children of the process are ended, those of other tests as well.
    #[test]
    fn work_is_returned_or_left() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let name =
            "system::linux::lab::stopped::tests::what_is_done_is_returned_and_what_hangs_is_left";
        let output = own.args(["--ignored", "--exact", name]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }

    #[test]
    #[ignore = "run by another test in a process of its own"]
    fn what_is_done_is_returned_and_what_hangs_is_left() {
        let place = Arc::new(Place::new(None).unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        assert_eq!(unless_stopped(&stop, &place, |_| 7), Some(7));
        let own = Arc::clone(&stop);
        let hangs = unless_stopped(&stop, &place, move |_| {
            own.store(true, Ordering::Relaxed);
            let ended = Command::new("sleep").arg("1000").status();
            assert!(!ended.unwrap().success());
            thread::sleep(Duration::from_secs(1000));
        });
        assert_eq!(hangs, None);
        assert!(!place.path().exists());
    }
}
