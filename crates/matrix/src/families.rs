//! The families, by what is behind them.

mod added;
mod base;
mod blocked;
mod boxes;
mod by_length;
mod captured;
mod compared;
mod conversations;
mod extremes;
mod guilty;
mod guilty_seen;
mod guilty_some;
mod innocent;
mod mixed;
mod seen;
mod slow;
mod stacks;
mod way_back;

use crate::family::Family;

/// All families.
#[must_use]
pub fn families() -> Vec<&'static Family> {
    let all = [
        guilty::ALL,
        guilty_seen::ALL,
        guilty_some::ALL,
        innocent::ALL,
        by_length::ALL,
        slow::ALL,
        seen::ALL,
        compared::ALL,
        mixed::ALL,
        extremes::ALL,
        conversations::ALL,
        stacks::ALL,
        boxes::ALL,
        captured::ALL,
        way_back::ALL,
        blocked::ALL,
        added::ALL,
    ];
    all.into_iter().flatten().collect()
}
