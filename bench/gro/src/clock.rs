//! The clock of all engines.

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds that this thread was running. Programs that take the core away are not counted,
/// unlike what they do to the caches.
///
/// # Panics
///
/// Without such a clock there is nothing to measure.
#[inline]
pub(crate) fn now() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock for each thread");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
