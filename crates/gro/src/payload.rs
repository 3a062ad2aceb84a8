//! Payload of held frames: referenced, or copied, at once or as late as possible.

pub(crate) mod buffer;
pub(crate) mod copies;
pub(crate) mod store;
