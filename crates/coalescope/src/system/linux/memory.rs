//! A bound on memory, whatever strangers' files say: a thread looks how much the process has, and ends
//! it with an error that names the input.
//!
//! Looking, rather than counting each kind of thing that is read, holds for kinds that nobody thought
//! of, and costs nothing where frames and lines are read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::cli::MemoryArgs;
use crate::speech;

/// Of this part of the budget, in quarters, connections may be kept; the rest is for judging and
/// printing them.
const QUARTERS_TO_KEEP: u64 = 3;
/// New pages are cleared, and filled, no faster than this by two cores: what sets how soon to look
/// again.
const FASTEST_BYTES_PER_MS: u64 = 4 << 20;
const SHORTEST_MS: u64 = 1;
const LONGEST_MS: u64 = 40;

/// What is bounded.
struct Bound {
    most_bytes: u64,
    /// What is being read, for the error.
    input: Mutex<String>,
    resident: Resident,
    watched: Once,
}

/// Of the process: set once, before anything is read.
static BOUND: OnceLock<Bound> = OnceLock::new();

/// Bounds the memory of this process, from the first input on.
pub(crate) fn bound(args: MemoryArgs) {
    let Ok(resident) = Resident::open() else {
        return speech::tell("warning: memory is not bounded: there is no /proc to see it in");
    };
    let _ = BOUND.set(Bound {
        most_bytes: args.max_memory,
        input: Mutex::default(),
        resident,
        watched: Once::new(),
    });
}

/// Names what is read from now on. The thread that looks is made with the first: it has no more
/// rights than are left by then.
pub(crate) fn reading(input: String) {
    let Some(bound) = BOUND.get() else { return };
    *bound.input.lock().unwrap_or_else(PoisonError::into_inner) = input;
    bound
        .watched
        .call_once(|| drop(thread::spawn(|| bound.watch())));
}

/// Whether there is no room to keep more of what could be summed up.
pub(crate) fn is_short() -> bool {
    let most = |bound: &Bound| bound.most_bytes / 4 * QUARTERS_TO_KEEP;
    BOUND
        .get()
        .is_some_and(|bound| bound.resident.bytes() > most(bound))
}

impl Bound {
    /// Looks until there is too much, the more often the less is left.
    fn watch(&self) {
        while let Some(left) = self.most_bytes.checked_sub(self.resident.bytes()) {
            thread::sleep(pause(left));
        }
        speech::error(&self.exceeded());
        std::process::exit(2);
    }

    /// What to say once there is no more.
    fn exceeded(&self) -> String {
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        format!(
            "error: {input} takes more memory than the {} MiB of --max-memory: give less at once, \
             or allow more, such as --max-memory {}M",
            self.most_bytes >> 20,
            self.most_bytes.saturating_mul(4) >> 20
        )
    }
}

fn pause(left_bytes: u64) -> Duration {
    let soonest = left_bytes / FASTEST_BYTES_PER_MS;
    Duration::from_millis(soonest.clamp(SHORTEST_MS, LONGEST_MS))
}

/// What the process has in memory of its own.
struct Resident {
    statm: File,
    page_bytes: u64,
}

impl Resident {
    fn open() -> io::Result<Self> {
        Ok(Self {
            statm: File::open("/proc/self/statm")?,
            page_bytes: rustix::param::page_size() as u64,
        })
    }

    /// Pages in memory without those of files (`proc_pid_statm(5)`); what cannot be read is none.
    fn bytes(&self) -> u64 {
        let mut line = [0; 128];
        let read = self.statm.read_at(&mut line, 0).unwrap_or(0);
        let line = str::from_utf8(&line[..read]).unwrap_or_default();
        let mut pages = line.split(' ').skip(1).map(str::parse::<u64>);
        match (pages.next(), pages.next()) {
            (Some(Ok(resident)), Some(Ok(shared))) => {
                resident.saturating_sub(shared) * self.page_bytes
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allocated_is_seen() {
        let resident = Resident::open().unwrap();
        let before = resident.bytes();
        assert!(before > 0);
        let more = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(resident.bytes() >= before + (60 << 20));
        drop(more);
    }

    #[test]
    fn it_looks_the_more_often_the_less_is_left() {
        assert_eq!(pause(1 << 30), Duration::from_millis(LONGEST_MS));
        assert_eq!(pause(40 << 20), Duration::from_millis(10));
        assert_eq!(pause(0), Duration::from_millis(SHORTEST_MS));
    }
}
