//! Which connections were found at both points, and which of them are another hop's.

use std::collections::HashSet;

use super::Hop;

impl Hop {
    /// Whether a connection of one side was found on the other.
    pub(crate) fn has_found(&self, side: usize, id: u32) -> bool {
        let half = self.halves[side].get(id as usize);
        half.is_some_and(|half| half.pair.is_some())
    }

    /// The connections that were found, as each point numbers them.
    pub(crate) fn found(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.pairs.iter().map(|pair| pair.ids)
    }

    /// Forgets what is held of a connection that another point saw in between.
    pub(crate) fn leave_out(&mut self, side: usize, id: u32) {
        let Some(half) = self.halves[side].get_mut(id as usize) else {
            return;
        };
        self.early[side] -= std::mem::take(&mut half.early).len();
        if let Some(number) = half.pair {
            self.pairs[number as usize].forget();
        }
    }

    /// Leaves connections out of the facts, once everything was read.
    pub(crate) fn leave_out_all(&mut self, ids: &HashSet<[u32; 2]>) {
        self.pairs.retain(|pair| !ids.contains(&pair.ids));
    }
}
