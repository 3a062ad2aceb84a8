//! The two ends of a path.

/// One of the two ends. As a direction it names the end that frames travel toward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that opens the connections.
    Client,
    /// The end that accepts them.
    Server,
}

impl Side {
    /// Both, in the order of [`Side::index`].
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// The opposite end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// 0 for the client, 1 for the server: the index into every `[T; 2]` of this crate.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Client => 0,
            Self::Server => 1,
        }
    }
}
