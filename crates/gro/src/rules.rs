//! The rules of a profile: whether a frame joins a held one, and what that changes.

pub(crate) mod change;
pub(crate) mod identification;
pub(crate) mod join;
pub(crate) mod judge;
