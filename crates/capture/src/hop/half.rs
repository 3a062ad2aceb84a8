//! A connection that one point of a hop has seen.

use std::collections::VecDeque;

use super::event::Passing;

/// What one point knows of a connection that may be on the hop.
#[derive(Debug, Default)]
pub(super) struct Half {
    /// The pair it belongs to, once found.
    pub(super) pair: Option<u32>,
    /// Data frames so far in each direction; the number decides which frames leave tokens.
    pub(super) nth: [u64; 2],
    /// Events until the pair is found.
    pub(super) early: VecDeque<Passing>,
}

impl Half {
    /// What waits of one direction.
    pub(super) fn shown(&self, from_low: bool) -> impl Iterator<Item = &Passing> + Clone {
        let early = self.early.iter();
        early.filter(move |passing| passing.from_low == from_low)
    }
}
