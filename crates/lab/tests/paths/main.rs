//! Paths between real TCP ends: the lab's own, and those of the incidents.
//!
//! They measure throughput, so one runs at a time: two cores carry one path without stalls.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod incidents;
mod path;

fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
