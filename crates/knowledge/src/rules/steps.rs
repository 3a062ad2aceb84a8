//! Steps that grow with a host, counted where tests want them to grow no faster than it.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn count(number: usize) {
    STEPS.set(STEPS.get() + number);
}

/// How many steps something takes.
pub(super) fn of(does: impl FnOnce()) -> usize {
    let before = STEPS.get();
    does();
    STEPS.get() - before
}
