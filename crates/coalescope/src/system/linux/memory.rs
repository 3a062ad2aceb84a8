//! A limit on memory, whatever strangers' files contain: a thread checks how much the process uses,
//! and ends it with an error that names the input.
//!
//! Checking the process, rather than counting each kind of object, covers kinds that nobody thought
//! of, and costs nothing where frames and lines are read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::cli::MemoryArgs;
use crate::speech;

/// The share of the budget, in quarters, up to which connections are kept; the rest is for judging
/// and printing them.
const QUARTERS_TO_KEEP: u64 = 3;
/// Two cores clear and fill new pages no faster than this, which determines the time until the next check.
const FASTEST_BYTES_PER_MS: u64 = 4 << 20;
const SHORTEST_MS: u64 = 1;
const LONGEST_MS: u64 = 40;

/// The limit and its state.
struct Bound {
    most_bytes: u64,
    /// Name of the input that is being read, for the error.
    input: Mutex<String>,
    resident: Resident,
    watched: Once,
}

/// The limit of this process: set once, before anything is read.
static BOUND: OnceLock<Bound> = OnceLock::new();

/// Limits the memory of this process, from the first input on.
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

/// Names the present input. The first call starts the checking thread, which so has no more rights
/// than are left by then.
pub(crate) fn reading(input: String) {
    let Some(bound) = BOUND.get() else { return };
    *bound.input.lock().unwrap_or_else(PoisonError::into_inner) = input;
    bound
        .watched
        .call_once(|| drop(thread::spawn(|| bound.watch())));
}

/// Whether too little memory is left to keep further connections individually.
pub(crate) fn is_short() -> bool {
    let most = |bound: &Bound| bound.most_bytes / 4 * QUARTERS_TO_KEEP;
    BOUND
        .get()
        .is_some_and(|bound| bound.resident.bytes() > most(bound))
}

impl Bound {
    /// Checks until the limit is exceeded, the more often the less is left.
    fn watch(&self) {
        while let Some(left) = self.most_bytes.checked_sub(self.resident.bytes()) {
            thread::sleep(pause(left));
        }
        speech::error(&self.exceeded());
        std::process::exit(2);
    }

    /// The error after the limit was exceeded.
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

/// Reads the memory of this process.
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

    /// Resident pages without those of files (`proc_pid_statm(5)`); 0 if they cannot be read.
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
