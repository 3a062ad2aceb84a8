//! How a frame joins a held one.

/// How a frame joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Its payload goes behind what is held.
    Behind,
    /// Its payload goes in front.
    InFront,
    /// It has no payload; its acknowledgment and window count from now on.
    Absorb,
    /// It has no payload, and says nothing new.
    Vanish,
}
