//! Paths between real TCP ends: the lab's own, and those of the incidents.
//!
//! They measure throughput, and wait for emulated links most of the time: a path takes a quarter of a core, at its
//! fastest a whole one. So three run at a time, however many threads the tests have; a bond's three lines run alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

mod decapsulated;
mod incidents;
mod path;

/// How many paths run at a time.
const PLACES: usize = 3;
static TAKEN: Mutex<usize> = Mutex::new(0);
static LEFT: Condvar = Condvar::new();

/// Places of paths, until it is dropped.
struct Places(usize);

/// Waits until a path may run.
fn place() -> Places {
    take(1)
}

/// Waits until no other path runs.
fn alone() -> Places {
    take(PLACES)
}

fn take(count: usize) -> Places {
    let is_full = |taken: &mut usize| *taken + count > PLACES;
    let mut taken = LEFT
        .wait_while(taken(), is_full)
        .unwrap_or_else(PoisonError::into_inner);
    *taken += count;
    Places(count)
}

fn taken() -> MutexGuard<'static, usize> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Places {
    fn drop(&mut self) {
        *taken() -= self.0;
        LEFT.notify_all();
    }
}
