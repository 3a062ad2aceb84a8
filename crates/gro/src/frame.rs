//! One frame: whether it is of a flow, of which, and what of it decides.

pub(crate) mod hash;
pub(crate) mod held;
pub(crate) mod inspect;
pub(crate) mod seen;
pub(crate) mod sound;
pub(crate) mod sums;
pub(crate) mod template;
