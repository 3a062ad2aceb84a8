//! The one clock of all paths of this process.

use super::{Nanos, nanos};
use std::sync::OnceLock;
use std::time::Instant;

/// When the clock of all paths of this process showed 0.
pub(super) fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// What that clock shows now.
pub(super) fn now() -> Nanos {
    nanos(origin().elapsed())
}
