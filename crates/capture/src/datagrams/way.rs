//! Which way datagrams go.

use std::collections::HashMap;

use super::Seen;

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    ToServer,
    ToClient,
}

impl Way {
    pub(super) fn other(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// Who sends the first datagram of a flow is its client.
pub(super) fn ways(seen: &[Seen]) -> Vec<Way> {
    let mut clients = HashMap::new();
    let way = |one: &Seen| match *clients.entry(one.key).or_insert(one.from_low) == one.from_low {
        true => Way::ToServer,
        false => Way::ToClient,
    };
    seen.iter().map(way).collect()
}
