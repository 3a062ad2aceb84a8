//! One frame: whether it belongs to a flow, to which one, and where its headers are.

pub(crate) mod hash;
pub(crate) mod held;
pub(crate) mod inspect;
pub(crate) mod seen;
pub(crate) mod sound;
pub(crate) mod sums;
pub(crate) mod template;
