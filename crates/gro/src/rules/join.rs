//! How a frame joins a held one.

/// How a frame joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Its payload goes behind the held payload.
    Behind,
    /// Its payload goes in front of the held payload.
    InFront,
    /// It has no payload; its acknowledgment and window count from now on.
    Absorb,
    /// It has no payload, and brings nothing new.
    Vanish,
}
