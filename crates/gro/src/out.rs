//! Decisions, frames that come out, and the sinks that take them.

pub(crate) mod decision;
pub(crate) mod outgoing;
pub(crate) mod sink;
