//! The one clock of all paths of this process.

use super::{Nanos, nanos};
use std::sync::OnceLock;
use std::time::Instant;

/// Time 0 of the clock of all paths of this process.
pub(super) fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// The present time of that clock.
pub(super) fn now() -> Nanos {
    nanos(origin().elapsed())
}
