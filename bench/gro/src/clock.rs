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

/// Nanoseconds since a time, without what asking for the time takes, which is as long as nothing takes.
#[inline]
pub(crate) fn since(begin: i64) -> i64 {
    let end = now();
    let nothing = now() - end;
    end - begin - nothing
}
