//! The families, by what is behind them.

mod compared;
mod guilty;
mod innocent;

use crate::family::Family;

/// All families.
#[must_use]
pub fn families() -> Vec<&'static Family> {
    let alone = guilty::ALL.iter().chain(innocent::ALL);
    alone.chain(compared::ALL).collect()
}
