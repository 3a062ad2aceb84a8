//! What comes out: decisions, frames, and where these go.

pub(crate) mod decision;
pub(crate) mod outgoing;
pub(crate) mod sink;
