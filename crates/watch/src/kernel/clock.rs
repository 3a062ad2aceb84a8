//! The clock of the programs.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds by the clock of `bpf_ktime_get_ns` (CLOCK_MONOTONIC).
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Since the machine began: neither is negative.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
