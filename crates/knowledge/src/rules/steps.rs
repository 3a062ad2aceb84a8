//! Counts steps that grow with a host, for tests that they grow no faster than the host.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn count(number: usize) {
    STEPS.set(STEPS.get() + number);
}

/// Number of steps that a function takes.
pub(super) fn of(does: impl FnOnce()) -> usize {
    let before = STEPS.get();
    does();
    STEPS.get() - before
}
